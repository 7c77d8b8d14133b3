/**
 * Why a call was not allowed to wait for its slot: the slot lies beyond its deadline; Retry-After is longer than
 * `maxRetryAfterMs`; the call does not wait (`onLimit: 'throw'`); or the service has failed and asked for a later time.
 */
export type LimitReason = 'deadline' | 'max_retry_after' | 'policy' | 'unavailable';

const BRAND = Symbol.for('fxrates.limit-error');

const EXPLANATIONS: Record<LimitReason, string> = {
  deadline: 'is after the deadline of the call',
  max_retry_after: 'is further away than the longest wait allowed',
  policy: 'is not now, and the call does not wait',
  unavailable: 'comes when the service has recovered',
};

/** The limiter rejected a call at once instead of letting it wait in vain. The client turns it into an error of its own. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly [BRAND] = true;
  readonly reason: LimitReason;
  /** The earliest time, in milliseconds since the Unix epoch, at which the call could have been sent. */
  readonly retryAt: number;

  constructor(reason: LimitReason, retryAt: number, options?: ErrorOptions) {
    super(`The next free slot of the rate limit ${EXPLANATIONS[reason]}`, options);
    this.reason = reason;
    this.retryAt = retryAt;
  }

  /** Also recognises the errors of another copy of the package in the same process. */
  static is(error: unknown): error is LimitError {
    return error instanceof Error && BRAND in error;
  }
}
