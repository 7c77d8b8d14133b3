import type { SteadyTime } from '../clock.ts';
import { lastSlotAt, slotAt } from './grant.ts';
import type { InFlight } from './in-flight.ts';
import type { LimiterCore, LimiterSettings } from './limiter-core.ts';
import { burstOf, type LimiterView, perMinuteOf, windowName } from './limiter-view.ts';
import { LimitError, type LimitReason } from './permit.ts';

export interface AdmissionParts {
  readonly core: LimiterCore;
  readonly inFlight: InFlight;
  readonly settings: LimiterSettings;
  readonly time: SteadyTime;
}

/**
 * Decides when a call can be sent, from the limit and the state of the service, and which calls are rejected instead of
 * waiting.
 */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** The time before which no request is sent, because of a refusal or an outage. */
  get closedUntil(): number {
    const { core, inFlight } = this.#parts;
    const closedUntil = Math.max(core.state.gate.opensAt, core.state.blockedUntil) - core.aheadMs;
    const { isDown, retryAt } = inFlight.health;
    return isDown ? Math.max(closedUntil, retryAt) : closedUntil;
  }

  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number): number {
    const { core, inFlight, settings } = this.#parts;
    const { isDown, retryAt } = inFlight.health;
    const at = slotAt(core.state, now + core.aheadMs, { ahead, mayProbe: settings.probe }) - core.aheadMs;
    return Math.max(at, isDown ? retryAt : now, now);
  }

  /**
   * Estimated milliseconds until `calls` calls have a response, with at most `concurrency` of them in flight at once.
   * The limit or the service determines the time, whichever is slower. `calls` includes those in flight.
   */
  etaMs(calls: number, concurrency: number): number {
    const { core, inFlight, time } = this.#parts;
    const now = time.now();
    const { isDown, retryAt } = inFlight.health;
    const unsent = calls - inFlight.size;
    const slotAt = unsent > 0 ? lastSlotAt(core.state, now + core.aheadMs, unsent) - core.aheadMs : now;
    const lastAt = unsent > 0 ? Math.max(slotAt, isDown ? retryAt : now, now) : now;
    const byService = Math.ceil(calls / Math.min(inFlight.maxConcurrent, concurrency)) * inFlight.roundTripMs;
    return Math.ceil(Math.max(lastAt - now + inFlight.roundTripMs, byService));
  }

  /** Why a call does not wait; `undefined` if it does. */
  rejectionFor(ahead: number, waits: boolean, deadlineAt: number): LimitError | undefined {
    const now = this.#parts.time.now();
    const tooLong = this.tooLongWait(now);
    if (tooLong) return tooLong;
    const slotAt = this.slotAt(now, ahead);
    if (slotAt > deadlineAt) return this.limitError('deadline', slotAt);
    return !waits && slotAt > now ? this.limitError('policy', slotAt) : undefined;
  }

  /**
   * The error if a longer quota than that of the window is used up, or the service asked for a long pause: no call
   * waits for that.
   */
  tooLongWait(now: number): LimitError | undefined {
    const { core, inFlight, settings } = this.#parts;
    const blockedUntil = core.state.blockedUntil - core.aheadMs;
    if (blockedUntil > now) return this.limitError('max_retry_after', blockedUntil);
    const { isDown, retryAt } = inFlight.health;
    if (isDown && retryAt - now > settings.maxRetryAfterMs) return this.limitError('unavailable', retryAt);
    return undefined;
  }

  limitError(reason: LimitReason, retryAt: number): LimitError {
    const { inFlight, time } = this.#parts;
    const isForService = inFlight.health.isDown && retryAt <= inFlight.health.retryAt;
    const retryAtEpoch = Math.ceil(time.toEpoch(retryAt));
    return isForService
      ? new LimitError('unavailable', retryAtEpoch, { cause: inFlight.lastFailure })
      : new LimitError(reason, retryAtEpoch);
  }

  /** The result of `limits()`, without the history. */
  view(waiting: number): Omit<LimiterView, 'history'> {
    const { core, inFlight, time } = this.#parts;
    const now = time.now();
    const { isDown, retryAt } = inFlight.health;
    const { closedUntil } = this;
    const dateOf = (at: number) => new Date(time.toEpoch(at));
    return {
      gate: closedUntil > now && !isDown ? { until: dateOf(closedUntil) } : 'open',
      service: isDown ? { downUntil: dateOf(retryAt) } : 'up',
      waiting,
      inFlight: inFlight.size,
      maxConcurrent: inFlight.maxConcurrent,
      perMinute: perMinuteOf(core.state),
      window: windowName(core.state),
      burst: burstOf(core.state),
      nextSlotAt: dateOf(this.slotAt(now, waiting)),
    };
  }
}
