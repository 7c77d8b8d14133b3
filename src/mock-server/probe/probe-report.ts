import type { BehaviourOptions } from '../behaviour/behaviour-options.ts';
import { type BehaviourValues, type SwitchName, switches } from '../behaviour/switches.ts';
import type { ProbeResponse, Prober } from './prober.ts';

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

  /** A response showed `value`: the value of a switch, or none of its values, with the reason for the report. */
  observeIfKnown(name: SwitchName, value: unknown, reason: string): void {
    if (switches[name].accepts(value)) this.observed.set(name, value);
    else this.markNotObserved(name, reason);
  }

  /** A switch was looked at, and what was seen is none of its values, or several of them. */
  markNotObserved(name: SwitchName, reason: string): void {
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
  /** The first response of `quota`. */
  readonly quota: ProbeResponse;
}

/** Looks at one thing. */
export interface ProbeStep {
  readonly requests: number;
  /** How many of them may count in the month. */
  readonly charged: number;
  readonly run: (probing: Probing) => Promise<void>;
}
