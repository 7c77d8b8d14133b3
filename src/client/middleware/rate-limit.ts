import type { SteadyTime } from '../clock.ts';
import { AbortError, FxRatesError, NetworkError, RateLimitError, TimeoutError } from '../errors/errors.ts';
import { isPermanent, wasNeverSent } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import { Permit } from '../limits/in-flight.ts';
import type { RetryAfterReading } from '../limits/limit-rules.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { AcquireOptions } from '../limits/request-queue.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
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

/** Others that share the key can cause a refusal. */
const MOST_LOOKUP_ATTEMPTS = 2;

/** Sent by a proxy in front of the service: the request was not counted. */
const NOT_COUNTED_STATUSES: readonly (number | undefined)[] = [502, 503];

/**
 * Sends a call when the limit of its key has a free slot. A call that the service still refuses (429) returns to the head
 * of the queue, until its deadline or signal ends it. With `rateLimit: false`, calls wait only after their own refusal.
 */
export function rateLimit({ states, ...options }: RateLimitMiddlewareOptions) {
  return (next: Handler): Handler =>
    (request) => {
      const state = states.of(request.key);
      return sendQueued(request, { next, state, limiter: state.limiter, ...options });
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
    if (!waitsAfterRefusal(request)) throw refusedByPolicy(outcome, request, { state, time });
    refusal = outcome;
    if (!queue.limiter.holdsBack) reportWaitOfCall(outcome, request, { permit, ...queue });
    request.log.nextAttemptBecause('rate_limited');
  }
}

function waitsAfterRefusal({ endpoint, settings, log }: KeyedRequest): boolean {
  // At the head of the queue, a `quota()` that is always refused would block all calls.
  const isLookupOver = endpoint.purpose === 'limit' && log.attempts.length >= MOST_LOOKUP_ATTEMPTS;
  return settings.onLimit === 'wait' && !isLookupOver;
}

/** Without a queue, many refused calls would make many requests: each uses the retry budget. @throws RateLimitError */
function reportWaitOfCall(
  { error }: RefusedAttempt,
  request: KeyedRequest,
  { permit, state, time, events }: Pick<Queue, 'state' | 'time' | 'events'> & { readonly permit: Permit },
): void {
  const [now, nowMs, until] = [time.now(), time.toEpoch(time.now()), time.toEpoch(permit.retryAt)];
  const unit = state.unitTracker.estimate;
  if (permit.retryAt >= request.deadlineAt()) return; // `acquire` rejects the call
  if (!state.retryBudget.take()) {
    throw limitedError({ reason: 'budget', retryAtMs: until, nowMs, request, unit, refused: error });
  }
  const retry = request.log.attempts.length;
  events.retry(state, { request, error, waitMs: permit.retryAt - now, until: new Date(until), retry });
}

async function waitForSlot(
  slot: AcquireOptions,
  request: KeyedRequest,
  { refusal, queue }: { readonly refusal: RefusedAttempt | undefined; readonly queue: Queue },
): Promise<Permit> {
  const { state, limiter, time, events } = queue;
  const { log } = request;
  const { subscribers, unitTracker } = state;
  const askedAt = time.now();
  subscribers.join(events);
  log.startWait(limiter.nextSlotCheck(slot));
  try {
    const acquired = limiter.acquire(slot);
    lookUpLimit(request, queue);
    const sent = await acquired;
    lookUpLimit(request, queue);
    if (sent instanceof Permit) return sent;
    const { retryAt: retryAtMs } = sent;
    const nowMs = time.toEpoch(time.now());
    if ('failure' in sent) throw unavailableError(sent, { request, waitMs: retryAtMs - nowMs });
    const unit = unitTracker.estimate;
    throw limitedError({ reason: sent.reason, retryAtMs, nowMs, request, unit, refused: refusal?.error });
  } finally {
    subscribers.leave(events);
    log.endWait(time.now() - askedAt);
  }
}

/** Calls `quota()` if the limiter wants the limit of the plan. */
function lookUpLimit(request: KeyedRequest, { limiter, state, fetchLimit }: Queue): void {
  const isOfProgram = request.endpoint.purpose === undefined;
  if (isOfProgram && limiter.isLimitWanted) state.limitLookup.start(() => fetchLimit(request));
}

/** Sends once and reports every outcome to the permit. */
async function attempt(
  permit: Permit,
  send: () => Promise<ApiResponse>,
  { state, events }: Queue,
): Promise<ApiResponse | RefusedAttempt> {
  try {
    const response = await send();
    permit.ok();
    return response;
  } catch (error) {
    if (error instanceof RateLimitError) {
      const reading = permit.limited(error.retryAfter);
      if (reading) state.unitTracker.saw(reading, error.retryAfter, events);
      return { error, reading };
    }
    reportFailure(permit, error, state.limiter);
    throw error;
  }
}

function reportFailure(permit: Permit, error: unknown, limiter: RateLimiter): void {
  if (!(error instanceof FxRatesError)) permit.unused();
  else if (error instanceof AbortError) permit.lost();
  else if (isOutage(error)) {
    const { status } = error;
    const wasSent = status !== undefined || !wasNeverSent(error);
    const mayHaveCounted = wasSent && !NOT_COUNTED_STATUSES.includes(status);
    const hintMs = retryAfterMs(error.retryAfter, limiter.retryAfterUnit);
    permit.failed({ hintMs, wasSent, mayHaveCounted, isTimeout: error instanceof TimeoutError, error });
  } else if (error.status !== undefined) permit.ok();
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
