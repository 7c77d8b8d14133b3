import type { Attempt } from '../api-call.ts';
import type { AnyFxRatesError } from './any-fxrates-error.ts';
import { hideAbsent } from './hide-absent.ts';

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

/** What an error can tell beside its message; all optional. */
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
  /** The attempts made before this error, the failed one included. */
  readonly attempts: readonly Attempt[];
  readonly [BRAND] = true;

  constructor(message: string, { code, status, headers, attempts, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.headers = headers;
    this.attempts = attempts ?? [];
    Object.defineProperty(this, BRAND, { enumerable: false });
    hideAbsent(this, { code, status, headers, attempts });
  }

  /** Whether `error` is one of the client's errors, also across copies of the package; narrows to a union on `kind`. */
  static is(error: unknown): error is AnyFxRatesError {
    return typeof error === 'object' && error !== null && BRAND in error;
  }

  /** For logs, with what one acts on: no headers, no cause, no stack. */
  toJSON(): Record<string, unknown> {
    const { name, kind, code, message, status, attempts } = this;
    return { name, kind, code, message, status, attempts };
  }
}
