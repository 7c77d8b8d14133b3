import { abortable } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import { NetworkError, RequestError, ServerError, TimeoutError } from '../errors/errors.ts';
import { isCertificateProblem } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from '../limits/retry-after.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import { settle } from '../request.ts';
import { backoffMs } from '../retry-policy.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { SteadyTime } from '../steady-time.ts';

const RETRYABLE_STATUSES: readonly (number | undefined)[] = [408, 500, 502, 503, 504];

interface RetryOptions {
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
}

/**
 * Sends a failed request again: every operation is a GET, so that is always safe. A 429 never comes here; `rateLimit`,
 * which is inside, waits for those.
 */
export function retry(options: RetryOptions) {
  return (next: Handler): Handler => {
    const sender = { next, ...options };
    return (request) => sendPersistently(request, sender);
  };
}

interface Sender extends RetryOptions {
  readonly next: Handler;
}

async function sendPersistently(request: KeyedRequest, sender: Sender): Promise<ApiResponse> {
  const { next, clock, states, events } = sender;
  const state = states.of(request.key);
  const { retryBudget } = state;
  for (let retries = 0; ; retries += 1) {
    const outcome = await settle(next(request));
    if ('rawBody' in outcome) {
      retryBudget.succeeded();
      return outcome;
    }
    const { error } = outcome;
    const waitMs = waitBeforeRetry(error, request, { retries, state, ...sender });
    // While the service is down, its probes are few, and each is a retry.
    if (waitMs === undefined || !(state.limiter?.isServiceDown || retryBudget.take())) throw error;
    const until = new Date(clock.now() + waitMs);
    events.retry(state, { request, error: error as RetryableError, waitMs, until, retry: retries + 1 });
    await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
    request.log.waited(waitMs);
    request.log.again('retry');
  }
}

interface Retry extends RetryOptions {
  readonly retries: number;
  readonly state: KeyState;
}

/** Milliseconds to wait before the request is sent again; `undefined` when it is not. */
function waitBeforeRetry(
  error: unknown,
  { settings, signal, deadlineAt }: KeyedRequest,
  { retries, state, clock, time, random, maxRetryAfterMs }: Retry,
): number | undefined {
  if (!isRetryable(error) || retries >= settings.maxRetries || signal.aborted) return undefined;
  const hintMs = hintOf(error, { unit: state.limiter?.retryAfterUnit ?? 'seconds', serverNowMs: clock.now() });
  const waitMs = Math.max(hintMs, backoffMs(retries, random));
  const isTooLong = hintMs > maxRetryAfterMs || time.now() + waitMs >= deadlineAt();
  return isTooLong ? undefined : waitMs;
}

type RetryableError = NetworkError | ServerError | RequestError | TimeoutError;

function isRetryable(error: unknown): error is RetryableError {
  if (error instanceof NetworkError) return !isCertificateProblem(error.code);
  if (error instanceof TimeoutError) return error.scope === 'attempt';
  return (error instanceof ServerError || error instanceof RequestError) && RETRYABLE_STATUSES.includes(error.status);
}

/** Milliseconds that a 503 asks to wait (RFC 9110 §10.2.3: seconds or a date); 0 when it does not say. */
function hintOf(
  { headers }: RetryableError,
  reading: { readonly unit: RetryAfterUnit; readonly serverNowMs: number },
): number {
  const date = headers?.get('date') ?? undefined;
  return retryAfterMs(parseRetryAfter(headers?.get('retry-after') ?? undefined), { ...reading, date }) ?? 0;
}
