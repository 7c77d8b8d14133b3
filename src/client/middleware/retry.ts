import { abortable } from '../cancellation.ts';
import { NetworkError, RateLimitError, RequestError, ServerError, TimeoutError } from '../errors/errors.ts';
import { isPermanent } from '../errors/network-failure.ts';
import { LONGEST_OUTAGE_MS } from '../limits/in-flight.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from '../limits/retry-after.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import { backoffMs } from './backoff.ts';
import { type RefusedAttempt, waitAfterRefusal } from './unqueued-refusal.ts';

const RETRYABLE_STATUSES: readonly (number | undefined)[] = [408, 500, 502, 503, 504];

interface RetryOptions extends Omit<RefusedAttempt, 'state' | 'refusals'> {
  readonly states: KeyStates;
}

/**
 * Retries a failed request, which is safe because every operation is a GET. With `rateLimit: false`, it also retries a 429
 * after its Retry-After, limited by the deadline and the retry budget of the key. Otherwise `rateLimit`, which runs inside,
 * has handled the 429.
 */
export function retry(options: RetryOptions) {
  return (next: Handler): Handler =>
    (request) =>
      sendWithRetries(request, next, options);
}

async function sendWithRetries(request: KeyedRequest, next: Handler, options: RetryOptions): Promise<ApiResponse> {
  const { states } = options;
  const state = states.of(request.key);
  const failures = { retries: 0, refusals: 0 };
  for (;;) {
    const { length: attemptsBefore } = request.log.attempts;
    try {
      const response = await next(request);
      state.retryBudget.succeeded();
      return response;
    } catch (error) {
      // Not sent, because the service is down and the call may not wait: a retry would not be sent either.
      if (request.log.attempts.length === attemptsBefore) throw error;
      await waitBeforeRetry(error, request, { state, failures, ...options });
    }
  }
}

interface FailedAttempt extends RetryOptions {
  readonly state: KeyState;
  /** The failed attempts of the call before this one: those with a 429, and the others. */
  readonly failures: { retries: number; refusals: number };
}

/** @throws the error if the call is not sent again */
async function waitBeforeRetry(error: unknown, request: KeyedRequest, failed: FailedAttempt): Promise<void> {
  const { state, failures, clock, events } = failed;
  const isRefusal = state.limiter === undefined && error instanceof RateLimitError;
  const waitMs = isRefusal
    ? waitAfterRefusal(error, request, { ...failed, refusals: failures.refusals })
    : waitAfterFailure(error, request, failed);
  failures[isRefusal ? 'refusals' : 'retries'] += 1;
  const until = new Date(clock.now() + waitMs);
  const retry = failures.retries + failures.refusals;
  events.retry(state, { request, error: error as RetryableError, waitMs, until, retry });
  await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
  request.log.endWait(waitMs);
  request.log.nextAttemptBecause(isRefusal ? 'rate_limited' : 'retry');
}

/** Milliseconds to wait before the retry. @throws the error itself if it is not retried */
function waitAfterFailure(
  error: unknown,
  { settings, signal, deadlineAt }: KeyedRequest,
  { failures: { retries }, state, clock, time, random, maxRetryAfterMs, retryAfterUnit }: FailedAttempt,
): number {
  if (!isRetryable(error) || retries >= settings.maxRetries || signal.aborted) throw error;
  const unit = state.limiter?.retryAfterUnit ?? (retryAfterUnit === 'milliseconds' ? retryAfterUnit : 'seconds');
  const hintMs = hintOf(error, { unit, serverNowMs: clock.now() });
  const waitMs = Math.max(hintMs, backoffMs(retries, random));
  const isTooLong = hintMs > Math.min(maxRetryAfterMs, LONGEST_OUTAGE_MS) || time.now() + waitMs >= deadlineAt();
  // During an outage, the limiter allows few attempts, and each is a retry.
  if (isTooLong || !(state.limiter?.isServiceDown || state.retryBudget.take())) throw error;
  return waitMs;
}

type RetryableError = NetworkError | RateLimitError | RequestError | ServerError | TimeoutError;

function isRetryable(error: unknown): error is RetryableError {
  if (error instanceof NetworkError) return !isPermanent(error.code);
  if (error instanceof TimeoutError) return error.scope === 'attempt';
  return (error instanceof ServerError || error instanceof RequestError) && RETRYABLE_STATUSES.includes(error.status);
}

/** Retry-After of a 503 in milliseconds (RFC 9110 §10.2.3: seconds or a date); 0 if it has none. */
function hintOf(
  { headers }: RetryableError,
  reading: { readonly unit: RetryAfterUnit; readonly serverNowMs: number },
): number {
  const date = headers?.get('date') ?? undefined;
  return retryAfterMs(parseRetryAfter(headers?.get('retry-after') ?? undefined), { ...reading, date }) ?? 0;
}
