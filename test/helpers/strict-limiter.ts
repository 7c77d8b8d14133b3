import { Permit } from '../../src/client/limits/in-flight.ts';
import { type NotSent, RateLimiter } from '../../src/client/limits/rate-limiter.ts';
import type { AcquireOptions } from '../../src/client/limits/request-queue.ts';
import { parseRetryAfter, type RetryAfter } from '../../src/client/limits/retry-after.ts';

/** A call that the limiter did not send, with the reason. */
export class NotSentError extends Error {
  readonly why: NotSent;

  constructor(why: NotSent) {
    super(why.reason);
    this.why = why;
    Object.assign(this, why);
  }
}

/** A limiter whose `acquire` rejects a call that is not sent, so that a test can await a permit. */
export class StrictLimiter extends RateLimiter {
  override acquire(options?: AcquireOptions): Promise<Permit> {
    return super.acquire(options).then((sent) => {
      if (sent instanceof Permit) return sent;
      throw new NotSentError(sent);
    });
  }
}

/** The Retry-After of a response without a `Date`. */
export function hint(text: string | undefined, date?: string): RetryAfter | undefined {
  return parseRetryAfter(text, { date, nowMs: 0 });
}
