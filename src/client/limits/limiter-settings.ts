import type { RetryAfterUnit } from './retry-after.ts';

export interface LimiterSettings {
  /** Calls per minute that the key may make; `'learn'` finds out. Default: `'learn'`. */
  readonly perMinute: 'learn' | number;
  /** Calls in flight at once, at most; `'adapt'` starts with 4 and goes up to 256. Default: `'adapt'`. */
  readonly maxConcurrent: 'adapt' | number;
  /** Whether one call at a time may be sent beyond what is known to be free, to learn the window. Default: true. */
  readonly probe: boolean;
  /** A Retry-After longer than this is not waited for. Default: 75 000 ms. */
  readonly maxRetryAfterMs: number;
  /** The unit of an integer Retry-After; `'auto'` is seconds unless the answers show milliseconds. Default: `'auto'`. */
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

export const DEFAULT_LIMITER_SETTINGS: LimiterSettings = {
  perMinute: 'learn',
  maxConcurrent: 'adapt',
  probe: true,
  // One window, and what servers add to spread a crowd.
  maxRetryAfterMs: 75_000,
  retryAfterUnit: 'auto',
};
