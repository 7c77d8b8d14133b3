import type { Clock } from '../clock.ts';
import { FxRatesError } from '../errors/fxrates-error.ts';
import { QuotaExhaustedError } from '../errors/quota-exhausted-error.ts';
import { RateLimitError } from '../errors/rate-limit-error.ts';
import { wasNeverSent } from '../errors/was-never-sent.ts';
import type { ClientEvents } from '../events.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Permit } from '../limits/permit.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { QuotaStop } from '../quota/quota-stop.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { Audience } from '../state/audience.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError } from './limited-error.ts';

interface RateLimitMiddlewareOptions {
  readonly clock: Clock;
  readonly states: KeyStates;
  readonly events: ClientEvents;
}

/** A 429, the permit it used up, and the wait that its Retry-After asks for. */
interface Refusal {
  readonly permit: Permit;
  readonly error: RateLimitError;
  readonly waitMs: number | undefined;
}

/**
 * Sends a call when the limit of its key has room for it. A call that the service refuses all the same (429) goes back
 * to the head of the line; only its own deadline or signal ends that.
 */
export function rateLimit(options: RateLimitMiddlewareOptions) {
  return (next: Handler): Handler =>
    (request) => {
      const { limiter, audience, quotaStop } = options.states.of(request.key);
      return limiter === undefined
        ? next(request)
        : sendQueued(request, { next, limiter, audience, quotaStop, ...options });
    };
}

async function sendQueued(request: KeyedRequest, queue: Queue): Promise<ApiResponse> {
  const stopIfExhausted = () => request.endpoint.consumesQuota && queue.quotaStop.check();
  let refusal: Refusal | undefined;
  for (;;) {
    stopIfExhausted();
    const permit = await admit(request, { refusal, ...queue });
    if (request.signal.aborted) permit.unused(); // everybody left in the moment it was granted; `send` says so
    const outcome = await attempt(permit, () => {
      stopIfExhausted(); // others may have found that out while this call waited
      return queue.next(request);
    });
    if ('rawBody' in outcome) return outcome;
    if (request.settings.onLimit === 'throw') throw refusedByPolicy(outcome, request, queue.clock.now());
    refusal = outcome;
    request.log.again('rate_limited');
  }
}

interface Queue extends RateLimitMiddlewareOptions {
  readonly next: Handler;
  readonly limiter: RateLimiter;
  readonly audience: Audience;
  readonly quotaStop: QuotaStop;
}

async function admit(
  request: KeyedRequest,
  { limiter, audience, refusal, clock, events }: Queue & { readonly refusal: Refusal | undefined },
): Promise<Permit> {
  const { signal, deadlineAt, settings } = request;
  const askedAt = clock.now();
  audience.join(events);
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
    throw limitedError({ reason, retryAtMs, nowMs: clock.now(), request, refused: refusal?.error });
  } finally {
    audience.leave(events);
    request.log.waited(clock.now() - askedAt);
  }
}

/** Sends once and reports on the permit, whatever happens. */
async function attempt(permit: Permit, send: () => Promise<ApiResponse>): Promise<ApiResponse | Refusal> {
  try {
    const response = await send();
    permit.ok({ date: response.headers.get('date') });
    return response;
  } catch (error) {
    if (error instanceof RateLimitError) {
      const reading = permit.limited({ retryAfter: error.retryAfterRaw, date: error.headers?.get('date') });
      return { permit, error, waitMs: reading?.waitMs };
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

function refusedByPolicy({ error, waitMs }: Refusal, request: KeyedRequest, nowMs: number): RateLimitError {
  const retryAtMs = waitMs === undefined ? undefined : nowMs + waitMs;
  return limitedError({ reason: 'policy', retryAtMs, nowMs, request, refused: error });
}
