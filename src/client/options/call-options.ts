import type { OperationId, operations } from '../../generated/operations.ts';
import type { AnyFxRatesError, SchemaIssue } from '../errors/errors.ts';
import type { Priority } from '../limits/request-queue.ts';

/** Type of the numbers in the data: `'number'`, with about 16 digits, or `'string'`, with all digits. */
export type Numbers = 'number' | 'string';

/** Headers to send: names and values, or a `Headers` object. */
type HeadersOption = Headers | Readonly<Record<string, string | undefined>>;

/** Options of one call. They override the client's options of the same name. */
export interface CallOptions<Schema extends StandardSchema | undefined = undefined> {
  /**
   * Time limit for one attempt in milliseconds, including the response body. After the retries, the call rejects with
   * `TimeoutError` (`scope: 'attempt'`). Without `fetch` and `dispatcher`, a connection that takes longer than 10 s fails
   * before, with `NetworkError`. The time limit of the client also limits each call of an `apiKey` function.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit for a whole call in milliseconds, including queue, attempts and waits. With `false`, a call waits for the
   * rate limit as long as necessary; set a number in a request handler. A call that is too late rejects with `TimeoutError`
   * (`scope: 'deadline'`); one that cannot be sent in time rejects at once with `RateLimitError` (`reason: 'deadline'`), or
   * during an outage with `ServerError` or `NetworkError`. That of the client does not apply to `batch()`.
   *
   * @default false
   * @example 5_000
   */
  readonly deadlineMs?: number | false | undefined;
  /**
   * Maximum number of retries after a failed connection, a timed-out attempt, or the status 408, 500, 502 to 504, 520 to 524,
   * 527, 529 or 530; with `rateLimit: false`, also after a 429. A certificate that Node.js rejects is not retried.
   *
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * Whether a call waits for the rate limit, or rejects with `RateLimitError`; with `'throw'`, it does not wait for an outage
   * either, and rejects with `ServerError` or `NetworkError`. That of the client does not apply to `batch()`.
   *
   * @default 'wait'
   */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * Headers of every request. Those of a call are added to the client's; a header with the same name replaces the client's.
   * `user-agent` is appended to that of fxrates. Headers that the client or the transport sets, such as `authorization`,
   * are a `ConfigError`. Calls with different headers share neither requests nor cached responses, so set a header that differs
   * for each call, such as `traceparent`, in a `middleware`.
   *
   * @default undefined
   * @example { 'x-team': 'pricing' }
   */
  readonly headers?: HeadersOption | undefined;
  /**
   * Whether a call shares the request of an identical call in flight: one with the same path, query, `headers`, `timeoutMs`,
   * `deadlineMs`, `maxRetries`, `onLimit`, `priority` and `maxAgeMs`. Equal queries of a batch share one request even if they
   * are up to 60 s apart, also if the client's `cache` has a shorter age; with `false` and without `cache`, each is sent.
   *
   * @default true
   */
  readonly coalesce?: boolean | undefined;
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
  /**
   * A Standard Schema (zod, valibot, arktype, …) that checks and types the data. If the data does not match, the call
   * rejects with `ResponseError`.
   *
   * @default undefined
   * @example z.object({ rates: z.record(z.string(), z.number()) })
   */
  readonly schema?: Schema | undefined;
}

/** The options of a call with or without a schema. */
export type AnyCallOptions = CallOptions<StandardSchema | undefined>;

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
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'] &
  ZodOutput<Schema>;

/** `z.output`, in the same words: where the schema is generic, the compiler compares only them. */
// biome-ignore lint/suspicious/noExplicitAny: as zod writes it
type ZodOutput<Schema> = Schema extends { _zod: { output: any } } ? Schema['_zod']['output'] : unknown;

/** The operations that take a query, and the default of a batch. */
export type QueryOperation =
  | 'latest'
  | { [Id in OperationId]: (typeof operations)[Id]['query'] extends 'none' ? never : Id }[OperationId];

/** The progress of a batch, for `onProgress`. */
export interface BatchProgress {
  /** Number of calls that have ended, including failed ones. */
  readonly done: number;
  /** Number of calls that have ended with an error. */
  readonly failed: number;
  /** Number of queries: the `length` or `size` of the iterable; `undefined` if it has neither. */
  readonly total: number | undefined;
  /** Number of calls of the key in the queue of this process; 0 with `rateLimit: false`. */
  readonly waiting: number;
  /**
   * Estimated milliseconds until the last call ends, from the limit and the speed of the service; `undefined` if `total` is.
   * Other users of the key, and a limit that is not known yet, make it longer.
   */
  readonly etaMs: number | undefined;
}

/** Options of a batch. Those of a call apply to each of its calls. */
export interface BatchOptions<
  Id extends QueryOperation = QueryOperation,
  Schema extends StandardSchema | undefined = undefined,
> extends Omit<CallOptions<Schema>, 'deadlineMs' | 'onLimit' | 'priority'> {
  /**
   * Time limit for each call in milliseconds, from its start and including the queue; `false` for none. The client's option
   * does not apply.
   *
   * @default false
   */
  readonly deadlineMs?: number | false | undefined;
  /**
   * Whether each call waits for the rate limit, or fails with `RateLimitError`. The client's option does not apply.
   *
   * @default 'wait'
   */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * When each call is sent: before (`'high'`), among (`'normal'`) or after (`'low'`) the other waiting calls of the key.
   *
   * @default 'low'
   */
  readonly priority?: 'high' | 'normal' | 'low' | undefined;
  /**
   * Maximum number of calls that wait, are in flight, or have a result that the loop has not read. With `rateLimit: false`,
   * the default is 16.
   *
   * @default 256
   */
  readonly concurrency?: number | undefined;
  /**
   * Name of the operation to call. The queries have the type of its query.
   *
   * @default 'latest'
   */
  readonly operation?: Id | undefined;
  /**
   * Called after each call, with the progress so far.
   *
   * @default undefined
   * @example ({ done, total, etaMs }) => console.log(`${done}/${total}, ${etaMs} ms left`)
   */
  readonly onProgress?: ((progress: BatchProgress) => void) | undefined;
}

/** The next call of a poll. */
export interface PollSchedule {
  /** Time of the next call. */
  readonly at: Date;
  /** Milliseconds from the start of one call to the start of the next. */
  readonly intervalMs: number;
  /**
   * Reason for the interval. `'every'`: the option. `'limit'`: the per-minute limit. `'snapshot'`: the snapshot interval of
   * the plan. `'quota'`: the quota must last until it resets. `'unknown'`: `quota()` failed.
   */
  readonly reason: 'every' | 'limit' | 'snapshot' | 'quota' | 'unknown';
}

/** Options of a poll. Those of a call apply to each of its calls. */
export interface PollOptions<
  Id extends OperationId = OperationId,
  Schema extends StandardSchema | undefined = undefined,
> extends CallOptions<Schema> {
  /**
   * Interval from one call to the next in milliseconds. `'snapshot'` uses the snapshot interval of the plan. `'quota'` spreads
   * the requests left, without the reserve of `quotaGuard` and the usual use by other calls and processes, until the quota
   * resets. All polls of a key in the process share these requests. With both, the interval is never shorter than the
   * snapshot interval; with `'quota'`, never shorter than one minute.
   *
   * @default 'quota'
   * @example 300_000
   */
  readonly every?: 'quota' | 'snapshot' | number | undefined;
  /**
   * Name of the operation to call.
   *
   * @default 'latest'
   */
  readonly operation?: Id | undefined;
  /**
   * Called after a temporary failure (`network`, `server`, `timeout`, `rate_limited`, `quota_exhausted`); the poll then
   * continues. An error that it throws ends the poll. If omitted, every failure ends the poll.
   *
   * @default undefined
   * @example (error, next) => console.warn(error.message, next.at)
   */
  readonly onError?: ((error: AnyFxRatesError, next: PollSchedule) => void) | undefined;
}

/** The options of a call, validated and complete. */
export interface CallSettings {
  readonly timeoutMs: number;
  /** Milliseconds for the whole call; Infinity for no deadline. */
  readonly deadlineMs: number;
  readonly maxRetries: number;
  readonly onLimit: 'wait' | 'throw';
  /** Calls of a higher priority are sent before the others of their key. */
  readonly priority: Priority;
  /** In addition to the client's own headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Identical calls in flight with the same text share one request; `undefined`: the call shares none. */
  readonly sharedBy: string | undefined;
  /** Maximum age of a cached response in milliseconds; `undefined`: that of the option `cache`. */
  readonly maxAgeMs: number | undefined;
}

/**
 * Why `quota()` is called: by the program (`'call'`), or by the client to explain a refused request (`'refusal'`), to update
 * its estimate (`'refresh'`) or to learn the per-minute limit (`'limit'`).
 */
export type QuotaReason = 'call' | 'refusal' | 'refresh' | 'limit';
