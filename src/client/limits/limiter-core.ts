import { type Grant, grant, lastSlotAt, slotAt, take } from './grant.ts';
import type { LimiterState } from './limiter-state.ts';
import type { RetryAfterUnit } from './retry-after.ts';
import {
  type Answer,
  accepted,
  configured,
  type DatedAnswer,
  initialState,
  isLimitWanted,
  lost,
  type RefusedAnswer,
  type RetryAfterReading,
  refused,
  unused,
} from './transitions.ts';

/**
 * The limit of one key, without timer or queue: time is passed in. For every call granted, exactly one of `accepted`,
 * `refused`, `lost` and `unused` is reported.
 */
export interface LimiterCore {
  /** The current state. */
  readonly state: LimiterState;
  grant(now: number, wanted: number): Grant;
  /** Any response except a refusal for the rate: the server counted the request. */
  accepted(answer: DatedAnswer): void;
  refused(answer: RefusedAnswer): RetryAfterReading;
  /** The server may have counted the request. */
  lost(answer: Answer): void;
  /** The request was granted but not sent. */
  unused(): void;
  /** The limit of the plan became known. */
  configure(perMinute: number, now: number): void;
  /** Whether this process must call `quota()` for the limit now. `waiting`: the number of its waiting calls. */
  asksForLimit(now: number, waiting: number): boolean;
  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number): number;
  /** The time at which the last of `calls` further calls can be sent under the limit known now. */
  lastSlotAt(now: number, calls: number): number;
  /** Converts a time of `state` to the limiter's own clock. */
  toLocal(at: number): number;
}

/** The limit of a single process: applies the functions of transitions.ts to one state. */
export class LocalCore implements LimiterCore {
  readonly #settings: LimiterSettings;
  state: LimiterState;

  constructor(settings: LimiterSettings, saved?: LimiterState) {
    this.#settings = settings;
    const { perMinute } = settings;
    const own = perMinute === 'learn' ? Number.POSITIVE_INFINITY : perMinute;
    this.state = saved ?? initialState(own);
    // The option of this process overrides the limit that another process stored.
    if (saved && perMinute !== 'learn' && saved.configured !== own) this.configure(own, saved.configuredAt);
  }

  grant(now: number, wanted: number): Grant {
    const granted = grant(this.state, { now, wanted, mayProbe: this.#settings.probe });
    this.state = granted.state;
    return granted.grant;
  }

  accepted(answer: DatedAnswer): void {
    this.state = accepted(this.state, answer);
  }

  refused(answer: RefusedAnswer): RetryAfterReading {
    const { state, reading } = refused(this.state, answer, this.#settings);
    this.state = state;
    return reading;
  }

  lost(answer: Answer): void {
    this.state = lost(this.state, answer);
  }

  unused(): void {
    this.state = unused(this.state);
  }

  /** Changes the number of requests in flight that were granted elsewhere; negative for returned ones. */
  take(calls: number): void {
    this.state = take(this.state, calls);
  }

  configure(perMinute: number, now: number): void {
    this.state = configured(this.state, perMinute, now);
  }

  asksForLimit(now: number, waiting: number): boolean {
    return this.#settings.perMinute === 'learn' && isLimitWanted(this.state, { now, waiting });
  }

  slotAt(now: number, ahead: number): number {
    return slotAt(this.state, now, { ahead, mayProbe: this.#settings.probe });
  }

  lastSlotAt(now: number, calls: number): number {
    return lastSlotAt(this.state, now, calls);
  }

  toLocal(at: number): number {
    return at;
  }
}

export interface LimiterSettings {
  /** Calls per minute that the key may make; `'learn'` learns the number. Default: `'learn'`. */
  readonly perMinute: 'learn' | number;
  /** Maximum number of requests in flight; `'adapt'` starts with 4 and increases up to 256. Default: `'adapt'`. */
  readonly maxConcurrent: 'adapt' | number;
  /** Whether one call at a time may be sent beyond the known slots, to learn the window. Default: true. */
  readonly probe: boolean;
  /** Longest Retry-After to wait for. Default: 75 000 ms. */
  readonly maxRetryAfterMs: number;
  /**
   * The unit of an integer Retry-After; `'auto'` is seconds unless the responses show milliseconds. Default: `'auto'`.
   */
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

export const DEFAULT_LIMITER_SETTINGS: LimiterSettings = {
  perMinute: 'learn',
  maxConcurrent: 'adapt',
  probe: true,
  // One window, plus the jitter that servers add.
  maxRetryAfterMs: 75_000,
  retryAfterUnit: 'auto',
};
