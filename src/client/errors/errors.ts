import type { QuotaData } from '../../generated/types.ts';
import type { Attempt } from '../attempt.ts';
import { maskKeysIn } from '../keys/mask.ts';
import { requestIdOf } from '../request-id.ts';
import type { SchemaIssue } from '../standard-schema.ts';
import type { UnitBelief } from '../state/retry-after-unit-tracker.ts';

/** What an error is about; switch on it. */
export type FxRatesErrorKind =
  | 'config'
  | 'authentication'
  | 'rate_limited'
  | 'quota_exhausted'
  | 'request'
  | 'server'
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'response';

/** The fields of an error beside its message; all optional. */
export interface ErrorDetails {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  readonly attempts?: readonly Attempt[] | undefined;
  readonly cause?: unknown;
}

/** A brand instead of `instanceof`, because two copies of the package can meet in one process. */
const BRAND: unique symbol = Symbol.for('fxrates.error') as never;

/**
 * Base of every error the client throws on purpose. Not covered: what a hook, a key provider or a custom `fetch` of
 * yours throws outside of a call's own failure, and bugs.
 */
export abstract class FxRatesError extends Error {
  /** What the error is about; stable, for programs. */
  abstract readonly kind: FxRatesErrorKind;
  /** `error.code` of the service's envelope, or the system's code (`ECONNRESET`) when no response arrived. */
  readonly code: string | undefined;
  /** HTTP status, when a response arrived. */
  readonly status: number | undefined;
  /** Headers of that response. */
  readonly headers: Headers | undefined;
  /** ID of the response: `x-request-id` or a header like it. */
  readonly requestId: string | undefined;
  /** Joins the attempts, events and errors of one call; `undefined` when the call was not made, as with a wrong option. */
  readonly callId: string | undefined;
  /** The attempts made before this error, the failed one included. */
  readonly attempts: readonly Attempt[];
  readonly [BRAND] = true;

  constructor(message: string, { code, status, headers, attempts, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.headers = headers;
    this.requestId = requestIdOf(headers);
    this.callId = undefined;
    this.attempts = attempts ?? [];
    Object.defineProperty(this, BRAND, { enumerable: false });
    hideAbsent(this, { code, status, headers, requestId: this.requestId, callId: undefined, attempts });
  }

  /** Whether `error` is one of the client's errors, also across copies of the package; narrows to a union on `kind`. */
  static is(error: unknown): error is AnyFxRatesError {
    return typeof error === 'object' && error !== null && BRAND in error;
  }

  /** For logs, with what one acts on: no headers, no cause, no stack. */
  toJSON(): Record<string, unknown> {
    const { name, kind, code, message, status, requestId, callId, attempts } = this;
    return { name, kind, code, message, status, requestId, callId, attempts };
  }
}

/** Every error of the client; a union that `switch (error.kind)` narrows. */
export type AnyFxRatesError =
  | ConfigError
  | AuthenticationError
  | RateLimitError
  | QuotaExhaustedError
  | RequestError
  | ServerError
  | NetworkError
  | TimeoutError
  | AbortError
  | ResponseError;

/** A wrong option or argument; the message names it and what it got. Nothing was sent. */
export class ConfigError extends FxRatesError {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  /** A key given in place of another value, such as the base URL, must not show in what is said about that value. */
  constructor(message: string) {
    super(maskKeysIn(message));
  }
}

/**
 * The service refused the key. `status` tells the two cases of HTTP apart: 401, the key is missing or not valid; 403, the
 * key is valid but not allowed to do this. Which of them the service uses for what is not shown.
 */
export class AuthenticationError extends FxRatesError {
  override readonly name = 'AuthenticationError';
  readonly kind = 'authentication';
}

/**
 * Why the call did not wait: its `deadline` comes before the next slot, Retry-After exceeds `maxRetryAfterMs`,
 * `onLimit: 'throw'` is the `policy`, or the retry `budget` of the key is used up.
 */
export type RateLimitReason = 'deadline' | 'max_retry_after' | 'policy' | 'budget';

interface RateLimitDetails
  extends ErrorDetails,
    Partial<Pick<RateLimitError, 'retryAfterMs' | 'retryAt' | 'retryAfterRaw' | 'retryAfterUnit'>> {
  readonly reason: RateLimitReason;
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

/** The monthly quota is used up. Never retried: waiting a minute does not help. */
export class QuotaExhaustedError extends FxRatesError {
  override readonly name = 'QuotaExhaustedError';
  readonly kind = 'quota_exhausted';
  /** The quota record that says so. */
  readonly quota: QuotaData | undefined;
  /** When the quota resets. */
  readonly resetsAt: Date | undefined;
  /** Whether the client refused by itself, from what it knew, without sending the request. */
  readonly local: boolean;

  constructor(
    message: string,
    { quota, local = false, ...details }: ErrorDetails & Partial<Pick<QuotaExhaustedError, 'quota' | 'local'>> = {},
  ) {
    super(message, details);
    this.quota = quota;
    this.resetsAt = quota && new Date(quota.resets_at);
    this.local = local;
    hideAbsent(this, { quota, resetsAt: this.resetsAt });
  }

  override toJSON(): Record<string, unknown> {
    const { resetsAt, local } = this;
    return { ...super.toJSON(), resetsAt, local };
  }
}

/**
 * The service refused the request: a 4xx that is about neither the key nor a limit. The counterpart of `ResponseError`, and
 * not the base class as in got, axios and octokit: that is `FxRatesError`.
 */
export class RequestError extends FxRatesError {
  override readonly name = 'RequestError';
  readonly kind = 'request';
}

/** The service failed (5xx), also after the retries that were allowed. */
export class ServerError extends FxRatesError {
  override readonly name = 'ServerError';
  readonly kind = 'server';
}

/** No valid HTTP response arrived; the system's error is in `cause`, its code in `code`. */
export class NetworkError extends FxRatesError {
  override readonly name = 'NetworkError';
  readonly kind = 'network';
}

/** Time ran out, for one attempt or for the whole call. */
export class TimeoutError extends FxRatesError {
  override readonly name = 'TimeoutError';
  readonly kind = 'timeout';
  /** `'attempt'`: one attempt took longer than `timeoutMs`; `'deadline'`: the whole call took longer than `deadlineMs`. */
  readonly scope: 'attempt' | 'deadline';
  /** The limit that was reached, in milliseconds. */
  readonly limitMs: number;

  constructor({ scope, limitMs, ...details }: ErrorDetails & Pick<TimeoutError, 'scope' | 'limitMs'>) {
    super(
      scope === 'attempt'
        ? `No complete response within ${limitMs} ms (timeoutMs)`
        : `The call did not end within ${limitMs} ms (deadlineMs)`,
      details,
    );
    this.scope = scope;
    this.limitMs = limitMs;
  }
}

interface AbortDetails extends ErrorDetails {
  readonly message?: string;
}

/** The caller's signal ended the call, whose reason is in `cause`; or `close()` did. */
export class AbortError extends FxRatesError {
  override readonly name = 'AbortError';
  readonly kind = 'aborted';

  constructor({ message = 'The call was aborted by its signal', ...details }: AbortDetails = {}) {
    super(message, details);
  }
}

/** A response arrived, but not the one the contract promises: not JSON, not the envelope, not the schema, too long, or a redirect. */
export class ResponseError extends FxRatesError {
  override readonly name = 'ResponseError';
  readonly kind = 'response';
  /** What a schema found wrong; empty when the body could not be read at all. */
  readonly issues: readonly SchemaIssue[];
  /** The first characters of the body, without the key. */
  readonly bodyExcerpt: string | undefined;

  constructor(
    message: string,
    { issues, bodyExcerpt, ...details }: ErrorDetails & Partial<Pick<ResponseError, 'issues' | 'bodyExcerpt'>> = {},
  ) {
    super(message, details);
    this.issues = issues ?? [];
    this.bodyExcerpt = bodyExcerpt;
    hideAbsent(this, { issues, bodyExcerpt });
  }
}

/** Keeps absent fields out of `console.log(error)`; they can still be read. */
export function hideAbsent(error: Error, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) Object.defineProperty(error, name, { enumerable: false });
  }
}
