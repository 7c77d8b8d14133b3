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

/** The fields of every event about one call. */
export interface CallEvent extends KeyEvent {
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
export interface RequestEvent extends CallEvent, Attempt {
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** ID of the response: `x-request-id` or a header like it. */
  readonly requestId: string | undefined;
  /** Duration of the attempt in milliseconds. */
  readonly durationMs: number;
}

/** Event of `onRetry`: a failed attempt will be retried. */
export interface RetryEvent extends CallEvent {
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
  /** The quota record of the service. */
  readonly quota: QuotaData;
}

/** A warning: its text is `summary`, then `advice`. */
export interface Warning {
  readonly summary: string;
  /** The option of the client, and the next step. */
  readonly advice?: string;
  /** Why the store of the limit failed. */
  readonly storeFailure?: string;
}

/** A logger such as `console`, pino or winston. */
export interface Logger {
  /** Receives warnings. */
  warn(message: string): void;
  /** @internal Receives warnings instead of `warn`, because the command line has options of its own. */
  warnOf?(warning: Omit<Warning, 'advice'>): void;
  /** Receives waits and retries with their reasons. */
  info?(message: string): void;
  /** Receives each attempt with its result. */
  debug?(message: string): void;
}

/**
 * Hooks and log of one client. If a hook throws or rejects, its first error becomes a process warning, and the call
 * continues.
 */
export interface EventHooks {
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
   * Lowest level that `logger` receives: warnings, also waits and retries (`'info'`), or also each attempt (`'debug'`).
   *
   * @default 'warn'
   */
  readonly logLevel?: 'warn' | 'info' | 'debug' | undefined;
}
