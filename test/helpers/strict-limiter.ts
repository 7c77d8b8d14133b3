import type { RetryAfter } from '../../src/client/errors/errors.ts';
import { Permit } from '../../src/client/limits/in-flight.ts';
import type { LimiterSettings } from '../../src/client/limits/limit-state.ts';
import { initialState, type LimiterState } from '../../src/client/limits/limit-state.ts';
import { type NotSent, RateLimiter, type RateLimiterOptions } from '../../src/client/limits/rate-limiter.ts';
import type { AcquireOptions } from '../../src/client/limits/request-queue.ts';
import { parseRetryAfter } from '../../src/client/limits/retry-after.ts';
import { Cancellation } from '../../src/client/time/abort.ts';
import type { Clock } from '../../src/client/time/clock.ts';
import { FakeClock } from './fake-clock.ts';

export const DEFAULT_LIMITER_SETTINGS: LimiterSettings = {
  perMinute: 'learn',
  maxConcurrent: 16,
  maxRetryAfterMs: 600_000,
  retryAfterUnit: 'auto',
};

const USUAL_CALL = {
  due: { deadlineAt: Number.POSITIVE_INFINITY },
  priority: 'normal',
  waits: true,
  isOwn: false,
  isFree: false,
  retryOf: undefined,
} as const;

/** A call that the limiter did not send, with the reason. */
export class NotSentError extends Error {
  /** By the clock of the limiter. */
  readonly retryAt: number;

  constructor({ waitMs, ...why }: NotSent, now: number) {
    super(why.reason);
    this.retryAt = now + waitMs;
    Object.assign(this, why);
  }
}

/** A limiter whose `acquire` rejects a call that is not sent, so that a test can await a permit. */
export class StrictLimiter extends RateLimiter {
  readonly #clock: Clock;

  constructor(options: Partial<RateLimiterOptions> & Pick<RateLimiterOptions, 'clock'>) {
    super({ ...DEFAULT_LIMITER_SETTINGS, random: Math.random, ...options });
    this.#clock = options.clock;
  }

  override async acquire(options?: Partial<AcquireOptions>): Promise<Permit> {
    const place = await super.acquire({ ...USUAL_CALL, signal: new Cancellation(), ...options });
    if (place instanceof Permit) return place;
    throw new NotSentError(place, this.#clock.now());
  }

  /** The permit of a call that leaves if it would have to wait. */
  tryAcquire(options?: Partial<AcquireOptions>): Permit | undefined {
    const signal = new Cancellation();
    const place = super.acquire({ ...USUAL_CALL, ...options, signal });
    if (place instanceof Permit) return place;
    if (place instanceof Promise) place.catch(() => undefined);
    signal.cancel('left');
    return undefined;
  }
}

/** Asks for permits; gives those that come. */
export function ask(limiter: StrictLimiter, calls: number): Permit[] {
  const granted: Permit[] = [];
  for (let call = 0; call < calls; call += 1) void limiter.acquire().then((permit) => granted.push(permit));
  return granted;
}

/** A limiter with a clock of its own, which starts at `start`. */
export function setUpLimiter(options: Partial<RateLimiterOptions> = {}) {
  const clock = new FakeClock();
  return { clock, start: clock.now(), limiter: new StrictLimiter({ clock, ...options }) };
}

/** The Retry-After of a response without a `Date`. */
export function hint(text: string | undefined, date?: string): RetryAfter | undefined {
  return parseRetryAfter(text, { date, nowMs: 0 });
}

/** The state before the first request of a key with this limit. */
export function stateWithLimit(perMinute: number): LimiterState {
  return { ...initialState(), configured: perMinute, limit: perMinute };
}
