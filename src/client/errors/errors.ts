import type { QuotaData } from '../../generated/types.ts';
import { maskKeysIn } from '../../redactor.ts';
import { oneLine } from '../../text.ts';

/** Kind of an error, for `switch (error.kind)`. */
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

/** The optional fields of every error. */
export interface ErrorDetails {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  readonly attempts?: readonly Attempt[] | undefined;
  readonly bodyExcerpt?: string | undefined;
  readonly retryAfter?: RetryAfter | undefined;
  readonly advice?: string | undefined;
  /** @internal */
  readonly remedy?: Remedy | undefined;
  /** @internal */
  readonly why?: string | undefined;
  readonly cause?: unknown;
}

/** @internal What the advice is about: the base URL, only its scheme, or a certificate that is not trusted. */
export type Remedy = 'base_url' | 'scheme' | 'certificate';

/**
 * A Retry-After header, read once when the response arrives. Only the unit of an integer is unknown: the service
 * documents just "a number".
 */
export type RetryAfter =
  | { readonly form: 'integer'; readonly value: number }
  | { readonly form: 'wait'; readonly ms: number }
  | { readonly form: 'invalid'; readonly text: string };

/** A brand instead of `instanceof`, because a process can load two copies of the package. */
const BRAND: unique symbol = Symbol.for('fxrates.error') as never;

/**
 * Base class of the client's errors. `FxRatesError.is()` narrows to a union on `kind`; `instanceof` does not. An error that
 * your own key function, schema or middleware throws is passed on unchanged.
 */
export abstract class FxRatesError extends Error {
  /** Name of the error's class, such as `'RateLimitError'`. It is the same in minified code. */
  abstract override readonly name: string;
  /** Kind of the error, such as `'rate_limited'`. Kinds do not change between versions. */
  abstract readonly kind: FxRatesErrorKind;
  /** What failed: the `message` without the advice. */
  declare readonly summary: string;
  /** The rest of the `message`: the option that decided, and the next step; `undefined` if there is none. */
  declare readonly advice: string | undefined;
  /** Error code of the service, or of the system (`ECONNRESET`) if no response arrived. */
  declare readonly code: string | undefined;
  /** HTTP status, or that in the error envelope of a 2xx response; `undefined` if no response arrived. */
  declare readonly status: number | undefined;
  /** Response headers; `undefined` if no response arrived. */
  declare readonly headers: Headers | undefined;
  /** The first 200 characters of the body, without the key; `undefined` if no body was read. */
  declare readonly bodyExcerpt: string | undefined;
  /** ID of the response: `x-request-id` or a header like it; `undefined` if it has none. */
  declare readonly requestId: string | undefined;
  /** ID of the call, also in its events; `undefined` if the call was not made, as with a wrong option. */
  declare readonly callId: string | undefined;
  /** The attempts of the call that ended, including the failed one. An attempt that was aborted is not among them. */
  declare readonly attempts: readonly Attempt[];
  /** @internal The Retry-After header, read when the response arrived. */
  declare readonly retryAfter: RetryAfter | undefined;
  /** @internal What the advice is about. The command line has its own words for it. */
  declare readonly remedy: Remedy | undefined;
  /** @internal The end of the summary of a `NetworkError` or `ServerError`: the reason, or what the service said. */
  declare readonly why: string | undefined;

  /** The details become fields. An absent one is hidden in `console.log(error)`. */
  constructor(message: string, given: ErrorDetails = {}) {
    const { cause, retryAfter, remedy, why, advice: next, ...details } = given;
    // All can contain text of the service, which must not control the terminal or forge a line of a log.
    const summary = oneLine(message);
    const advice = next ? oneLine(next) : undefined;
    super(advice === undefined ? summary : `${summary}; ${advice}`, cause === undefined ? undefined : { cause });
    const code = details.code && oneLine(details.code);
    const fields = { ...NO_DETAILS, ...details, code, requestId: requestIdOf((name) => details.headers?.get(name)) };
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(this, name, { value, enumerable: value !== undefined, writable: true, configurable: true });
    }
    this.attempts ??= [];
    // Not enumerable, because `message` has these texts.
    for (const [name, value] of Object.entries({ summary, advice, retryAfter, remedy, why: why && oneLine(why) })) {
      Object.defineProperty(this, name, { value });
    }
  }

  /** @internal */
  get [BRAND](): true {
    return true;
  }

  /**
   * Returns whether `error` is one of the client's errors, including those of another copy of the package. Narrows to a union on
   * `kind`.
   *
   * @example if (FxRatesError.is(error) && error.kind === 'rate_limited') console.log(error.retryAfterMs);
   */
  static is(error: unknown): error is AnyFxRatesError {
    return typeof error === 'object' && error !== null && BRAND in error;
  }

  /** Returns the fields for a log: without headers, body, quota record, cause and stack. */
  toJSON(): Record<string, unknown> {
    const { name, kind, message } = this;
    const fields = Object.entries(this).filter(([field]) => !NOT_LOGGED.includes(field));
    return { name, kind, message, ...Object.fromEntries(fields) };
  }
}

const NO_DETAILS = {
  code: undefined,
  status: undefined,
  headers: undefined,
  bodyExcerpt: undefined,
  callId: undefined,
  attempts: undefined,
};
const NOT_LOGGED: readonly string[] = ['headers', 'bodyExcerpt', 'issues', 'quota'];

/** Union of the client's errors, which `switch (error.kind)` narrows. */
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

const TEMPORARY_KINDS = ['network', 'server', 'timeout', 'rate_limited', 'quota_exhausted'] as const;

/** Whether another call could succeed later. */
export function isTemporary(
  error: unknown,
): error is AnyFxRatesError & { readonly kind: (typeof TEMPORARY_KINDS)[number] } {
  return FxRatesError.is(error) && TEMPORARY_KINDS.some((kind) => kind === error.kind);
}

/**
 * An option or argument is wrong, or a custom fetch, dispatcher or middleware broke its contract. The message names the
 * option, the value and what was expected. A wrong option or argument is rejected before anything is sent.
 */
export class ConfigError extends FxRatesError {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  /** The message masks a key that was passed as another option, such as the base URL. */
  constructor(message: string) {
    super(maskKeysIn(message));
  }
}

/**
 * The service refused the key. In HTTP, `status` 401 means that the key is missing or invalid, 403 that it is not
 * allowed to do this. The service does not document when it sends either.
 */
export class AuthenticationError extends FxRatesError {
  override readonly name = 'AuthenticationError';
  readonly kind = 'authentication';
}

/**
 * Why the call did not wait. `'deadline'`: the next slot is too late for its deadline. `'max_retry_after'`: Retry-After is
 * longer than `maxRetryAfterMs`. `'policy'`: `onLimit` is `'throw'`. `'retries'`: with `rateLimit: false`, `maxRetries` is used up.
 */
export type RateLimitReason = 'deadline' | 'max_retry_after' | 'policy' | 'retries';

interface RateLimitDetails extends ErrorDetails, Partial<Pick<RateLimitError, 'retryAfterMs' | 'retryAt'>> {
  readonly reason: RateLimitReason;
}

/** The per-minute limit of the key is reached, and the call cannot or must not wait. */
export class RateLimitError extends FxRatesError {
  override readonly name = 'RateLimitError';
  readonly kind = 'rate_limited';
  /** Why the call did not wait. */
  declare readonly reason: RateLimitReason;
  /** Milliseconds until the next slot; `undefined` if unknown. */
  declare readonly retryAfterMs: number | undefined;
  /** Time of the next slot; `undefined` if unknown. */
  declare readonly retryAt: Date | undefined;

  constructor(message: string, details: RateLimitDetails) {
    super(message, { retryAfterMs: undefined, retryAt: undefined, ...details });
  }
}

/** The monthly quota is used up, or only the reserve of `quotaGuard` is left. It is never retried. */
export class QuotaExhaustedError extends FxRatesError {
  override readonly name = 'QuotaExhaustedError';
  readonly kind = 'quota_exhausted';
  /** The quota record on which the error is based; `undefined` if it is unknown. */
  declare readonly quota: QuotaData | undefined;
  /** Time at which the quota resets; `undefined` if it is unknown. */
  declare readonly resetsAt: Date | undefined;
  /** Whether the client rejected the call without sending a request. */
  declare readonly local: boolean;

  constructor(
    message: string,
    { quota, local = false, ...details }: ErrorDetails & Partial<Pick<QuotaExhaustedError, 'quota' | 'local'>> = {},
  ) {
    const text: unknown = quota?.resets_at; // an odd record can have any value
    const resetsAt = new Date(typeof text === 'string' ? text : Number.NaN);
    const fields = { ...details, quota, local, resetsAt: Number.isNaN(resetsAt.getTime()) ? undefined : resetsAt };
    super(message, fields);
  }
}

/**
 * The service refused the request with a 4xx that is about neither the key nor a limit. Unlike in got, axios and octokit,
 * `RequestError` is not the base class: that is `FxRatesError`.
 */
export class RequestError extends FxRatesError {
  override readonly name = 'RequestError';
  readonly kind = 'request';
}

/** The service failed (5xx), even after the retries, or is down until after the deadline of the call. */
export class ServerError extends FxRatesError {
  override readonly name = 'ServerError';
  readonly kind = 'server';
}

/** No valid HTTP response arrived. `cause` is the error of the system, `code` its code. */
export class NetworkError extends FxRatesError {
  override readonly name = 'NetworkError';
  readonly kind = 'network';
  /** Whether the proxy failed: it cannot be reached, or it did not connect to the service. */
  readonly isProxyFailure: boolean;
  /** Whether Node.js rejected the certificate of the service: the request was not sent. */
  readonly isCertificateFailure: boolean;

  constructor(
    message: string,
    details: ErrorDetails & Partial<Pick<NetworkError, 'isProxyFailure' | 'isCertificateFailure'>> = {},
  ) {
    super(message, details);
    this.isProxyFailure = details.isProxyFailure ?? false;
    this.isCertificateFailure = details.isCertificateFailure ?? false;
  }
}

/** One attempt or the whole call took too long. */
export class TimeoutError extends FxRatesError {
  override readonly name = 'TimeoutError';
  readonly kind = 'timeout';
  /** `'attempt'`: one attempt took longer than `timeoutMs`. `'deadline'`: the whole call took longer than `deadlineMs`. */
  declare readonly scope: 'attempt' | 'deadline';
  /** The exceeded limit in milliseconds. */
  declare readonly limitMs: number;

  constructor({
    message,
    ...details
  }: ErrorDetails & Pick<TimeoutError, 'scope' | 'limitMs'> & { readonly message?: string }) {
    const { scope, limitMs } = details;
    const usual =
      scope === 'attempt'
        ? `No complete response within ${limitMs} ms (timeoutMs)`
        : `The call did not end within ${limitMs} ms (deadlineMs)`;
    super(message ?? usual, details);
  }
}

/** The signal of the call aborted, with its reason in `cause`, or the client was closed. */
export class AbortError extends FxRatesError {
  override readonly name = 'AbortError';
  readonly kind = 'aborted';

  constructor({
    message = 'The call was aborted by its signal',
    ...details
  }: ErrorDetails & { readonly message?: string } = {}) {
    super(message, details);
  }
}

/** The response cannot be used: it is not JSON, not the envelope, not what the schema expects, too long, or a redirect. */
export class ResponseError extends FxRatesError {
  override readonly name = 'ResponseError';
  readonly kind = 'response';
  /** The issues that the schema of the contract or of the caller found; otherwise empty. */
  declare readonly issues: readonly SchemaIssue[];

  constructor(message: string, details: ErrorDetails & Partial<Pick<ResponseError, 'issues'>> = {}) {
    super(message, { issues: undefined, ...details });
    this.issues ??= [];
  }
}

/** One issue that a schema found. */
export interface SchemaIssue {
  /** Description of the issue. */
  readonly message: string;
  /** Path from the data to the value; empty or `undefined` for the data itself. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** One attempt of a call, with the wait before it. */
export interface Attempt {
  /** HTTP status; `undefined` if no response arrived. */
  readonly status: number | undefined;
  /**
   * Error code of the service, or the error's `code` or `kind`; `undefined` after a success, and if a function of the program
   * threw.
   */
  readonly code: string | undefined;
  /** Milliseconds waited before this attempt was sent: queue, backoff and Retry-After. */
  readonly waitedMs: number;
  /**
   * Reason for this attempt. `'first'`: the first one. `'retry'`: the previous one failed. `'rate_limited'`: the service
   * refused the previous one (429). `'key_rotated'`: the previous key could not be used.
   */
  readonly reason: 'first' | 'retry' | 'rate_limited' | 'key_rotated';
}

/** Names of the header, the service's own before those of proxies. */
const NAMES = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-amz-cf-id', 'cf-ray'];

/** ID of the response; `undefined` if no header has one. `headerOf`: the value of a header. */
export function requestIdOf(headerOf: (name: string) => string | null | undefined): string | undefined {
  for (const name of NAMES) {
    const id = headerOf(name);
    if (id) return id;
  }
  return undefined;
}
