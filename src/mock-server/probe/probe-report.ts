import type { BehaviourOptions } from '../behaviour/behaviour-options.ts';
import type { BehaviourValues, SwitchName } from '../behaviour/switches.ts';
import type { Prober, Seen } from './prober.ts';

/** The result of a probe: a value for `createMockServer({ behaviour })`, also as JSON. */
export type ObservedBehaviour = BehaviourOptions & { readonly about: ProbeSummary };

/** The summary of a probe. */
export interface ProbeSummary {
  /** Origin of the service. */
  readonly origin: string;
  /** Time of the probe, ISO 8601 in UTC. */
  readonly probedAt: string;
  /** Number of requests sent. */
  readonly requests: number;
  /** Differences between the service and its documentation. */
  readonly contradictions: readonly string[];
  /** The switches that were not observed, with the reason. */
  readonly notObserved: Readonly<Partial<Record<SwitchName, string>>>;
}

/** What is known so far; each step adds what it saw. */
export class Findings {
  readonly observed = new Map<SwitchName, unknown>();
  readonly reasons = new Map<SwitchName, string>();
  readonly contradictions: string[] = [];

  /** A switch showed itself. */
  observe<Name extends SwitchName>(name: Name, value: BehaviourValues[Name]): void {
    this.observed.set(name, value);
  }

  /** A switch was looked at, and what was seen is none of its values, or several of them. */
  leaveOpen(name: SwitchName, reason: string): void {
    this.reasons.set(name, reason);
  }

  contradict(text: string): void {
    this.contradictions.push(text);
  }
}

/** What a step works with. */
export interface Probing {
  readonly prober: Prober;
  readonly findings: Findings;
  /** The user's key. */
  readonly key: string;
  /** The first answer of `quota`. */
  readonly quota: Seen;
}

/** Looks at one thing. */
export interface ProbeStep {
  readonly requests: number;
  /** How many of them may count in the month. */
  readonly charged: number;
  readonly run: (probing: Probing) => Promise<void>;
}

const OF_DASHBOARD = 'it is visible only in the dashboard';
const NOT_REACHED = 'the budget was used up before this step';
const NEEDS_LIMIT = 'no request exceeded the per-minute limit';

/** Why a switch is not observed when no step says anything else. A probe never guesses. */
export const USUAL_REASONS: Readonly<Record<SwitchName, string>> = {
  rateWindow: 'this needs several minutes at the limit',
  rejectedCountsTowardRate: 'this needs several minutes at the limit',
  quotaEndpointBucket: NEEDS_LIMIT,
  rateHeaders: NOT_REACHED,
  retryAfterUnit: NEEDS_LIMIT,
  retryAfterFormat: NEEDS_LIMIT,
  retryAfterRounding: 'the clock of the service is not known to the millisecond',
  retryAfterMin: 'the clock of the service is not known to the millisecond',
  retryAfterValue: NEEDS_LIMIT,
  checkOrder: 'this needs both limits to be used up',
  quotaChargesOn: NOT_REACHED,
  quotaPeriod: NOT_REACHED,
  quotaExhausted: 'the monthly quota is not used up',
  quotaRetryAfter: 'the monthly quota is not used up',
  unlimitedFairUse: 'this needs more requests than the threshold',
  unlimitedAs: NOT_REACHED,
  snapshotGranularity: NOT_REACHED,
  missingKey: NOT_REACHED,
  malformedKey: NOT_REACHED,
  unknownKey: NOT_REACHED,
  revokedKey: 'this needs a revoked key',
  severalCredentials: NOT_REACHED,
  wwwAuthenticate: 'no response was a 401',
  revocationDelayMs: 'this needs a revoked key',
  freeMaxActiveKeys: OF_DASHBOARD,
  keyLimitReached: OF_DASHBOARD,
  unconfirmedEmail: OF_DASHBOARD,
  planChange: OF_DASHBOARD,
  overCapKeys: OF_DASHBOARD,
  keyPrefix: 'the key does not have the documented form',
  unknownRoute: NOT_REACHED,
  methodNotAllowed: NOT_REACHED,
  headRequests: NOT_REACHED,
  optionsRequests: NOT_REACHED,
  badParameter: NOT_REACHED,
  cors: NOT_REACHED,
  etag: NOT_REACHED,
};
