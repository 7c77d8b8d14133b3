import type { QuotaData } from '../../generated/types.ts';
import type { ApiKeyOption } from '../key/api-key.ts';
import type { LimitStore } from '../limits/shared/limit-store.ts';
import type { Clock } from '../time/clock.ts';
import type { FetchedResponse, FetchLike } from '../transport/transport.ts';
import type { CallOptions, Numbers } from './call-options.ts';
import type { EventHooks } from './hooks.ts';

/** How the key is sent: `Authorization: Bearer <key>`, `Authorization: <key>`, or the query parameter `api_key=<key>`. */
export type AuthForm = 'bearer' | 'header' | 'query';

/** The option `rateLimit`: how the calls of one key share its per-minute limit. */
export interface RateLimitOptions {
  /**
   * Requests per minute that the key may make. A number is a cap on the requests of any minute, except a `quota()` that
   * explains a refusal. `'learn'` calls `quota()` when one of several calls waits, and more than 30 requests are needed
   * or one was refused, and learns from the responses.
   *
   * @default 'learn'
   * @example 300
   */
  readonly perMinute?: 'learn' | number | undefined;
  /**
   * Maximum number of requests in flight.
   *
   * @default 16
   * @example 32
   */
  readonly maxConcurrent?: number | undefined;
  /**
   * Store through which several processes share the limit of a key: `fileStore()` from `fxrates/file-store` on one host,
   * `redisStore(client)` from `fxrates/redis` on several hosts, or your own. If omitted, each process has its own limit.
   *
   * @default undefined
   * @example fileStore()
   */
  readonly store?: LimitStore | undefined;
}

/** The option `cache`: which responses are reused, and where they are stored. */
export interface CacheOptions {
  /**
   * Maximum age of a reused response in milliseconds, or `'snapshot'` for the snapshot interval of the plan.
   *
   * @example 60_000
   */
  readonly maxAgeMs: number | 'snapshot';
  /**
   * A Keyv instance, or any object with its `get` and `set`. If omitted, responses are kept in memory, up to about 16 MB.
   *
   * @default undefined
   * @example new Keyv('redis://127.0.0.1:6379')
   */
  readonly store?: CacheStore | undefined;
  /**
   * Maximum age, in milliseconds, of a response that is returned (with `source: 'stale'`) instead of a `RateLimitError` or
   * `QuotaExhaustedError`. With `onLimit: 'throw'`, it is returned without waiting. 0 disables it.
   *
   * @default 0
   * @example 3_600_000
   */
  readonly staleIfLimitedMs?: number | undefined;
  /**
   * Maximum age, in milliseconds, of a response that is returned (with `source: 'stale'`) instead of a `ServerError`,
   * `NetworkError` or `TimeoutError`, or of any error about a `deadlineMs`. 0 disables it.
   *
   * @default 0
   * @example 86_400_000
   */
  readonly staleIfErrorMs?: number | undefined;
  /**
   * Maximum age, in milliseconds, of a response that is returned at once (with `source: 'stale'`) while one request of low
   * priority renews it, which needs a process that continues. 0 disables it.
   *
   * @default 0
   * @example 600_000
   */
  readonly staleWhileRevalidateMs?: number | undefined;
}

/** A store of cached responses: a Keyv instance, or any object with these methods. */
export interface CacheStore {
  /** Returns the value of `key`; `undefined` if there is none. */
  get(key: string): unknown | Promise<unknown>;
  /** Stores `value`; the result `false` means that it failed. The store may delete it after `ttlMs` milliseconds. */
  set(key: string, value: string, ttlMs: number): unknown | Promise<unknown>;
}

/** The option `quotaGuard`: how many requests of the monthly quota are kept in reserve. */
export interface QuotaGuardOptions {
  /**
   * Requests to keep in reserve. If only these are left, a call rejects with `QuotaExhaustedError` unless its `priority` is
   * `'high'`. Other processes that call at full speed can use about 25 requests each before they are noticed.
   *
   * @example 100
   */
  readonly reserve: number;
  /**
   * Called once per quota period by each client with this option, when only the reserve is left. A client of `withOptions()` is
   * one of its own.
   *
   * @default undefined
   * @example ({ remaining }) => console.warn(`${remaining} requests left`)
   */
  readonly onLow?: ((estimate: QuotaEstimate) => void) | undefined;
}

/** Estimate of a key's quota: the last quota record, and the requests of this process since. Other processes are not counted. */
export interface QuotaEstimate {
  /** The last quota record, as the service sent it: fields that differ from the contract have caused a warning. */
  readonly quota: QuotaData;
  /** Time at which the record arrived. */
  readonly asOf: Date;
  /** Requests since then that count against the quota, or may count because their response was lost. */
  readonly usedSince: number;
  /** Estimated requests left; `undefined` if the plan has no numeric limit. */
  readonly remaining: number | undefined;
}

/** The request of one attempt, without the key: the client adds it after the last middleware. */
export interface MiddlewareRequest {
  /** URL of the request. A middleware may change path and query, but not the host, because the client adds the key. */
  readonly url: string;
  /** HTTP method. */
  readonly method: 'GET';
  /** Request headers. They can be changed in place, except those that the client or the transport sets (`authorization`, …). */
  readonly headers: Headers;
  /** The operation, such as `latest`; for `get()` with another path, the path. */
  readonly operation: string;
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** Milliseconds that the call has waited for this attempt: for the rate limit, an outage or a retry. */
  readonly waitedMs: number;
  /** ID of the call, the same for all its attempts. */
  readonly callId: string;
  /** Aborts if the attempt takes longer than `timeoutMs` or the call is aborted. */
  readonly signal: AbortSignal;
  /** Returns the full key, for a signature. Do not log it. */
  readonly revealKey: () => string;
}

/**
 * A function that runs around each attempt. It calls `next(request)` and returns its response, or another one. An error that
 * it throws rejects the call and is not retried. An attempt is one request, so a second `next()` rejects with `ConfigError`;
 * so does one after the function has returned, because no limit would count its request.
 *
 * @example
 * const log: Middleware = async (request, next) => {
 *   const response = await next(request);
 *   console.log(request.operation, response.status);
 *   return response;
 * };
 */
export type Middleware = (
  request: MiddlewareRequest,
  next: (request: MiddlewareRequest) => Promise<Response>,
) => Promise<Response>;

/** Options of a client. The constructor throws a `ConfigError` that names the first wrong one. */
export interface FxRatesOptions<Chosen extends Numbers = 'number'>
  extends Omit<CallOptions, 'signal' | 'priority' | 'maxAgeMs' | 'schema'>,
    EventHooks {
  /**
   * URL of the service, without `/api/v1`. Plain http is allowed for loopback only. If omitted, the constructor reads
   * `FXRATES_BASE_URL`; if that is not set, the first call reads it again.
   *
   * @default process.env.FXRATES_BASE_URL
   * @example 'https://rates.example'
   */
  readonly baseUrl?: string | URL | undefined;
  /**
   * The key, or a function that returns it. The function is called before the first call, and again if the key cannot be
   * used: after 401 or 403, with an exhausted quota, or if Retry-After exceeds `maxRetryAfterMs`. If omitted, the constructor reads `FXRATES_API_KEY`; if that is not set, the first call reads
   * it again.
   *
   * @default process.env.FXRATES_API_KEY
   * @example async () => readSecret('fxrates')
   */
  readonly apiKey?: ApiKeyOption | undefined;
  /**
   * How the key is sent. `'query'` puts it into URLs, which appear in logs, and warns once.
   *
   * @default 'bearer'
   */
  readonly auth?: AuthForm | undefined;
  /**
   * Longest Retry-After to wait for, in milliseconds. A longer one of a 429 rejects immediately with `RateLimitError`, and
   * no request is sent until it has elapsed, for at most one day. That of a 5xx rejects with `ServerError` if it is longer
   * than this or 90 s; after five minutes at most, one request tests the service.
   *
   * @default 600_000
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Unit of a whole number in Retry-After. With `'auto'`, it is seconds (RFC 9110 §10.2.3), but a number from 1,000 to 61,200
   * is tried as milliseconds: one request decides for good. Without a queue (`rateLimit: false`), it is always seconds.
   *
   * @default 'auto'
   */
  readonly retryAfterUnit?: 'auto' | 'seconds' | 'milliseconds' | undefined;
  /**
   * How calls wait for the per-minute limit; `false` sends them without a queue. All clients of a key in one process share
   * one limit, with the options of the first client.
   *
   * @default { perMinute: 'learn', maxConcurrent: 16 }
   * @example { perMinute: 300 }
   */
  readonly rateLimit?: RateLimitOptions | false | undefined;
  /**
   * Reuses responses that count against the monthly quota. `'snapshot'` reuses a response for the snapshot interval of the
   * plan, so it is at most one snapshot behind. If omitted, no response is reused.
   *
   * @default undefined
   * @example { maxAgeMs: 60_000, staleIfLimitedMs: 3_600_000 }
   */
  readonly cache?: 'snapshot' | CacheOptions | undefined;
  /**
   * Keeps a reserve of the monthly quota: calls reject with `QuotaExhaustedError` if only the reserve is left. If `quota()`
   * fails and the quota is unknown, the client warns once and sends the calls.
   *
   * @default undefined
   * @example { reserve: 100 }
   */
  readonly quotaGuard?: QuotaGuardOptions | undefined;
  /**
   * Functions that run around each attempt, for tracing, signing or logging. The first one is the outermost. The request
   * that they receive does not contain the key.
   *
   * @default []
   * @example [async (request, next) => next(request)]
   */
  readonly middleware?: readonly Middleware[] | undefined;
  /**
   * A WHATWG `fetch` that sends the requests. Cannot be combined with `dispatcher` or `proxy`. If omitted, undici sends them
   * on Node.js unless the global `fetch` is replaced (msw, nock, a stub), and the `fetch` of the runtime elsewhere.
   *
   * @default undefined
   * @example (url, init) => fetch(url, init)
   */
  readonly fetch?: FetchLike<FetchedResponse> | undefined;
  /**
   * A dispatcher of undici 6, 7 or 8, for mTLS, a connection pool or a proxy. If omitted, the global dispatcher is used if the
   * program has set one. Not a RetryAgent: it waits for Retry-After within the attempt, which then times out. Not with the
   * interceptor `responseError()`: it reports a refusal as a failed connection. The type is the part that all versions have.
   *
   * @default undefined
   * @example new Agent({ connections: 8 })
   */
  readonly dispatcher?: { dispatch(options: never, handler: never): boolean } | undefined;
  /**
   * `'env'` sends requests through the proxy in `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, except to loopback and to hosts
   * in `NO_PROXY`. Lower-case variables take precedence. An invalid value is a `ConfigError`. Cannot be combined with `fetch`
   * or `dispatcher`. Bun and Deno read these variables in their own `fetch`, with or without the option.
   *
   * @default false
   */
  readonly proxy?: 'env' | false | undefined;
  /**
   * Maximum length of a response body in bytes. A longer one rejects with `ResponseError`. At least 1,000: the record of
   * `quota()` must fit, because it tells whether a 429 is for the month.
   *
   * @default 10_485_760
   */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Allows plain http to hosts other than loopback. Any system on the network path can then read the key.
   *
   * @default false
   */
  readonly allowInsecureHttp?: boolean | undefined;
  /**
   * Type of the numbers in the data. `'number'`: JavaScript numbers, with about 16 digits. `'string'`: strings with all
   * digits. A `schema` receives the converted data.
   *
   * @default 'number'
   */
  readonly numbers?: Chosen | undefined;
  /**
   * Source of the time, for tests. If omitted, the client uses the clock of the system.
   *
   * @default undefined
   * @example mock.clientOptions().clock
   */
  readonly clock?: Clock | undefined;
}

/** The options of a client with any value of `numbers`. */
export type AnyOptions = FxRatesOptions<Numbers>;
