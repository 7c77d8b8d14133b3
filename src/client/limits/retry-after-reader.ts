import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from './retry-after.ts';

/** No limit per minute makes anybody wait longer than this; 60 s and a generous margin. */
const SECONDS_AT_MOST = 95;
/** One minute in milliseconds with a second's rounding; what is longer is a longer quota, in whatever unit. */
const MILLISECONDS_AT_MOST = 61_200;
/** How much a countdown in seconds may differ from the time that passed: rounding on both sides. */
const COUNTDOWN_TOLERANCE_SECONDS = 2;
/** One such countdown can be chance (a token bucket that others drain too); two in a row are not. */
const COUNTDOWNS_TO_REFUTE = 2;

/** What is known about the unit: not needed yet, milliseconds on trial, or settled by what came after a trial. */
export type UnitEvidence = 'assumed' | 'on-trial' | 'confirmed' | 'refuted' | 'set';

export interface RetryAfterReading {
  /** Milliseconds to wait from the answer on; `undefined` without a usable header. */
  readonly waitMs: number | undefined;
  readonly unit: RetryAfterUnit;
  readonly evidence: UnitEvidence;
}

/** A refusal's headers and times. */
export interface RefusalHeaders {
  readonly retryAfter: string | undefined;
  /** The `Date` header of the same answer. */
  readonly date: string | undefined;
  readonly sentAt: number;
  readonly now: number;
}

interface Trial {
  readonly value: number;
  readonly refusedAt: number;
  readonly endsAt: number;
  /** Refusals in a row that counted down in seconds. */
  readonly countdowns: number;
}

/**
 * Reads the Retry-After headers of one key and learns their unit. An integer too large to be the seconds of a
 * per-minute limit is tried as milliseconds; what happens after that wait settles the unit for good.
 */
export class RetryAfterReader {
  #evidence: UnitEvidence;
  readonly #setUnit: RetryAfterUnit | undefined;
  #trial: Trial | undefined;

  constructor(unit: 'auto' | RetryAfterUnit = 'auto') {
    this.#setUnit = unit === 'auto' ? undefined : unit;
    this.#evidence = unit === 'auto' ? 'assumed' : 'set';
  }

  refused({ retryAfter, date, sentAt, now }: RefusalHeaders): RetryAfterReading {
    const parsed = parseRetryAfter(retryAfter);
    if (parsed?.form !== 'integer') return this.#reading(retryAfterMs(parsed, { unit: 'seconds', date }), 'seconds');
    this.#weigh(parsed.value, sentAt, now);
    const unit = this.#unitOf(parsed.value);
    return this.#reading(retryAfterMs(parsed, { unit, date }), unit);
  }

  /** A call that was sent at `sentAt` was served. */
  accepted(sentAt: number): void {
    if (this.#trial && sentAt >= this.#trial.endsAt) this.#settle('confirmed');
  }

  #reading(waitMs: number | undefined, unit: RetryAfterUnit): RetryAfterReading {
    return { waitMs, unit, evidence: this.#evidence };
  }

  #unitOf(value: number): RetryAfterUnit {
    if (this.#setUnit) return this.#setUnit;
    if (this.#evidence === 'confirmed') return 'milliseconds';
    return this.#trial && isTooLongInSeconds(value) ? 'milliseconds' : 'seconds';
  }

  #weigh(value: number, sentAt: number, now: number): void {
    if (this.#evidence === 'assumed' && isTooLongInSeconds(value)) {
      this.#evidence = 'on-trial';
      this.#trial = { value, refusedAt: now, endsAt: now + value, countdowns: 0 };
    } else if (this.#trial && sentAt >= this.#trial.endsAt) {
      this.#judge(this.#trial, value, now);
    }
  }

  /** Refused after the wait: values that go down by the seconds that passed are in seconds; else the trial goes on. */
  #judge(trial: Trial, value: number, now: number): void {
    const passedSeconds = (now - trial.refusedAt) / 1000;
    const isCountdown = Math.abs(trial.value - value - passedSeconds) <= COUNTDOWN_TOLERANCE_SECONDS;
    const countdowns = isCountdown ? trial.countdowns + 1 : 0;
    if (countdowns >= COUNTDOWNS_TO_REFUTE) this.#settle('refuted');
    else this.#trial = { value, refusedAt: now, endsAt: now + value, countdowns };
  }

  #settle(evidence: UnitEvidence): void {
    this.#evidence = evidence;
    this.#trial = undefined;
  }
}

function isTooLongInSeconds(value: number): boolean {
  return value > SECONDS_AT_MOST && value <= MILLISECONDS_AT_MOST;
}
