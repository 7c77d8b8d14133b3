import { backoffMs, equalJitter } from '../backoff.ts';
import { abortable } from '../cancellation.ts';
import type { Clock, SteadyTime } from '../clock.ts';
import { NetworkError, RequestError, ServerError, TimeoutError } from '../errors/errors.ts';
import { isPermanent } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import { LONGEST_OUTAGE_MS } from '../limits/in-flight.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';

const RETRYABLE_STATUSES: readonly (number | undefined)[] = [408, 500, 502, 503, 504];
/** With equal jitter, because full jitter can be close to zero, and all retries could then fall into one outage. */
const RETRY_BACKOFF = { firstMs: 500, longestMs: 8_000 };

interface RetryOptions {
  readonly states: KeyStates;
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
}

/** Retries a failed request, which is safe because every operation is a GET. `rateLimit`, which runs inside, handles 429s. */
export function retry(options: RetryOptions) {
  return (next: Handler): Handler =>
    (request) =>
      sendWithRetries(request, next, options);
}

async function sendWithRetries(request: KeyedRequest, next: Handler, options: RetryOptions): Promise<ApiResponse> {
  const { states, clock, events } = options;
  const state = states.of(request.key);
  for (let retries = 0; ; retries += 1) {
    const { length: attemptsBefore } = request.log.attempts;
    try {
      const response = await next(request);
      state.retryBudget.succeeded();
      return response;
    } catch (error) {
      // Not sent, because the service is down and the call may not wait: a retry would not be sent either.
      if (request.log.attempts.length === attemptsBefore) throw error;
      const waitMs = waitAfterFailure(error, request, { state, retries, ...options });
      const until = new Date(clock.now() + waitMs);
      events.retry(state, {
        request,
        error: error as RetryableError,
        waitMs,
        until,
        retry: request.log.attempts.length,
      });
      await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
      request.log.endWait(waitMs);
      request.log.nextAttemptBecause('retry');
    }
  }
}

interface FailedAttempt extends RetryOptions {
  readonly state: KeyState;
  /** Retries of the call before this one. */
  readonly retries: number;
}

/** Milliseconds to wait before the retry. @throws the error itself if it is not retried */
function waitAfterFailure(
  error: unknown,
  { settings, signal, deadlineAt }: KeyedRequest,
  { retries, state: { limiter, retryBudget }, time, random, maxRetryAfterMs }: FailedAttempt,
): number {
  if (!isRetryable(error) || retries >= settings.maxRetries || signal.aborted) throw error;
  const hintMs = retryAfterMs(error.retryAfter, limiter.retryAfterUnit) ?? 0;
  const waitMs = Math.max(hintMs, equalJitter(backoffMs(retries, RETRY_BACKOFF), random));
  const isTooLong = hintMs > Math.min(maxRetryAfterMs, LONGEST_OUTAGE_MS) || time.now() + waitMs >= deadlineAt();
  // During an outage, the limiter allows few attempts, and each is a retry.
  if (isTooLong || !(limiter.isServiceDown || retryBudget.take())) throw error;
  return waitMs;
}

type RetryableError = NetworkError | RequestError | ServerError | TimeoutError;

function isRetryable(error: unknown): error is RetryableError {
  if (error instanceof NetworkError) return !isPermanent(error.code);
  if (error instanceof TimeoutError) return error.scope === 'attempt';
  return (error instanceof ServerError || error instanceof RequestError) && RETRYABLE_STATUSES.includes(error.status);
}
