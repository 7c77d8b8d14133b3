import type { SchemaIssue } from './errors/errors.ts';

/** Type of the numbers in the data: `'number'`, with about 16 digits, or `'string'`, with all digits. */
export type Numbers = 'number' | 'string';

/** Headers to send: names and values, or a `Headers` object. */
type HeadersOption = Headers | Readonly<Record<string, string | undefined>>;

/** Options of a client that a call can override. */
export interface OverridableOptions {
  /**
   * Time limit for one attempt in milliseconds, including the response body.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit for a whole call in milliseconds, including queue, attempts and waits. With `false`, a call waits for the
   * rate limit as long as necessary; set a number in a request handler. That of the client does not apply to `batch()`.
   *
   * @default false
   * @example 5_000
   */
  readonly deadlineMs?: number | false | undefined;
  /**
   * Maximum number of retries after a failed connection, a timed-out attempt, or the status 408, 500, 502, 503 or 504. A
   * certificate that Node.js rejects is not retried.
   *
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * Whether a call waits for the rate limit, or rejects with `RateLimitError`. That of the client does not apply to `batch()`.
   *
   * @default 'wait'
   */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * Headers of every request. Those of a call are added to the client's; a header with the same name replaces the client's.
   * `user-agent` is appended to that of the client. Headers that the client or the transport sets, such as `authorization`,
   * are a `ConfigError`.
   *
   * @default undefined
   * @example { 'x-team': 'pricing' }
   */
  readonly headers?: HeadersOption | undefined;
  /**
   * Whether a call shares the request of an identical call in flight: one with the same path, query, `headers`, `timeoutMs`,
   * `deadlineMs`, `maxRetries`, `onLimit`, `priority` and `maxAgeMs`.
   *
   * @default true
   */
  readonly coalesce?: boolean | undefined;
}

/** Options of one call. They override the client's options of the same name. */
export interface CallOptions extends OverridableOptions {
  /**
   * Signal that ends the call, batch or poll immediately with `AbortError`: in the queue, during a wait or while a response
   * arrives.
   *
   * @default undefined
   * @example AbortSignal.timeout(2_000)
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * `'high'` sends the call before waiting calls of a lower priority, `'low'` after those of a higher one. A call of high
   * priority may use the requests that `quotaGuard` keeps in reserve.
   *
   * @default 'normal'
   */
  readonly priority?: 'high' | 'normal' | 'low' | undefined;
  /**
   * Maximum age of a cached response in milliseconds; 0 sends a request. Requires the client's option `cache`. If omitted,
   * the age of that option applies.
   *
   * @default undefined
   * @example 60_000
   */
  readonly maxAgeMs?: number | undefined;
}

/** Call options with a schema for the data. */
export interface SchemaCallOptions<Schema extends StandardSchema> extends CallOptions {
  /**
   * A Standard Schema (zod, valibot, arktype, …) that checks and types the data. If the data does not match, the call
   * rejects with `ResponseError`.
   *
   * @example z.object({ rates: z.record(z.string(), z.number()) })
   */
  readonly schema: Schema;
}

/** A Standard Schema (standardschema.dev, version 1), as far as the client uses it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of the specification. `validate` returns `{ value }`, or `{ issues }` if the value does not match. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of `validate()`: the value, or the issues if it does not match. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The type of the data that a schema returns. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];
