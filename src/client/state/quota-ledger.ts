import type { QuotaData } from '../../generated/types.ts';
import type { AttemptFailure, AttemptOutcome, Call } from '../call/call.ts';
import { FxRatesError } from '../errors/errors.ts';
import { wasNeverSent } from '../errors/network-failure.ts';
import type { QuotaEstimate } from '../options/client-options.ts';
import { backoffMs, type Clock } from '../time/clock.ts';
import { PollBudget } from './poll-budget.ts';
import { isExhausted, perMinuteIn, remainingOf, resetsAtMsIn } from './quota-record.ts';

/** Maximum age of an estimate for a key that other processes may use too. */
export const SHARED_KEY_MS = 300_000;
/** Pause after a failed `quota()`. */
const FAILURE_PAUSE_MS = 60_000;
/** Shorter than the time until the reset: a change of plan can restore the quota, and one refused call a minute detects it. */
const STOPPED_FOR_MS = 60_000;
/** A refusal within this time after a record is explained by it. */
const SAME_REFUSAL_MS = 1_000;
/** Between two calls of `quota()` for the limit, which seldom changes; twice as long after each that shows nothing new. */
const LIMIT_INTERVAL = { firstMs: 60_000, longestMs: 600_000 };
/** Age up to which a quota record shows whether the quota can be exhausted. */
const RECORD_FRESH_MS = 60_000;
/** Refusals that are not counted: for the rate (docs/facts.md, Limits), the key, or the quota itself. */
const FREE_STATUSES: readonly (number | undefined)[] = [401, 402, 403, 429];

interface Known {
  readonly quota: QuotaData;
  readonly asOfMs: number;
  readonly spentBefore: number;
  readonly doubtful: number;
}

/**
 * The month of one key: the last quota record, the requests since, those reserved for calls in flight, and whether the
 * quota is used up. It sends nothing: it says when a record is missing, and `steps/quota-lookup.ts` enters the answer.
 */
export class QuotaLedger {
  /** Requests that this process has spent so far. */
  spent = 0;
  readonly polls = new PollBudget();
  readonly #clock: Clock;
  #known: Known | undefined;
  readonly #reservedFor = new Set<Call>();
  /** Those of them with a request in flight, or before its retry. */
  readonly #sending = new Set<Call>();
  /** The service has refused a request because of its quota. */
  #stopped: { readonly since: number; readonly until: number; readonly quota: QuotaData } | undefined;
  #explained: { readonly quota: QuotaData | undefined; readonly atMs: number } | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #limitAskedAt = Number.NEGATIVE_INFINITY;
  /** The limit per minute of the last `quota()` of the client itself. */
  #perMinute: number | undefined;
  /** Those calls in a row that failed, for any reason, or had the same limit as the one before. */
  #withoutNews = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `undefined` before the first record, and after its period has ended. */
  estimate(): QuotaEstimate | undefined {
    if (this.#known === undefined || hasEnded(this.#known, this.#clock.now())) return undefined;
    const { quota, asOfMs, spentBefore } = this.#known;
    const left = remainingOf(quota);
    const usedSince = this.spent - spentBefore;
    const remaining = left === undefined ? undefined : Math.max(0, left - usedSince);
    return { quota, asOf: new Date(asOfMs), usedSince, remaining };
  }

  /** Whether no lookup is due: the record is no older than `maxAgeMs`, or `quota()` has just failed. */
  isUpToDate(maxAgeMs: number): boolean {
    return this.#isYounger(maxAgeMs) || this.#isWithin(FAILURE_PAUSE_MS, this.#failedAtMs);
  }

  #isYounger(maxAgeMs: number): boolean {
    const estimate = this.estimate();
    return estimate !== undefined && this.#isWithin(maxAgeMs, estimate.asOf.getTime());
  }

  /** Whether a fresh record has more than twice the requests that the key can make while it is fresh. */
  get isPlenty(): boolean {
    if (!this.#isYounger(RECORD_FRESH_MS)) return false;
    const { quota, remaining } = this.estimate() ?? {};
    const perMinute = quota && perMinuteIn(quota);
    return remaining !== undefined && perMinute !== undefined && remaining > 2 * perMinute;
  }

  /** Requests left that are not reserved, less than none if others have used them; `undefined` if unknown. */
  available(): number | undefined {
    const remaining = this.estimate()?.remaining;
    return remaining === undefined ? undefined : remaining - this.#reservedFor.size;
  }

  /** Requests left that other calls in flight do not use; `undefined` if unknown. */
  availableTo(call: Call): number | undefined {
    const remaining = this.estimate()?.remaining;
    const others = this.#sending.size - (this.#sending.has(call) ? 1 : 0);
    return remaining === undefined ? undefined : remaining - others;
  }

  /** Requests that the estimate may count twice, because they were in flight together with the `quota()` of the record. */
  get doubtful(): number {
    return this.#known?.doubtful ?? 0;
  }

  /** Reserves a request for a call in flight, so that concurrent calls cannot all pass the check for the last request. */
  reserve(call: Call): void {
    this.#reservedFor.add(call);
  }

  /** The call with the reservation is sent now. */
  sending(call: Call): void {
    this.#sending.add(call);
  }

  release(call: Call): void {
    this.#reservedFor.delete(call);
    this.#sending.delete(call);
  }

  /** An attempt was sent and has ended. A request counts if it may have: a 429 is free (docs/facts.md, Limits). */
  sent(call: Call, outcome: AttemptOutcome): void {
    if (!call.endpoint.consumesQuota) return;
    const isSuccess = 'rawBody' in outcome;
    if (isSuccess || mayHaveUsedQuota(outcome)) this.spent += 1;
    if (isSuccess) this.release(call); // it is counted now
  }

  /**
   * A record replaces the count. `spentBefore` is `spent` at the time of its request. Later requests may or may not be in
   * the record; they are counted, so that the estimate is never too high.
   */
  sawRecord(quota: QuotaData, spentBefore: number): void {
    const doubtful = this.#sending.size + this.spent - spentBefore;
    this.#known = { quota, asOfMs: this.#clock.now(), spentBefore, doubtful };
    if (!isExhausted(quota)) this.#stopped = undefined;
    const remaining = remainingOf(quota);
    if (remaining !== undefined) this.polls.sawRemaining(remaining, this.#known.asOfMs);
  }

  /** A `quota()` of the client itself has responded. */
  lookedUp(record: QuotaData): void {
    const perMinute = perMinuteIn(record);
    this.#withoutNews = perMinute === this.#perMinute ? this.#withoutNews + 1 : 0;
    this.#perMinute = perMinute;
  }

  /** A `quota()` of the client itself has failed. A 429 says nothing about the next one for the estimate. */
  lookupFailed({ isRefused }: { readonly isRefused: boolean }): void {
    this.#withoutNews += 1;
    if (!isRefused) this.#failedAtMs = this.#clock.now();
  }

  /** Whether to call `quota()` for the limit now, by `now` of the steady time; the next one is due later. */
  startLimitLookup(now: number): boolean {
    if (now - this.#limitAskedAt < backoffMs(this.#withoutNews, LIMIT_INTERVAL)) return false;
    this.#limitAskedAt = now;
    return true;
  }

  /** The record that explained the refusals of the last second; none if `quota()` failed. */
  get explained(): { readonly quota: QuotaData | undefined } | undefined {
    return this.#explained && this.#isWithin(SAME_REFUSAL_MS, this.#explained.atMs) ? this.#explained : undefined;
  }

  explain(quota: QuotaData | undefined): void {
    this.#explained = { quota, atMs: this.#clock.now() };
  }

  /** The service has refused a request because of its quota, by this record. */
  stop(quota: QuotaData): void {
    const since = this.#clock.now();
    const until = Math.min(since + STOPPED_FOR_MS, resetsAtMsIn(quota) ?? Number.POSITIVE_INFINITY);
    this.#stopped = { since, until, quota };
  }

  /** The record of a used-up quota, for a minute after a refusal because of it. */
  get usedUp(): QuotaData | undefined {
    if (this.#stopped === undefined) return undefined;
    const { since, until, quota } = this.#stopped;
    const now = this.#clock.now();
    return now >= since && now < until ? quota : undefined; // before its beginning if the clock was set back
  }

  /** A time in the future means that the clock was set back, so the age is not known. */
  #isWithin(maxAgeMs: number, atMs: number): boolean {
    const ageMs = this.#clock.now() - atMs;
    return ageMs >= 0 && ageMs <= maxAgeMs;
  }
}

/** Whether a failed request may count toward the quota: the service does not document which do. */
function mayHaveUsedQuota(failure: AttemptFailure): boolean {
  if (failure.kind === 'rate_limited') return !FREE_STATUSES.includes(failure.status);
  const { error } = failure; // another copy of the package may have created it
  return !(FxRatesError.is(error) && FREE_STATUSES.includes(error.status)) && !wasNeverSent(error);
}

/** If the period was over when the record arrived, the clocks disagree, and the record of the service is valid. */
function hasEnded({ quota, asOfMs }: Known, nowMs: number): boolean {
  const resetsAtMs = resetsAtMsIn(quota);
  return resetsAtMs !== undefined && asOfMs < resetsAtMs && nowMs >= resetsAtMs;
}
