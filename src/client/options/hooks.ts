import type { QuotaData } from '../../generated/types.ts';
import type { Attempt, FxRatesErrorKind } from '../errors/errors.ts';
import type { KeyLimits, Wait } from '../limits/rate-limiter.ts';
import type { QuotaReason } from './call-options.ts';

/** The fields of every event. */
export interface KeyEvent {
  /**
   * The masked key.
   *
   * @example 'fx_live_…9c2d'
   */
  readonly key: string;
  /** The result of `fx.limits()` at this moment; `undefined` with `rateLimit: false`. */
  readonly limits: KeyLimits | undefined;
}

/** The fields of every event about a request. */
export interface RequestFields extends KeyEvent {
  /** The operation, such as `latest`; for `get()` with another path, the path. */
  readonly operation: string;
  /**
   * Path and query as sent, without the key.
   *
   * @example '/api/v1/latest?base=EUR'
   */
  readonly target: string;
  /** ID of the call. It is also in the `meta` or the error of the call. */
  readonly callId: string;
}

/** Event of `onRequest`: an attempt has succeeded or failed. */
export interface RequestEvent extends RequestFields, Attempt {
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** ID of the response: `x-request-id` or a header like it. */
  readonly requestId: string | undefined;
  /** Duration of the attempt in milliseconds. */
  readonly durationMs: number;
}

/** Event of `onRetry`: a failed attempt will be retried. */
export interface RetryEvent extends RequestFields {
  /** Number of the retry; 1 for the first. */
  readonly retry: number;
  /** Kind of the error with which the attempt failed. */
  readonly kind: FxRatesErrorKind;
  /** HTTP status of the failed attempt; `undefined` if no response arrived. */
  readonly status: number | undefined;
  /** Error code of the service or of the system, such as `ECONNRESET`. */
  readonly code: string | undefined;
  /** Estimated milliseconds until the retry; in an outage, until the next attempt that tests the service. */
  readonly waitMs: number;
}

/**
 * Event of `onWait`: calls of a key wait for one second or longer. Shorter waits, such as between two calls of a burst, are
 * not reported. Each wait is reported once, for any number of calls.
 */
export interface WaitEvent extends KeyEvent, Wait {}

/** Event of `onQuota`: a response of `quota()` has arrived. */
export interface QuotaEvent extends KeyEvent {
  /**
   * Why `quota()` was called: by the program (`'call'`), or by the client to explain a refused request (`'refusal'`), to
   * update its estimate (`'refresh'`) or to learn the per-minute limit (`'limit'`).
   */
  readonly reason: QuotaReason;
  /** The quota record, as the service sent it: fields that differ from the contract have caused a warning. */
  readonly quota: QuotaData;
}

/** Event of `onCall`: a call has ended, with or without a request. */
export interface CallEvent {
  /**
   * The operation, such as `latest`; for `get()` with another path, the path; `'get'` if the call ended before its path was
   * checked.
   */
  readonly operation: string;
  /**
   * Where the response comes from, as in `meta`. If the call failed: `'network'` if it made an attempt, `'shared'` if an
   * identical call made one for it, and otherwise `undefined`.
   */
  readonly source: 'network' | 'cache' | 'shared' | 'stale' | undefined;
  /** Milliseconds from the call to its end. */
  readonly durationMs: number;
  /** How many of them the call waited for the rate limit, an outage or a retry. */
  readonly waitedMs: number;
  /** The attempts that have ended. Callers that share a request have the same ones. */
  readonly attempts: readonly Attempt[];
  /** The error of the call: an `FxRatesError`, or what a function of the program threw; `undefined` after a success. */
  readonly error: unknown;
  /** ID of the call, also in its other events; `undefined` if it ended before it got one, as with a wrong option. */
  readonly callId: string | undefined;
}

/** A warning: its text is `summary`, then `advice`. */
export interface Warning {
  readonly summary: string;
  /** The option of the client, and the next step. */
  readonly advice?: string;
  /** Why the store of the limit failed. */
  readonly storeFailure?: string;
}

/**
 * A logger such as winston; `docs/observability.md` shows one for pino. `fields` is the event, as the hooks receive it. The
 * `console` receives only the message.
 */
export interface Logger {
  /** Receives warnings. The fields are the parts of the message. */
  warn(message: string, fields: object): void;
  /** @internal Receives warnings instead of `warn`, because the command line has options of its own. */
  warnOf?(warning: Omit<Warning, 'advice'>): void;
  /** Receives waits and retries with their reasons. */
  info?(message: string, fields: object): void;
  /** Receives each attempt with its result, and the end of each call. */
  debug?(message: string, fields: object): void;
}

/**
 * Hooks and log of one client. If a hook throws or rejects, its first error becomes a process warning, and the call
 * continues.
 */
export interface EventHooks {
  /**
   * Called once for each call of the program that ends: after requests, with a response of the cache or of an identical call,
   * or with an error, even if nothing was sent.
   *
   * @default undefined
   * @example ({ operation, source, durationMs, waitedMs }) => metrics.record(operation, source, durationMs - waitedMs)
   */
  readonly onCall?: ((event: CallEvent) => void) | undefined;
  /**
   * Called after each attempt, whether it succeeded or failed.
   *
   * @default undefined
   * @example ({ operation, status, durationMs }) => metrics.record(operation, status, durationMs)
   */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /**
   * Called before the wait for a retry.
   *
   * @default undefined
   * @example ({ retry, kind, waitMs }) => console.log(`retry ${retry} in ${waitMs} ms (${kind})`)
   */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /**
   * Called if calls wait for one second or longer, once per wait.
   *
   * @default undefined
   * @example ({ waiting, until }) => console.log(`${waiting} calls wait until ${until.toISOString()}`)
   */
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  /**
   * Called after each response of `quota()`, including calls by the client itself.
   *
   * @default undefined
   * @example ({ quota }) => console.log(quota.monthly_used)
   */
  readonly onQuota?: ((event: QuotaEvent) => void) | undefined;
  /**
   * Receives log messages; none contains the full key. If omitted, it is `console` if `logLevel` is set; otherwise, warnings
   * become process warnings of the type `FxRatesWarning`.
   *
   * @default undefined
   * @example console
   */
  readonly logger?: Logger | undefined;
  /**
   * Lowest level that `logger` receives: warnings, also waits and retries (`'info'`), or also each attempt and call
   * (`'debug'`).
   *
   * @default 'warn'
   */
  readonly logLevel?: 'warn' | 'info' | 'debug' | undefined;
}
