import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from './retry-after.ts';
import type { SavedUnit } from './saved-limit.ts';

/** No limit per minute asks for a longer wait: 60 s, rounded up. */
const SECONDS_AT_MOST = 61;
/** The same in milliseconds with a second's rounding; what is longer is a longer quota, in whatever unit. */
const MILLISECONDS_AT_MOST = 61_200;
/** How much a countdown in seconds may differ from the time that passed: rounding on both sides. */
const ROUNDING_SECONDS = 2;
/** One such countdown can be chance (a token bucket that others drain too); two in a row are not. */
const COUNTDOWNS_TO_REFUTE = 2;
/** Refusals this close together get the same answer from every limit that counts in seconds. */
const SAME_MOMENT_MS = 1_000;
/** A limit per second beside the one per minute gives two answers in one moment. Three mean that they are not seconds. */
const ANSWERS_THAT_SECONDS_CANNOT_GIVE = 3;

/** What is known about the unit: nothing yet, milliseconds on trial, or settled by the answers or the options. */
export type UnitEvidence = 'assumed' | 'on-trial' | 'confirmed' | 'refuted' | 'set';

export interface RetryAfterReading {
  /** Milliseconds to wait from the answer on; `undefined` without a usable header. */
  readonly waitMs: number | undefined;
  readonly unit: RetryAfterUnit;
  readonly evidence: UnitEvidence;
  /** The unit turned out to be milliseconds: what was read before was too long. */
  readonly isRevision: boolean;
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
  /** Clearly different values of one moment. */
  #moment: { readonly startedAt: number; values: number[] } = { startedAt: 0, values: [] };

  constructor(unit: 'auto' | RetryAfterUnit = 'auto', saved?: SavedUnit) {
    this.#setUnit = unit === 'auto' ? undefined : unit;
    this.#evidence = unit === 'auto' ? 'assumed' : 'set';
    if (unit !== 'auto' || saved === undefined || saved.evidence === 'set') return;
    this.#evidence = saved.evidence;
    this.#trial = saved.trial;
    this.#moment = saved.moment;
  }

  save(): SavedUnit {
    return { evidence: this.#evidence, trial: this.#trial, moment: this.#moment };
  }

  refused({ retryAfter, date, sentAt, now }: RefusalHeaders): RetryAfterReading {
    const parsed = parseRetryAfter(retryAfter);
    const wasConfirmed = this.#evidence === 'confirmed';
    if (parsed?.form === 'integer') this.#weigh(parsed.value, sentAt, now);
    const unit = parsed?.form === 'integer' ? this.#unitOf(parsed.value) : 'seconds';
    const waitMs = retryAfterMs(parsed, { unit, date });
    const isRevision = !wasConfirmed && this.#evidence === 'confirmed';
    return { waitMs, unit, evidence: this.#evidence, isRevision };
  }

  /** A call that was sent at `sentAt` was served. */
  accepted(sentAt: number): void {
    if (this.#trial && sentAt >= this.#trial.endsAt) this.#settle('confirmed');
  }

  #unitOf(value: number): RetryAfterUnit {
    if (this.#setUnit) return this.#setUnit;
    if (this.#evidence === 'confirmed') return 'milliseconds';
    return this.#trial && isTooLongInSeconds(value) ? 'milliseconds' : 'seconds';
  }

  #weigh(value: number, sentAt: number, now: number): void {
    if (this.#evidence === 'assumed' || this.#evidence === 'on-trial') this.#compareWithOthers(value, now);
    if (this.#evidence === 'assumed' && isTooLongInSeconds(value)) {
      this.#evidence = 'on-trial';
      this.#trial = { value, refusedAt: now, endsAt: now + value, countdowns: 0 };
    } else if (this.#trial && sentAt >= this.#trial.endsAt) {
      this.#judge(this.#trial, value, now);
    }
  }

  /** Seconds left are the same for all who ask at the same moment; milliseconds left are not. */
  #compareWithOthers(value: number, now: number): void {
    if (now - this.#moment.startedAt > SAME_MOMENT_MS) this.#moment = { startedAt: now, values: [] };
    const { startedAt, values } = this.#moment;
    if (values.some((other) => Math.abs(other - value) <= ROUNDING_SECONDS)) return;
    this.#moment = { startedAt, values: [...values, value] };
    if (values.length + 1 >= ANSWERS_THAT_SECONDS_CANNOT_GIVE) this.#settle('confirmed');
  }

  /** Refused after the wait: values that go down by the seconds that passed are in seconds; else the trial goes on. */
  #judge(trial: Trial, value: number, now: number): void {
    const passedSeconds = (now - trial.refusedAt) / 1000;
    const isCountdown = Math.abs(trial.value - value - passedSeconds) <= ROUNDING_SECONDS;
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
