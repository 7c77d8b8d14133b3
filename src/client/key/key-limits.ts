import type { RetryAfterReading } from '../limits/limit-rules.ts';
import type { LimiterView } from '../limits/rate-limiter.ts';
import type { RetryAfter, UnitEstimate } from '../limits/retry-after.ts';

/** The state of a key's limit, from `fx.limits()`. */
export interface KeyLimits extends LimiterView {
  /**
   * Why a call made now would wait. `'retry_after'`: the service refused a call. `'service'`: the service failed several times
   * in a row. `'window'`: the limit is used up. `'in_flight'`: requests in flight must end first. `undefined`: it would not
   * wait.
   */
  readonly reason: 'retry_after' | 'service' | 'window' | 'in_flight' | undefined;
}

export function keyLimits(view: LimiterView, nowMs: number): KeyLimits {
  return { ...view, reason: whyWait(view, nowMs) };
}

function whyWait({ service, gate, nextSlotAt, waiting }: LimiterView, nowMs: number): KeyLimits['reason'] {
  if (service !== 'up') return 'service';
  if (gate !== 'open') return 'retry_after';
  if (nextSlotAt.getTime() > nowMs) return 'window';
  return waiting > 0 ? 'in_flight' : undefined;
}

/** The part of a client's events that receives warnings. */
interface WarningSink {
  warnOnce(message: string): void;
}

/** Characters of a Retry-After that a warning shows. */
const LONGEST_SHOWN = 60;

/** Tracks the unit of a key's Retry-After. Warns once of each change, and once of an invalid value. */
export class RetryAfterUnitTracker {
  readonly #masked: string;
  #estimate: UnitEstimate | undefined;
  #hasWarnedOfInvalid = false;

  constructor(masked: string) {
    this.#masked = masked;
  }

  /** `undefined` before the first refusal with a whole number. */
  get estimate(): UnitEstimate | undefined {
    return this.#estimate;
  }

  /** A 429 has arrived. `events` are those of the client whose call was refused. */
  saw({ unit, evidence }: RetryAfterReading, parsed: RetryAfter | undefined, events: WarningSink): void {
    if (parsed?.form === 'invalid') this.#warnOfInvalid(parsed.text, events);
    // A small number during a trial is read in seconds and does not affect the trial.
    if (parsed?.form !== 'integer' || (evidence === 'on-trial' && unit === 'seconds')) return;
    const before = this.#estimate?.evidence;
    this.#estimate = { value: parsed.value, unit, evidence };
    const words = before === evidence ? undefined : unitInWords(this.#estimate);
    if (words !== undefined) events.warnOnce(`Key ${this.#masked}: ${words}`);
  }

  /** Once per key, because each value may differ. */
  #warnOfInvalid(retryAfter: string, events: WarningSink): void {
    if (this.#hasWarnedOfInvalid) return;
    this.#hasWarnedOfInvalid = true;
    const shown = retryAfter.length > LONGEST_SHOWN ? `${retryAfter.slice(0, LONGEST_SHOWN)}…` : retryAfter;
    events.warnOnce(`Key ${this.#masked}: Retry-After '${shown}' is neither a number nor an HTTP date; ignored`);
  }
}

/** Explains a unit that is not plain seconds, with the next step; `undefined` for plain seconds. */
export function unitInWords({ value, evidence }: UnitEstimate): string | undefined {
  switch (evidence) {
    case 'on-trial':
      return `Retry-After ${value} is too long for a per-minute limit in seconds, so it is tried as milliseconds; if you know the unit, set retryAfterUnit`;
    case 'confirmed':
      return `Retry-After ${value} is in milliseconds, as the responses have shown; to use this unit from the start, set retryAfterUnit: 'milliseconds'`;
    case 'refuted':
      return `Retry-After ${value} is in seconds: after a wait in milliseconds, the service refused the request again; to skip this trial, set retryAfterUnit: 'seconds'`;
    default:
      return undefined;
  }
}
