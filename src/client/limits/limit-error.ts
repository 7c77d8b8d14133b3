/** Why a call was not let wait for its slot. */
export type LimitReason = 'deadline' | 'max_retry_after' | 'policy';

const EXPLANATIONS: Record<LimitReason, string> = {
  deadline: 'lies beyond the deadline of the call',
  max_retry_after: 'is further away than the longest wait allowed',
  policy: 'is not now, and the call does not wait',
};

/** The limiter refused a call at once instead of letting it wait in vain. The client turns it into a RateLimitError. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly reason: LimitReason;
  /** The earliest time, in milliseconds since the Unix epoch, at which the call could have been sent. */
  readonly retryAt: number;

  constructor(reason: LimitReason, retryAt: number) {
    super(`The next free slot of the rate limit ${EXPLANATIONS[reason]}`);
    this.reason = reason;
    this.retryAt = retryAt;
  }
}
