import type { RequestResult, RetryAfterReading } from './transitions.ts';

/** The headers of a response that the limiter evaluates; omit absent ones. */
export type ResultHeaders = Pick<RequestResult, 'date' | 'retryAfter'>;

/** How a request failed. */
export interface FailureDetails extends ResultHeaders {
  /** Whether the service may have counted the request. */
  readonly mayHaveCounted: boolean;
  /** Whether the time of the attempt was up, which the caller sets. */
  readonly isTimeout?: boolean | undefined;
  readonly error: unknown;
}

/** How a request ended: see the methods of `Permit`. */
export type RequestEnd = 'accepted' | 'refused' | 'failed' | 'lost' | 'unused';

/** Receives the end of a request. */
export type OnEnd = (
  permit: Permit,
  end: RequestEnd,
  details: Partial<FailureDetails>,
) => RetryAfterReading | undefined;

export type PermitFields = Pick<Permit, 'sentAt' | 'isProbe' | 'ticket'> & { readonly retryOf: Permit | undefined };

/** Permits one request now. The first report about the request ends the permit; later ones are ignored. */
export class Permit {
  /** Time of the limiter's own clock: compare it only with other times of that clock. */
  readonly sentAt: number;
  readonly isProbe: boolean;
  /** The place of the call in the queue. A call that returns passes the permit as `AcquireOptions.retryOf`. */
  readonly ticket: number;
  /** Number of failed attempts of the call, including this one. */
  failures: number;
  /** Time of the first failed attempt of the call; infinity for none. */
  firstFailedAt: number;
  readonly #onEnd: OnEnd;
  #isOpen = true;

  constructor(onEnd: OnEnd, { sentAt, isProbe, ticket, retryOf }: PermitFields) {
    this.#onEnd = onEnd;
    this.sentAt = sentAt;
    this.isProbe = isProbe;
    this.ticket = ticket;
    this.failures = retryOf?.failures ?? 0;
    this.firstFailedAt = retryOf?.firstFailedAt ?? Number.POSITIVE_INFINITY;
  }

  /** The server responded, neither with a refusal for the rate nor with a failure. */
  ok(headers: ResultHeaders = {}): void {
    this.#end('accepted', headers);
  }

  /** The server refused the request for the rate (429 `rate_limited`). */
  limited(headers: ResultHeaders = {}): RetryAfterReading | undefined {
    return this.#end('refused', headers);
  }

  /** The service failed: a 5xx, a timeout, a broken or refused connection. */
  failed(details: FailureDetails): void {
    if (this.#isOpen) this.failures += 1;
    this.#end('failed', details);
  }

  /** The caller aborted before a response arrived. The server may have counted the request. */
  lost(): void {
    this.#end('lost', {});
  }

  /** The request was not sent; its slot is returned. */
  unused(): void {
    this.#end('unused', {});
  }

  #end(end: RequestEnd, details: Partial<FailureDetails>): RetryAfterReading | undefined {
    if (!this.#isOpen) return undefined;
    this.#isOpen = false;
    return this.#onEnd(this, end, details);
  }
}

/**
 * Why a call may not wait: its time is after its deadline; Retry-After is longer than `maxRetryAfterMs`; or the call does
 * not wait (`onLimit: 'throw'`); or the service has been down for too long.
 */
export type LimitReason = 'deadline' | 'max_retry_after' | 'policy' | 'outage';

const BRAND = Symbol.for('fxrates.limit-error');

const EXPLANATIONS: Record<LimitReason, string> = {
  deadline: 'is after the deadline of the call',
  max_retry_after: 'requires a longer wait than maxRetryAfterMs allows',
  policy: 'requires a wait, and the call does not wait',
  outage: 'is after the longest outage that calls wait for',
};

interface LimitErrorOptions extends ErrorOptions {
  readonly isServiceDown?: boolean;
}

/**
 * The limiter rejected a call immediately, because waiting would not help. The client converts it into an error of its
 * own.
 */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly [BRAND] = true;
  readonly reason: LimitReason;
  /** The earliest time, in milliseconds since the Unix epoch, at which the call could have been sent. */
  readonly retryAt: number;
  /** Whether the service is down, and not the limit used up. `cause` is then its last failure. */
  readonly isServiceDown: boolean;

  constructor(reason: LimitReason, retryAt: number, { isServiceDown = false, ...options }: LimitErrorOptions = {}) {
    const subject = isServiceDown
      ? 'The next attempt at the service, which is down,'
      : 'The next free slot of the limit';
    super(`${subject} ${EXPLANATIONS[reason]}`, options);
    this.reason = reason;
    this.retryAt = retryAt;
    this.isServiceDown = isServiceDown;
  }

  /** Also recognises the errors of another copy of the package in the same process. */
  static is(error: unknown): error is LimitError {
    return error instanceof Error && BRAND in error;
  }
}
