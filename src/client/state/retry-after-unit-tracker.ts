import { describeValue } from '../errors/describe-value.ts';
import { parseRetryAfter, type RetryAfterUnit, type UnitEvidence } from '../limits/retry-after.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';

/** How a whole number in a key's Retry-After is read. */
export interface UnitBelief {
  /** The last number that says something about the unit. */
  readonly value: number;
  /** The unit in which it is read. */
  readonly unit: RetryAfterUnit;
  /**
   * Basis of the unit. `'assumed'`: seconds, and nothing contradicts it. `'on-trial'`: too long for seconds, so tried as
   * milliseconds. `'confirmed'`: the responses have shown milliseconds. `'refuted'`: they have shown seconds. `'set'`: the
   * option `retryAfterUnit`.
   */
  readonly evidence: UnitEvidence;
}

/** The part of a client's events that warnings go to. */
interface WarningSink {
  warnOnce(message: string): void;
}

/** Keeps what the answers of a key say about the unit of its Retry-After; warns once of each change, and once of junk. */
export class RetryAfterUnitTracker {
  readonly #masked: string;
  #belief: UnitBelief | undefined;
  #hasWarnedOfJunk = false;

  constructor(masked: string) {
    this.#masked = masked;
  }

  /** `undefined` before the first refusal with a whole number. */
  get belief(): UnitBelief | undefined {
    return this.#belief;
  }

  /** A refusal was read. `events`: of the client whose call it refused. */
  saw({ unit, evidence }: RetryAfterReading, retryAfter: string | undefined, events: WarningSink): void {
    const parsed = parseRetryAfter(retryAfter);
    if (parsed === undefined && retryAfter !== undefined) this.#warnOfJunk(retryAfter, events);
    // A small number amid a trial is read in seconds, and says nothing about the trial.
    if (parsed?.form !== 'integer' || (evidence === 'on-trial' && unit === 'seconds')) return;
    const before = this.#belief?.evidence;
    this.#belief = { value: parsed.value, unit, evidence };
    const words = before === evidence ? undefined : unitInWords(this.#belief);
    if (words !== undefined) events.warnOnce(`Key ${this.#masked}: ${words}`);
  }

  /** Once per key, since each may differ. */
  #warnOfJunk(retryAfter: string, events: WarningSink): void {
    if (this.#hasWarnedOfJunk) return;
    this.#hasWarnedOfJunk = true;
    const shown = describeValue(retryAfter);
    events.warnOnce(`Key ${this.#masked}: Retry-After ${shown} is neither a number nor an HTTP date; ignored`);
  }
}

/** What contradicts the usual reading, and what to do about it; `undefined` when nothing does. */
export function unitInWords({ value, evidence }: UnitBelief): string | undefined {
  switch (evidence) {
    case 'on-trial':
      return `Retry-After ${value} is too long for a per-minute limit in seconds, so it is tried as milliseconds; if you know the unit, set retryAfterUnit`;
    case 'confirmed':
      return `Retry-After ${value} is in milliseconds, as the responses have shown; to use this unit from the start, set retryAfterUnit: 'milliseconds'`;
    case 'refuted':
      return `Retry-After ${value} is in seconds: tried as milliseconds, the request was refused again, so the limit is longer than a minute; to skip this trial, set retryAfterUnit: 'seconds'`;
    default:
      return undefined;
  }
}
