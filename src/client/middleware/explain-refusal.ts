import type { QuotaData } from '../../generated/types.ts';
import type { Cancellation } from '../cancellation.ts';
import { AuthenticationError, QuotaExhaustedError, RateLimitError, RequestError } from '../errors/errors.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import { quotaMessage } from '../quota/quota-check.ts';
import { isExhausted, type QuotaEstimate } from '../quota/quota-ledger.ts';
import { AttemptLog, type Endpoint, type Handler, type KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** The response to an exhausted quota is not documented; it could have one of these statuses. */
const COULD_BE_QUOTA: readonly (number | undefined)[] = [402, 403, 429];

/** Age up to which a quota record shows whether the quota can be exhausted. */
const RECORD_FRESH_MS = 60_000;

/** The longest usual wait for a per-minute limit, with the jitter of servers. */
const LONGEST_RATE_WAIT_MS = 75_000;

/**
 * Calls `quota()`, which is free and works with an exhausted quota, before a refusal without a documented code counts as a
 * rate limit, a wrong key or a wrong request. One request serves all calls refused together. It bypasses the queue, which
 * cannot know yet whether to wait for a minute or a month.
 */
export function explainRefusal(states: KeyStates, quota: Endpoint) {
  return (next: Handler): Handler => {
    const explain = async (error: Unexplained, request: KeyedRequest): Promise<Error> => {
      const { quotaCheck, exhaustedLatch, ledger } = states.of(request.key);
      // A 429 soon after a record with many requests left is for the rate, unless its Retry-After is longer.
      const isForRate =
        error instanceof RateLimitError && (retryAfterMs(error.retryAfter, 'seconds') ?? 0) <= LONGEST_RATE_WAIT_MS;
      if (isForRate && ledger.isUpToDate(RECORD_FRESH_MS) && isPlenty(ledger.estimate())) return error;
      const load = async (cancellation: Cancellation) =>
        (await next(quotaRequest(quota, request, cancellation))).data as QuotaData; // the endpoint has parsed it
      const record = await quotaCheck.check(load, request.signal);
      if (record === undefined || !isExhausted(record)) return error;
      exhaustedLatch.refused(record);
      return exhaustedError(record, error);
    };

    return (request) =>
      next(request).catch(async (error: unknown) => {
        const mayBeQuota = request.endpoint.consumesQuota && isUnexplained(error) && !mayBeFromProxy(error, request);
        throw mayBeQuota ? await explain(error, request) : error;
      });
  };
}

/** Whether more than twice the requests are left that the key can make while the record is fresh. */
function isPlenty(estimate: QuotaEstimate | undefined): boolean {
  return estimate?.remaining !== undefined && estimate.remaining > 2 * estimate.quota.rate_limit_per_minute;
}

type Unexplained = RateLimitError | AuthenticationError | RequestError;

function exhaustedError(quota: QuotaData, refusal: Unexplained): QuotaExhaustedError {
  const { code, status, headers, attempts } = refusal;
  return new QuotaExhaustedError(quotaMessage(quota), { quota, code, status, headers, attempts, cause: refusal });
}

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
function mayBeFromProxy(error: Unexplained, { log, settings }: KeyedRequest): boolean {
  if (!(error instanceof RateLimitError) || error.code !== undefined) return false;
  const refusals = log.attempts.filter(({ status }) => status === 429).length;
  const waitMs = retryAfterMs(error.retryAfter, 'seconds');
  return refusals < 2 && settings.onLimit === 'wait' && waitMs !== undefined && waitMs <= LONGEST_RATE_WAIT_MS;
}

/** The request may outlive its first call, because other calls wait for it; its own timeout ends it. */
function quotaRequest(quota: Endpoint, { key, settings }: KeyedRequest, cancellation: Cancellation): KeyedRequest {
  return {
    endpoint: { ...quota, purpose: 'refusal' },
    settings,
    key,
    signal: cancellation,
    deadlineAt: () => Number.POSITIVE_INFINITY,
    log: new AttemptLog(),
  };
}
