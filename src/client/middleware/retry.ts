import { abortable } from '../cancellation.ts';
import type { Clock, SteadyTime } from '../clock.ts';
import {
  NetworkError,
  RateLimitError,
  type RateLimitReason,
  RequestError,
  ServerError,
  TimeoutError,
} from '../errors/errors.ts';
import { isPermanent } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import {
  parseRetryAfter,
  type RetryAfterUnit,
  retryAfterMs,
  unitOf,
  weighAcceptance,
  weighRefusal,
} from '../limits/retry-after.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError } from './limited-error.ts';

const RETRYABLE_STATUSES: readonly (number | undefined)[] = [408, 500, 502, 503, 504];

interface RetryOptions {
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

interface Sender extends RetryOptions {
  readonly next: Handler;
}

/**
 * Retries a failed request, which is safe because every operation is a GET. With `rateLimit: false`, it also retries a 429
 * after its Retry-After, limited by the deadline and the retry budget of the key. Otherwise `rateLimit`, which runs inside,
 * has handled the 429.
 */
export function retry(options: RetryOptions) {
  return (next: Handler): Handler => {
    const sender = { next, ...options };
    return (request) => sendWithRetries(request, sender);
  };
}

async function sendWithRetries(request: KeyedRequest, sender: Sender): Promise<ApiResponse> {
  const { next, states, time } = sender;
  const state = states.of(request.key);
  const failures = { retries: 0, refusals: 0 };
  for (;;) {
    const sentAt = time.now();
    try {
      const response = await next(request);
      state.retryBudget.succeeded();
      state.unit = weighAcceptance(state.unit, sentAt);
      return response;
    } catch (error) {
      await waitBeforeRetry(error, request, { state, sentAt, failures, ...sender });
    }
  }
}

interface FailedAttempt extends RetryOptions {
  readonly state: KeyState;
  readonly sentAt: number;
  /** The failed attempts of the call before this one: those with a 429, and the others. */
  readonly failures: { retries: number; refusals: number };
}

/** @throws the error if the call is not sent again */
async function waitBeforeRetry(error: unknown, request: KeyedRequest, failed: FailedAttempt): Promise<void> {
  const { state, failures, clock, events } = failed;
  const isRefusal = state.limiter === undefined && error instanceof RateLimitError;
  const waitMs = isRefusal ? waitAfterRefusal(error, request, failed) : waitAfterFailure(error, request, failed);
  failures[isRefusal ? 'refusals' : 'retries'] += 1;
  const until = new Date(clock.now() + waitMs);
  const retry = failures.retries + failures.refusals;
  events.retry(state, { request, error: error as RetryableError, waitMs, until, retry });
  await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
  request.log.waited(waitMs);
  request.log.again(isRefusal ? 'rate_limited' : 'retry');
}

/** Milliseconds to wait before the retry. @throws the error itself if it is not retried */
function waitAfterFailure(
  error: unknown,
  { settings, signal, deadlineAt }: KeyedRequest,
  { failures: { retries }, state, clock, time, random, maxRetryAfterMs, retryAfterUnit }: FailedAttempt,
): number {
  if (!isRetryable(error) || retries >= settings.maxRetries || signal.aborted) throw error;
  const unit = state.limiter?.retryAfterUnit ?? unitOf(state.unit, retryAfterUnit);
  const hintMs = hintOf(error, { unit, serverNowMs: clock.now() });
  const waitMs = Math.max(hintMs, backoffMs(retries, random));
  const isTooLong = hintMs > maxRetryAfterMs || time.now() + waitMs >= deadlineAt();
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

/** Milliseconds to wait after a 429. @throws RateLimitError with the reason, if the call does not wait */
function waitAfterRefusal(
  error: RateLimitError,
  request: KeyedRequest,
  {
    state,
    sentAt,
    failures: { refusals },
    clock,
    time,
    random,
    events,
    maxRetryAfterMs,
    retryAfterUnit,
  }: FailedAttempt,
): number {
  const { unitTracker, retryBudget } = state;
  const nowMs = clock.now();
  const reading = readRefusal(state, error, { sentAt, nowMs, time, retryAfterUnit });
  unitTracker.saw(reading, error.retryAfterRaw, events);
  const hintMs = reading.waitMs;
  const waitMs = hintMs === undefined ? unhintedLimitMs(refusals, random) : hintedLimitMs(hintMs, random);
  const isTooLong = hintMs !== undefined && hintMs > maxRetryAfterMs;
  const reason =
    whyNotWait(request, { isTooLong, readyAt: time.now() + waitMs }) ?? (retryBudget.take() ? undefined : 'budget');
  if (reason === undefined) return waitMs;
  const unit = unitTracker.estimate;
  throw limitedError({ reason, retryAtMs: nowMs + (hintMs ?? waitMs), nowMs, request, unit, refused: error });
}

function readRefusal(
  state: KeyState,
  { retryAfterRaw, headers }: RateLimitError,
  {
    sentAt,
    nowMs,
    time,
    retryAfterUnit,
  }: Pick<FailedAttempt, 'sentAt' | 'time' | 'retryAfterUnit'> & { nowMs: number },
): RetryAfterReading {
  const parsed = parseRetryAfter(retryAfterRaw);
  if (retryAfterUnit === 'auto') state.unit = weighRefusal(state.unit, parsed, { sentAt, now: time.now() });
  const unit = parsed?.form === 'integer' ? unitOf(state.unit, retryAfterUnit, parsed.value) : 'seconds';
  return {
    waitMs: retryAfterMs(parsed, { unit, date: headers?.get('date') ?? undefined, serverNowMs: nowMs }),
    unit,
    evidence: retryAfterUnit === 'auto' ? state.unit.evidence : 'set',
  };
}

function whyNotWait(
  { settings, deadlineAt }: KeyedRequest,
  { isTooLong, readyAt }: { readonly isTooLong: boolean; readonly readyAt: number },
): RateLimitReason | undefined {
  if (settings.onLimit === 'throw') return 'policy';
  if (isTooLong) return 'max_retry_after';
  return readyAt >= deadlineAt() ? 'deadline' : undefined;
}

const FIRST_MS = 500;
const LONGEST_MS = 8000;
const FIRST_WITHOUT_HINT_MS = 5000;
const LONGEST_WITHOUT_HINT_MS = 60_000;
const SHORTEST_SPREAD_MS = 250;
const LONGEST_SPREAD_MS = 1000;

/**
 * Milliseconds before retry number `retry` (0 for the first): 0.5 s · 2^n, at most 8 s, equal jitter. Full jitter can
 * be close to zero, and all retries could then fall into one outage.
 */
export function backoffMs(retry: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_MS, FIRST_MS * 2 ** retry), random);
}

/** Milliseconds to wait after a 429 without Retry-After: 5 s · 2^n, at most 60 s, equal jitter. */
export function unhintedLimitMs(refusals: number, random: () => number): number {
  return equalJitter(Math.min(LONGEST_WITHOUT_HINT_MS, FIRST_WITHOUT_HINT_MS * 2 ** refusals), random);
}

/**
 * Milliseconds to wait after a 429 with Retry-After: never less, and a random time more, so that clients with the same
 * Retry-After do not retry at the same moment.
 */
export function hintedLimitMs(hintMs: number, random: () => number): number {
  const spreadMs = Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, hintMs / 10));
  return Math.ceil(Math.max(hintMs, SHORTEST_SPREAD_MS) + random() * spreadMs);
}

function equalJitter(ms: number, random: () => number): number {
  return Math.ceil(ms / 2 + (random() * ms) / 2);
}
