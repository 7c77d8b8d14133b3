import type { BehaviourOptions } from '../behaviour/behaviour.ts';
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

/** The results so far. Each step adds its observations. */
export class Findings {
  readonly observed = new Map<SwitchName, unknown>();
  readonly reasons = new Map<SwitchName, string>();
  readonly contradictions: string[] = [];

  /** The value of a switch was observed. */
  observe<Name extends SwitchName>(name: Name, value: BehaviourValues[Name]): void {
    this.observed.set(name, value);
  }

  /** A response showed `value`: the value of a switch, or none of its values, with the reason for the report. */
  observeIfKnown(name: SwitchName, value: unknown, reason: string): void {
    if (switches[name].accepts(value)) this.observed.set(name, value);
    else this.markNotObserved(name, reason);
  }

  /** The observation matches none of the switch's values, or several. */
  markNotObserved(name: SwitchName, reason: string): void {
    this.reasons.set(name, reason);
  }

  contradict(text: string): void {
    this.contradictions.push(text);
  }
}

/** The parameters of a step. */
export interface Probing {
  readonly prober: Prober;
  readonly findings: Findings;
  /** The user's key. */
  readonly key: string;
  /** The first response of `quota`. */
  readonly quota: ProbeResponse;
}

/** Observes one behaviour. */
export interface ProbeStep {
  readonly requests: number;
  /** Number of them that may count toward the month. */
  readonly charged: number;
  readonly run: (probing: Probing) => Promise<void>;
}
