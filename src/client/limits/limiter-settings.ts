import type { RetryAfterUnit } from './retry-after.ts';

export interface LimiterSettings {
  /** Calls per minute that the key may make; `'learn'` finds out from the answers. Default: `'learn'`. */
  readonly perMinute: 'learn' | number;
  /** Calls in flight at once, at most. Default: 16. */
  readonly maxConcurrent: number;
  /** Whether one call at a time may be sent beyond what is known to be free, to learn the window. Default: true. */
  readonly probe: boolean;
  /** A Retry-After longer than this is not waited for. Default: 65 000 ms. */
  readonly maxRetryAfterMs: number;
  /** The unit of an integer Retry-After; `'auto'` is seconds unless the answers say otherwise. Default: `'auto'`. */
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

const DEFAULTS: LimiterSettings = {
  perMinute: 'learn',
  maxConcurrent: 16,
  probe: true,
  // One window and the margin for a second's rounding on both sides.
  maxRetryAfterMs: 65_000,
  retryAfterUnit: 'auto',
};

/** Fills in the defaults; throws a RangeError that names the option and what it got. */
export function limiterSettings(given: Partial<LimiterSettings>): LimiterSettings {
  const settings = { ...DEFAULTS, ...withoutUndefined(given) };
  if (settings.perMinute !== 'learn') requireCount('perMinute', settings.perMinute, ", or 'learn'");
  requireCount('maxConcurrent', settings.maxConcurrent);
  requireCount('maxRetryAfterMs', settings.maxRetryAfterMs);
  if (typeof settings.probe !== 'boolean') reject('probe', settings.probe, 'true or false');
  if (!['auto', 'seconds', 'milliseconds'].includes(settings.retryAfterUnit)) {
    reject('retryAfterUnit', settings.retryAfterUnit, "'auto', 'seconds' or 'milliseconds'");
  }
  return settings;
}

export function requireCount(option: string, value: unknown, alternative = ''): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return;
  reject(option, value, `a whole number from 1 on${alternative}`);
}

function reject(option: string, value: unknown, expected: string): never {
  throw new RangeError(`${option} is ${String(value)}: expected ${expected}`);
}

function withoutUndefined<Shape extends object>(shape: Shape): Partial<Shape> {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Partial<Shape>;
}
