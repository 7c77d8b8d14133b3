import type { QuotaData } from '../../generated/types.ts';
import { Call, type Handler, type KeyedCall } from '../call/call.ts';
import { operationEndpoint } from '../call/endpoint.ts';
import {
  AbortError,
  AuthenticationError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  TimeoutError,
} from '../errors/errors.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import type { QuotaReason } from '../options/call-options.ts';
import type { KeyState } from '../state/key-state.ts';
import { isExhausted, resetsAtMsIn } from '../state/quota-record.ts';
import type { Cancellation } from '../time/abort.ts';

/** The longest usual wait for a per-minute limit, with the jitter of servers. */
const LONGEST_RATE_WAIT_MS = 75_000;
/** The response to an exhausted quota is not documented; it could have one of these statuses. */
const COULD_BE_QUOTA: readonly (number | undefined)[] = [402, 403, 429];

const QUOTA = operationEndpoint('quota');

/** A call that needs the record of `quota()`. */
export interface Lookup {
  readonly call: KeyedCall;
  /** That of its key. */
  readonly state: Pick<KeyState, 'quota' | 'lookups' | 'time'>;
  /** Sends `quota()`. */
  readonly send: Handler;
}

/**
 * Calls `quota()` unless the record is young enough. If that fails, the calls continue with the known record, and the
 * service decides. Returns the error of the failure.
 */
export async function updateRecord(lookup: Lookup, maxAgeMs: number): Promise<unknown> {
  const { call, state } = lookup;
  if (state.quota.isUpToDate(maxAgeMs)) return undefined;
  const { signal, deadlineAt, settings } = call;
  const { time } = state;
  const now = time.now();
  const join = (cancellation: Cancellation) => joinLookup(lookup, 'refresh', cancellation);
  // At most half of the time until the deadline, so that a `quota()` that hangs leaves time for the call itself.
  const half = {
    at: now + (deadlineAt - now) / 2,
    signal,
    errorOf() {
      return new TimeoutError({ scope: 'deadline', limitMs: settings.deadlineMs });
    },
  };
  try {
    await (deadlineAt === Number.POSITIVE_INFINITY ? join(signal) : time.withTimeout(join, half));
    return undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return error;
  }
}

/**
 * The limiter wants the per-minute limit of the plan, which the record of `quota()` has: one request instead of the
 * refusals that learning the limit would cause.
 */
export function lookUpLimit(lookup: Lookup): void {
  const { state, call } = lookup;
  if (!state.quota.startLimitLookup(state.time.now())) return;
  joinLookup(lookup, 'limit', call.signal).catch(() => undefined); // learned from the responses
}

/**
 * The error of a refused call. Without a documented code, a refusal could be for the rate, the key, the request, or a used-up
 * quota: then `quota()` decides, which works with an exhausted quota. `send` bypasses the queue, which cannot know yet
 * whether to wait for a minute or a month.
 */
export async function explainRefusal(error: unknown, lookup: Lookup): Promise<unknown> {
  const { call, state } = lookup;
  if (!call.endpoint.consumesQuota || !isUnexplained(error) || mayBeFromProxy(error, call)) return error;
  // A 429 soon after a record with many requests left is for the rate, unless its Retry-After is longer.
  const isForRate = error instanceof RateLimitError && waitMsOf(error) <= LONGEST_RATE_WAIT_MS;
  if (isForRate && state.quota.isPlenty) return error;
  const quota = await recordAfterRefusal(lookup);
  if (quota === undefined || !isExhausted(quota)) return error;
  state.quota.stop(quota);
  const { code, status, headers, bodyExcerpt, attempts } = error;
  const details = { code, status, headers, bodyExcerpt, attempts, cause: error };
  return new QuotaExhaustedError(usedUpText(quota), { quota, ...details });
}

/** The error of a call that is not sent, for a minute after a refusal because of the quota. */
export function usedUpError(quota: QuotaData): QuotaExhaustedError {
  const message = `${usedUpText(quota)}; not sent, because the service reported it less than a minute ago`;
  return new QuotaExhaustedError(message, { quota, local: true });
}

function usedUpText(quota: QuotaData): string {
  const { monthly_used: used, monthly_limit: limit, resets_at: resetsAt } = quota;
  const reset = resetsAtMsIn(quota) === undefined ? '' : `, resets at ${resetsAt}`;
  return `The monthly quota is used up: ${used} of ${limit} requests${reset}`;
}

/** One `quota()` for all calls that are refused together. `undefined` if it fails: then the refusal is unchanged. */
async function recordAfterRefusal(lookup: Lookup): Promise<QuotaData | undefined> {
  const { call, state } = lookup;
  const { explained } = state.quota;
  if (explained !== undefined) return explained.quota;
  return state.lookups.explaining.join(async (signal) => {
    const quota = await lookUp(lookup, 'refusal', signal).catch(() => undefined);
    if (!signal.aborted) state.quota.explain(quota);
    return quota;
  }, call.signal);
}

/** One `quota()`, which waits in the queue, for all calls that need the record. It may outlive the call that caused it. */
function joinLookup(lookup: Lookup, reason: QuotaReason, signal: Cancellation): Promise<QuotaData> {
  const { call, state } = lookup;
  // If every deadline is too short for `quota()`, the next call still gets its record. `timeoutMs` ends it.
  const continues = () => !call.signal.aborted || state.time.now() >= call.deadlineAt;
  return state.lookups.asking.join((cancellation) => lookUp(lookup, reason, cancellation), signal, continues);
}

/** The client's own call of `quota()`. It is not retried, because its result is less important than the call itself. */
async function lookUp(
  { call: { settings, key, deadlineAt }, state: { quota: ledger }, send }: Lookup,
  reason: QuotaReason,
  signal: Cancellation,
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
    const { data } = await send(Object.assign(call, { key }));
    ledger.lookedUp();
    return data as QuotaData; // the endpoint has parsed it
  } catch (error) {
    if (!(error instanceof AbortError)) ledger.lookupFailed({ isRefused: error instanceof RateLimitError });
    throw error;
  }
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
