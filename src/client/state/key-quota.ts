import type { QuotaData } from '../../generated/types.ts';
import { type ApiResponse, type AttemptOutcome, Call, type Handler, type KeyedCall } from '../call/call.ts';
import { operationEndpoint } from '../call/endpoint.ts';
import {
  AbortError,
  AuthenticationError,
  FxRatesError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  TimeoutError,
} from '../errors/errors.ts';
import { wasNeverSent } from '../errors/network-failure.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import type { QuotaReason } from '../options/call-options.ts';
import type { QuotaEstimate } from '../options/client-options.ts';
import { type Cancellation, SharedWork } from '../time/abort.ts';
import type { Clock, SteadyTime } from '../time/clock.ts';
import { backoffMs } from '../time/clock.ts';
import { isExhausted, perMinuteIn, remainingOf, resetsAtMsIn } from './quota-record.ts';

/** A poll that runs: it uses requests of the month of its key. */
export interface RunningPoll {
  /** Requests of a round that count toward the quota. */
  readonly requests: number;
  /** The interval between rounds; `undefined` if the poll spreads what is left of the month. */
  readonly fixedMs: number | undefined;
}

/** Maximum age of an estimate for a key that other processes may use too. */
export const SHARED_KEY_MS = 300_000;
/** Pause after a failed `quota()`. */
const FAILURE_PAUSE_MS = 60_000;
/** Shorter than the time until the reset: a change of plan can restore the quota, and one refused call a minute detects it. */
const STOPPED_FOR_MS = 60_000;
/** A refusal within this time after a record is explained by it. */
const SAME_REFUSAL_MS = 1_000;
/** Between two calls of `quota()` for the limit, which seldom changes; longer after each failure in a row. */
const LIMIT_INTERVAL = { firstMs: 60_000, longestMs: 3_600_000 };
/** Age up to which a quota record shows whether the quota can be exhausted. */
const RECORD_FRESH_MS = 60_000;
/** The longest usual wait for a per-minute limit, with the jitter of servers. */
const LONGEST_RATE_WAIT_MS = 75_000;
/** The response to an exhausted quota is not documented; it could have one of these statuses. */
const COULD_BE_QUOTA: readonly (number | undefined)[] = [402, 403, 429];
/** Refusals that are not counted: for the rate (docs/facts.md, Limits), the key, or the quota itself. */
const FREE_STATUSES: readonly (number | undefined)[] = [401, 402, 403, 429];

const QUOTA = operationEndpoint('quota');

interface Known {
  readonly quota: QuotaData;
  readonly asOfMs: number;
  readonly spentBefore: number;
}

/**
 * The month of one key: the last quota record, the requests since, those reserved for calls in flight, and whether the
 * quota is used up. Calls `quota()`, which is free, once for all calls that need its record.
 */
export class KeyQuota {
  /** Requests that this process has spent so far. */
  spent = 0;
  readonly #clock: Clock;
  readonly #time: SteadyTime;
  #known: Known | undefined;
  readonly #reservedFor = new Set<Call>();
  readonly #polls = new Set<RunningPoll>();
  /** Calls are rejected without a request: the service has refused one because of its quota. */
  #stopped: { readonly since: number; readonly until: number; readonly quota: QuotaData } | undefined;
  /** The `quota()` for the estimate and for the limit, which waits in the queue. It may outlive the call that caused it. */
  readonly #asking = new SharedWork<QuotaData>();
  #failedAtMs = Number.NEGATIVE_INFINITY;
  readonly #explaining = new SharedWork<QuotaData | undefined>();
  #explained: { readonly quota: QuotaData | undefined; readonly atMs: number } | undefined;
  #limitAskedAt = Number.NEGATIVE_INFINITY;
  /** Calls of `quota()` that failed in a row, for any reason. */
  #failures = 0;

  constructor(clock: Clock, time: SteadyTime) {
    this.#clock = clock;
    this.#time = time;
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

  /** Whether the record is no older than `maxAgeMs`, or `quota()` has just failed. */
  isUpToDate(maxAgeMs: number): boolean {
    const estimate = this.estimate();
    if (estimate !== undefined && this.#isWithin(maxAgeMs, estimate.asOf.getTime())) return true;
    return this.#isWithin(FAILURE_PAUSE_MS, this.#failedAtMs);
  }

  /** Requests left that are not reserved; `undefined` if unknown. */
  available(): number | undefined {
    const remaining = this.estimate()?.remaining;
    return remaining === undefined ? undefined : Math.max(0, remaining - this.#reservedFor.size);
  }

  /** Reserves a request for a call in flight, so that concurrent calls cannot all pass the check for the last request. */
  reserve(call: Call): void {
    this.#reservedFor.add(call);
  }

  release(call: Call): void {
    this.#reservedFor.delete(call);
  }

  /** An attempt was sent and has ended. A request counts if it may have: a 429 is free (docs/facts.md, Limits). */
  sent(call: Call, outcome: AttemptOutcome): void {
    if (call.endpoint.consumesQuota && mayHaveCounted(outcome)) this.spent += 1;
  }

  /**
   * A record replaces the count. `spentBefore` is `spent` at the time of its request. Later requests may or may not be in
   * the record; they are counted, so that the estimate is never too high.
   */
  sawRecord(quota: QuotaData, spentBefore: number): void {
    this.#known = { quota, asOfMs: this.#clock.now(), spentBefore };
    if (!isExhausted(quota)) this.#stopped = undefined;
  }

  /** @throws QuotaExhaustedError marked `local`, for a minute after a refusal because of the quota. */
  requireLeft({ endpoint }: Call): void {
    if (this.#stopped === undefined || !endpoint.consumesQuota) return;
    const { since, until, quota } = this.#stopped;
    const now = this.#clock.now();
    const isOver = now < since || now >= until; // before its beginning if the clock was set back
    if (isOver) return;
    const message = `${usedUp(quota)}; not sent, because the service reported it less than a minute ago`;
    throw new QuotaExhaustedError(message, { quota, local: true });
  }

  /**
   * Calls `quota()` unless the record is young enough. If that fails, the calls continue with the known record, and the
   * service decides. Returns the error of the failure.
   */
  async refresh(call: KeyedCall, maxAgeMs: number, send: Handler): Promise<unknown> {
    if (this.isUpToDate(maxAgeMs)) return undefined;
    const { signal, deadlineAt, settings } = call;
    const now = this.#time.now();
    const ask = (cancellation: Cancellation) => this.#join('refresh', call, { send, signal: cancellation });
    // At most half of the time until the deadline, so that a `quota()` that hangs leaves time for the call itself.
    const half = {
      at: now + (deadlineAt - now) / 2,
      signal,
      errorOf() {
        return new TimeoutError({ scope: 'deadline', limitMs: settings.deadlineMs });
      },
    };
    try {
      await (deadlineAt === Number.POSITIVE_INFINITY ? ask(signal) : this.#time.withTimeout(ask, half));
      return undefined;
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      return error;
    }
  }

  /**
   * The limiter wants the per-minute limit of the plan, which the record of `quota()` has: one request instead of the
   * refusals that learning the limit would cause.
   */
  learnLimit(call: KeyedCall, send: Handler): void {
    const now = this.#time.now();
    if (now - this.#limitAskedAt < backoffMs(this.#failures, LIMIT_INTERVAL)) return;
    this.#limitAskedAt = now;
    this.#join('limit', call, { send, signal: call.signal }).catch(() => undefined); // learned from the responses
  }

  /** No client uses the key any longer. */
  close(): void {
    this.#asking.cancel(new AbortError());
  }

  /**
   * The error of a refused call. Without a documented code, a refusal could be for the rate, the key, the request, or a used-up
   * quota: then `quota()` decides, which works with an exhausted quota. `send` bypasses the queue, which cannot know yet
   * whether to wait for a minute or a month.
   */
  async explain(error: unknown, call: KeyedCall, send: Handler): Promise<unknown> {
    if (!call.endpoint.consumesQuota || !isUnexplained(error) || mayBeFromProxy(error, call)) return error;
    // A 429 soon after a record with many requests left is for the rate, unless its Retry-After is longer.
    const isForRate = error instanceof RateLimitError && waitMsOf(error) <= LONGEST_RATE_WAIT_MS;
    if (isForRate && this.isUpToDate(RECORD_FRESH_MS) && isPlenty(this.estimate())) return error;
    const quota = await this.#recordAfterRefusal(call, send);
    if (quota === undefined || !isExhausted(quota)) return error;
    const since = this.#clock.now();
    this.#stopped = {
      since,
      until: Math.min(since + STOPPED_FOR_MS, resetsAtMsIn(quota) ?? Number.POSITIVE_INFINITY),
      quota,
    };
    const { code, status, headers, bodyExcerpt, attempts } = error;
    const details = { code, status, headers, bodyExcerpt, attempts, cause: error };
    return new QuotaExhaustedError(usedUp(quota), { quota, ...details });
  }

  startPoll(poll: RunningPoll): void {
    this.#polls.add(poll);
  }

  endPoll(poll: RunningPoll): void {
    this.#polls.delete(poll);
  }

  /** Number of requests in one round of all polls. */
  get requestsPerRound(): number {
    return [...this.#polls].reduce((sum, { requests }) => sum + requests, 0);
  }

  /**
   * The interval with which the polls without a fixed one, which all have the same, use what the others and the reserve
   * leave of the month until its reset, `leftMs` from now. `undefined` without a numeric limit.
   */
  spreadMs(leftMs: number, reserve: number): number | undefined {
    const remaining = this.estimate()?.remaining;
    if (remaining === undefined) return undefined;
    let [spread, fixed] = [0, 0];
    for (const { requests, fixedMs } of this.#polls) {
      if (fixedMs === undefined) spread += requests;
      else fixed += (requests * leftMs) / fixedMs;
    }
    const available = remaining - reserve - fixed;
    return available <= spread ? leftMs : Math.ceil((leftMs * spread) / available);
  }

  /** One `quota()` for all calls that are refused together. `undefined` if it fails: then the refusal is unchanged. */
  async #recordAfterRefusal(call: KeyedCall, send: Handler): Promise<QuotaData | undefined> {
    if (this.#explained && this.#isWithin(SAME_REFUSAL_MS, this.#explained.atMs)) return this.#explained.quota;
    return this.#explaining.join(async (signal) => {
      const quota = await this.#ask(call, send, { reason: 'refusal', signal }).catch(() => undefined);
      if (!signal.aborted) this.#explained = { quota, atMs: this.#clock.now() };
      return quota;
    }, call.signal);
  }

  #join(
    reason: QuotaReason,
    call: KeyedCall,
    { send, signal }: { readonly send: Handler; readonly signal: Cancellation },
  ): Promise<QuotaData> {
    const ask = (cancellation: Cancellation) => this.#ask(call, send, { reason, signal: cancellation });
    // If every deadline is too short for `quota()`, the next call still gets its record. `timeoutMs` ends it.
    const continues = () => !call.signal.aborted || this.#time.now() >= call.deadlineAt;
    return this.#asking.join(ask, signal, continues);
  }

  /** The client's own call of `quota()`. It is not retried, because its result is less important than the call itself. */
  async #ask(
    { settings, key, deadlineAt }: KeyedCall,
    send: Handler,
    { reason, signal }: { readonly reason: QuotaReason; readonly signal: Cancellation },
  ): Promise<QuotaData> {
    const isBypass = reason === 'refusal'; // it may outlive its first call, because other calls wait for it
    const call = new Call({
      endpoint: QUOTA,
      settings: { ...settings, maxRetries: 0, maxAgeMs: undefined, priority: 'high' },
      signal,
      deadlineAt: isBypass ? Number.POSITIVE_INFINITY : deadlineAt,
      quotaReason: reason,
    });
    try {
      const { data }: ApiResponse = await send(Object.assign(call, { key }));
      this.#failures = 0;
      return data as QuotaData; // the endpoint has parsed it
    } catch (error) {
      if (error instanceof AbortError) throw error;
      this.#failures += 1;
      // A 429 says nothing about the next `quota()` for the estimate.
      if (!(error instanceof RateLimitError)) this.#failedAtMs = this.#clock.now();
      throw error;
    }
  }

  /** A time in the future means that the clock was set back, so the age is not known. */
  #isWithin(maxAgeMs: number, atMs: number): boolean {
    const ageMs = this.#clock.now() - atMs;
    return ageMs >= 0 && ageMs <= maxAgeMs;
  }
}

function usedUp(quota: QuotaData): string {
  const { monthly_used: used, monthly_limit: limit, resets_at: resetsAt } = quota;
  const reset = resetsAtMsIn(quota) === undefined ? '' : `, resets at ${resetsAt}`;
  return `The monthly quota is used up: ${used} of ${limit} requests${reset}`;
}

/** Whether a request counts toward the quota, or may count: the service does not document which failed ones do. */
function mayHaveCounted(outcome: AttemptOutcome): boolean {
  if ('rawBody' in outcome) return true;
  const { error } = outcome;
  return !(error instanceof FxRatesError && FREE_STATUSES.includes(error.status)) && !wasNeverSent(error);
}

type Unexplained = RateLimitError | AuthenticationError | RequestError;

function isUnexplained(error: unknown): error is Unexplained {
  if (error instanceof RateLimitError) return error.code !== 'rate_limited';
  return (
    (error instanceof AuthenticationError || error instanceof RequestError) && COULD_BE_QUOTA.includes(error.status)
  );
}

/**
 * Whether a 429 has no code, such as one of a proxy, and a short Retry-After. The call then waits once before `quota()` is
 * called, because the service may count that request too.
 */
function mayBeFromProxy(error: Unexplained, { attempts, settings }: Call): boolean {
  if (!(error instanceof RateLimitError) || error.code !== undefined) return false;
  const refusals = attempts.filter(({ status }) => status === 429).length;
  const waitMs = waitMsOf(error);
  return refusals < 2 && settings.onLimit === 'wait' && waitMs > 0 && waitMs <= LONGEST_RATE_WAIT_MS;
}

/** Retry-After of a 429 in milliseconds, read in seconds; 0 for none. */
function waitMsOf({ retryAfter }: RateLimitError): number {
  return retryAfterMs(retryAfter, 'seconds') ?? 0;
}

/** Whether more than twice the requests are left that the key can make while the record is fresh. */
function isPlenty(estimate: QuotaEstimate | undefined): boolean {
  const perMinute = estimate && perMinuteIn(estimate.quota);
  return estimate?.remaining !== undefined && perMinute !== undefined && estimate.remaining > 2 * perMinute;
}

/** If the period was over when the record arrived, the clocks disagree, and the record of the service is valid. */
function hasEnded({ quota, asOfMs }: Known, nowMs: number): boolean {
  const resetsAtMs = resetsAtMsIn(quota);
  return resetsAtMs !== undefined && asOfMs < resetsAtMs && nowMs >= resetsAtMs;
}
