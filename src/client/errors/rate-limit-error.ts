import type { UnitBelief } from '../state/unit-notice.ts';
import type { ErrorDetails } from './fxrates-error.ts';
import { FxRatesError } from './fxrates-error.ts';
import { hideAbsent } from './hide-absent.ts';

/**
 * Why the call did not wait: its `deadline` comes before the next slot, Retry-After exceeds `maxRetryAfterMs`,
 * `onLimit: 'throw'` is the `policy`, or the retry `budget` of the key is used up.
 */
export type RateLimitReason = 'deadline' | 'max_retry_after' | 'policy' | 'budget';

interface RateLimitDetails extends ErrorDetails {
  readonly reason: RateLimitReason;
  readonly retryAfterMs?: number | undefined;
  readonly retryAt?: Date | undefined;
  readonly retryAfterRaw?: string | undefined;
  readonly retryAfterUnit?: UnitBelief | undefined;
}

/** The per-minute limit of the key holds the call back, and the call may not wait for it. */
export class RateLimitError extends FxRatesError {
  override readonly name = 'RateLimitError';
  readonly kind = 'rate_limited';
  readonly reason: RateLimitReason;
  /** Milliseconds until the call can be made again; `undefined` when nothing tells. */
  readonly retryAfterMs: number | undefined;
  /** The same as an instant. */
  readonly retryAt: Date | undefined;
  /** The `Retry-After` header as it came. */
  readonly retryAfterRaw: string | undefined;
  /** How the key's Retry-After is read, and what says so; `undefined` before the first whole number in one. */
  readonly retryAfterUnit: UnitBelief | undefined;

  constructor(
    message: string,
    { reason, retryAfterMs, retryAt, retryAfterRaw, retryAfterUnit, ...details }: RateLimitDetails,
  ) {
    super(message, details);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.retryAt = retryAt;
    this.retryAfterRaw = retryAfterRaw;
    this.retryAfterUnit = retryAfterUnit;
    hideAbsent(this, { retryAfterMs, retryAt, retryAfterRaw, retryAfterUnit });
  }

  override toJSON(): Record<string, unknown> {
    const { reason, retryAfterMs, retryAt } = this;
    return { ...super.toJSON(), reason, retryAfterMs, retryAt };
  }
}
