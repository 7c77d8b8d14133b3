import type { Clock } from '../clock.ts';
import { FxRatesError } from '../errors/fxrates-error.ts';
import { QuotaExhaustedError } from '../errors/quota-exhausted-error.ts';
import { RateLimitError } from '../errors/rate-limit-error.ts';
import { wasNeverSent } from '../errors/was-never-sent.ts';
import type { ClientEvents } from '../events.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Permit } from '../limits/permit.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { RetryAfterReading } from '../limits/retry-after-reader.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError } from './limited-error.ts';

interface RateLimitMiddlewareOptions {
  readonly clock: Clock;
  readonly states: KeyStates;
  readonly events: ClientEvents;
}

/** A 429, the permit it used up, and what its Retry-After asks for. */
interface Refusal {
  readonly permit: Permit;
  readonly error: RateLimitError;
  readonly reading: RetryAfterReading | undefined;
}

/**
 * Sends a call when the limit of its key has room for it. A call that the service refuses all the same (429) goes back
 * to the head of the line; only its own deadline or signal ends that.
 */
export function rateLimit({ clock, states, events }: RateLimitMiddlewareOptions) {
  return (next: Handler): Handler =>
    (request) => {
      const state = states.of(request.key);
      const { limiter } = state;
      return limiter === undefined ? next(request) : sendQueued(request, { next, state, limiter, clock, events });
    };
}

interface Queue extends Omit<RateLimitMiddlewareOptions, 'states'> {
  readonly next: Handler;
  readonly state: KeyState;
  readonly limiter: RateLimiter;
}

async function sendQueued(request: KeyedRequest, queue: Queue): Promise<ApiResponse> {
  const { state, clock } = queue;
  const stopIfExhausted = () => request.endpoint.consumesQuota && state.quotaStop.check();
  let refusal: Refusal | undefined;
  for (;;) {
    stopIfExhausted();
    const permit = await admit(request, { refusal, queue });
    if (request.signal.aborted) permit.unused(); // everybody left in the moment it was granted; `send` says so
    const send = () => {
      stopIfExhausted(); // others may have found that out while this call waited
      return queue.next(request);
    };
    const outcome = await attempt(permit, send, queue);
    if ('rawBody' in outcome) return outcome;
    if (request.settings.onLimit === 'throw') throw refusedByPolicy(outcome, request, { state, nowMs: clock.now() });
    refusal = outcome;
    request.log.again('rate_limited');
  }
}

async function admit(
  request: KeyedRequest,
  { refusal, queue }: { readonly refusal: Refusal | undefined; readonly queue: Queue },
): Promise<Permit> {
  const { state, limiter, clock, events } = queue;
  const { signal, deadlineAt, settings } = request;
  const { audience, unitNotice } = state;
  const askedAt = clock.now();
  audience.join(events);
  request.log.waits(slotOf(limiter, { isFirst: refusal !== undefined }));
  try {
    return await limiter.acquire({
      signal,
      deadlineAt,
      wait: settings.onLimit === 'wait',
      retryOf: refusal?.permit,
    });
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    const { reason, retryAt: retryAtMs } = error;
    const unit = unitNotice.belief;
    throw limitedError({ reason, retryAtMs, nowMs: clock.now(), request, unit, refused: refusal?.error });
  } finally {
    audience.leave(events);
    request.log.waited(clock.now() - askedAt);
  }
}

/** When a call that joins the line now will be sent, as far as is known, now and later; `isFirst`: at its head. */
function slotOf(limiter: RateLimiter, { isFirst }: { readonly isFirst: boolean }): () => number {
  const seenAtMs = isFirst ? 0 : limiter.limits().nextSlotAt;
  return () => {
    const { gate, nextSlotAt } = limiter.limits();
    // Since then those ahead may have left, which makes the slot an earlier one, or the gate may have shut.
    return Math.max(gate === 'open' ? 0 : gate.until, Math.min(seenAtMs, nextSlotAt));
  };
}

/** Sends once and reports on the permit, whatever happens. */
async function attempt(
  permit: Permit,
  send: () => Promise<ApiResponse>,
  { state, events }: Queue,
): Promise<ApiResponse | Refusal> {
  try {
    const response = await send();
    permit.ok({ date: response.headers.get('date') });
    return response;
  } catch (error) {
    if (error instanceof RateLimitError) {
      const { retryAfterRaw: retryAfter, headers } = error;
      const reading = permit.limited({ retryAfter, date: headers?.get('date') });
      if (reading) state.unitNotice.saw(reading, retryAfter, events);
      return { permit, error, reading };
    }
    reportFailure(permit, error);
    throw error;
  }
}

function reportFailure(permit: Permit, error: unknown): void {
  const isLocal = error instanceof QuotaExhaustedError && error.local;
  if (isLocal || wasNeverSent(error)) permit.unused();
  else if (error instanceof FxRatesError && error.status !== undefined) permit.ok({ date: error.headers?.get('date') });
  else permit.lost();
}

function refusedByPolicy(
  { error, reading }: Refusal,
  request: KeyedRequest,
  { state, nowMs }: { readonly state: KeyState; readonly nowMs: number },
): RateLimitError {
  const retryAtMs = reading?.waitMs === undefined ? undefined : nowMs + reading.waitMs;
  const unit = state.unitNotice.belief;
  return limitedError({ reason: 'policy', retryAtMs, nowMs, request, unit, refused: error });
}
