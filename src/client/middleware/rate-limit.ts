import type { SteadyTime } from '../clock.ts';
import { AbortError, FxRatesError, NetworkError, RateLimitError, TimeoutError } from '../errors/errors.ts';
import { isPermanent, wasNeverSent } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import { LimitError, type Permit } from '../limits/permit.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { AcquireOptions } from '../limits/request-queue.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError, unavailableError } from './limited-error.ts';

interface RateLimitMiddlewareOptions {
  readonly time: SteadyTime;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  /** Calls `quota()` in the queue of the call's key, before the other calls. */
  readonly fetchLimit: (request: KeyedRequest) => Promise<unknown>;
}

/** A 429 and its parsed Retry-After. */
interface RefusedAttempt {
  readonly error: RateLimitError;
  readonly reading: RetryAfterReading | undefined;
}

/** Others that share the key can cause a few refusals. */
const MOST_LOOKUP_ATTEMPTS = 4;

/** Sent by a proxy in front of the service: the request was not counted. */
const NOT_COUNTED_STATUSES: readonly number[] = [502, 503];

/**
 * Sends a call when the limit of its key has a free slot. A call that the service still refuses (429) returns to the head
 * of the queue, until its deadline or signal ends it.
 */
export function rateLimit({ states, ...options }: RateLimitMiddlewareOptions) {
  return (next: Handler): Handler =>
    (request) => {
      const state = states.of(request.key);
      const { limiter } = state;
      return limiter === undefined ? next(request) : sendQueued(request, { next, state, limiter, ...options });
    };
}

interface Queue extends Omit<RateLimitMiddlewareOptions, 'states'> {
  readonly next: Handler;
  readonly state: KeyState;
  readonly limiter: RateLimiter;
}

async function sendQueued(request: KeyedRequest, queue: Queue): Promise<ApiResponse> {
  const { state, time } = queue;
  const stopIfExhausted = () => request.endpoint.consumesQuota && state.exhaustedLatch.check();
  let refusal: RefusedAttempt | undefined;
  state.subscribers.warnPending(queue.events);
  for (;;) {
    stopIfExhausted();
    const slot = {
      signal: request.signal,
      deadlineAt: request.deadlineAt,
      wait: request.settings.onLimit === 'wait',
      priority: request.settings.priority,
      retryOf: request.log.permit,
    } as const;
    const permit = queue.limiter.tryAcquire(slot) ?? (await waitForSlot(slot, request, { refusal, queue }));
    request.log.permit = permit;
    if (request.signal.aborted) permit.unused(); // the last caller aborted at the moment of the grant; `send` rejects
    const send = () => {
      stopIfExhausted(); // another call may have set the latch during the wait
      return queue.next(request);
    };
    const outcome = await attempt(permit, send, queue);
    if ('rawBody' in outcome) return outcome;
    // At the head of the queue, a `quota()` that is always refused would block all calls.
    const isLookupOver = request.endpoint.purpose === 'limit' && request.log.attempts.length >= MOST_LOOKUP_ATTEMPTS;
    if (request.settings.onLimit === 'throw' || isLookupOver) {
      throw refusedByPolicy(outcome, request, { state, time });
    }
    refusal = outcome;
    request.log.nextAttemptBecause('rate_limited');
  }
}

async function waitForSlot(
  slot: AcquireOptions,
  request: KeyedRequest,
  { refusal, queue }: { readonly refusal: RefusedAttempt | undefined; readonly queue: Queue },
): Promise<Permit> {
  const { state, limiter, time, events, fetchLimit } = queue;
  const { log, endpoint } = request;
  const { subscribers, unitTracker, limitLookup } = state;
  const askedAt = time.now();
  subscribers.join(events);
  log.startWait(limiter.nextSlotCheck(slot));
  if (endpoint.purpose === undefined) limitLookup.fetch = () => fetchLimit(request);
  try {
    return await limiter.acquire(slot);
  } catch (error) {
    if (!LimitError.is(error)) throw error;
    const { reason, retryAt, isServiceDown } = error;
    const nowMs = time.toEpoch(time.now());
    if (isServiceDown || reason === 'outage') throw unavailableError(error, { request, waitMs: retryAt - nowMs });
    const unit = unitTracker.estimate;
    throw limitedError({ reason, retryAtMs: retryAt, nowMs, request, unit, refused: refusal?.error });
  } finally {
    subscribers.leave(events);
    log.endWait(time.now() - askedAt);
  }
}

/** Sends once and reports every outcome to the permit. */
async function attempt(
  permit: Permit,
  send: () => Promise<ApiResponse>,
  { state, events }: Queue,
): Promise<ApiResponse | RefusedAttempt> {
  try {
    const response = await send();
    permit.ok({ date: response.headers.get('date') });
    return response;
  } catch (error) {
    if (error instanceof RateLimitError) {
      const { retryAfterRaw: retryAfter, headers } = error;
      const reading = permit.limited({ retryAfter, date: headers?.get('date') });
      if (reading) state.unitTracker.saw(reading, retryAfter, events);
      return { error, reading };
    }
    reportFailure(permit, error);
    throw error;
  }
}

function reportFailure(permit: Permit, error: unknown): void {
  if (!(error instanceof FxRatesError)) permit.unused();
  else if (error instanceof AbortError) permit.lost();
  else if (isOutage(error)) {
    const { status, headers } = error;
    const mayHaveCounted = status === undefined ? !wasNeverSent(error) : !NOT_COUNTED_STATUSES.includes(status);
    const [retryAfter, date] = [headers?.get('retry-after'), headers?.get('date')];
    permit.failed({ retryAfter, date, mayHaveCounted, isTimeout: error instanceof TimeoutError, error });
  } else if (error.status !== undefined) permit.ok({ date: error.headers?.get('date') });
  else permit.unused();
}

/** Whether an error counts as a failure of the service. */
function isOutage(error: FxRatesError): boolean {
  if (error instanceof NetworkError) return !isPermanent(error.code);
  return error instanceof TimeoutError || (error.status ?? 0) >= 500;
}

function refusedByPolicy(
  { error, reading }: RefusedAttempt,
  request: KeyedRequest,
  { state, time }: { readonly state: KeyState; readonly time: SteadyTime },
): RateLimitError {
  const nowMs = time.toEpoch(time.now());
  const retryAtMs = reading?.waitMs === undefined ? undefined : nowMs + reading.waitMs;
  const unit = state.unitTracker.estimate;
  return limitedError({ reason: 'policy', retryAtMs, nowMs, request, unit, refused: error });
}
