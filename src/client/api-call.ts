import type { Attempt } from './attempt.ts';
import { ownError } from './errors/own-error.ts';
import type { NumbersOption } from './numbers.ts';
import type { StandardSchema } from './standard-schema.ts';

/** Headers to send: names and values, or a `Headers` object. */
export type HeadersOption = Headers | Readonly<Record<string, string | undefined>>;

/** Options of one call, beside `schema` and `numbers`; each falls back to the client's own option of the same name. */
export interface CallOptions {
  /** Ends the call at once, wherever it is: queue, wait, connection or body. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, headers and body. Default: the client's, 10 000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for the whole call: queue, attempts and waits; `false` for none. Default: the client's, 90 000. */
  readonly deadlineMs?: number | false | undefined;
  /** Further attempts after a failed connection, a timed-out attempt, 408, 500, 502, 503 or 504. Default: the client's, 2. */
  readonly maxRetries?: number | undefined;
  /** What a rate limit does: wait for the next slot, or throw `RateLimitError`. Default: the client's, `'wait'`. */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /** `'high'`: the call is sent before all waiting calls of the key that are `'normal'`. Default: `'normal'`. */
  readonly priority?: 'high' | 'normal' | undefined;
  /** `false`: sends a request of its own although an identical call is under way. Default: true. */
  readonly coalesce?: boolean | undefined;
  /** Takes a kept answer younger than this, in milliseconds; `0` asks the service. Needs the option `cache`, whose age is the default. */
  readonly maxAgeMs?: number | undefined;
  /** Headers of this call, beside the client's; a header of the same name replaces it. Not `authorization`. */
  readonly headers?: HeadersOption | undefined;
  /** Lets this call spend what `quotaGuard` reserves. Default: false. */
  readonly useReserve?: boolean | undefined;
}

/** Call options with a Standard Schema (zod, valibot, arktype, …) that checks and types the payload. */
export interface SchemaCallOptions<Schema extends StandardSchema> extends CallOptions, NumbersOption {
  readonly schema: Schema;
}

/** What is known about an answer beside its data. */
export interface ResponseMeta {
  readonly status: number;
  readonly headers: Headers;
  /** The body exactly as it arrived, with the digits unchanged. */
  readonly rawBody: string;
  /** `'stale'`: older than the cache allows, given because the key is limited (`staleIfLimitedMs`). */
  readonly source: 'network' | 'cache' | 'coalesced' | 'stale';
  /** Milliseconds since the service gave this answer; 0 for one that just came. */
  readonly ageMs: number;
  readonly attempts: readonly Attempt[];
  /** ID of the last response: `x-request-id` or a header like it; `undefined` if it has none. */
  readonly requestId: string | undefined;
  /** Joins the attempts, events and errors of one call; callers that share a request share it. */
  readonly callId: string;
  /** Milliseconds from the call to its answer. */
  readonly durationMs: number;
}

/** The promise of a call's data; `withMeta()` gives the same answer with everything known about it. */
export interface ApiCall<Data> extends Promise<Data> {
  withMeta(): Promise<{ readonly data: Data; readonly meta: ResponseMeta }>;
}

/** How a call ended well. */
export interface CallResult<Data> {
  readonly data: Data;
  /** Created by `withMeta()` only: most calls do not use it. */
  readonly meta: () => ResponseMeta;
}

/** A promise of the data that can also give the data with its meta; both come from the one call. */
export function createApiCall<Data>(result: Promise<CallResult<Data>>): ApiCall<Data> {
  let meta: (() => ResponseMeta) | undefined;
  const succeeded = (ended: CallResult<Data>) => {
    meta = ended.meta;
    return ended.data;
  };
  const failed = (error: unknown): never => {
    throw ownError(error, failed);
  };
  const data = result.then(succeeded, failed);
  // From `data`, not from `result`: V8 finds who awaits a promise only where one does.
  const withMeta = () => data.then((value) => ({ data: value, meta: (meta as () => ResponseMeta)() })); // set before
  return Object.assign(data, { withMeta });
}
