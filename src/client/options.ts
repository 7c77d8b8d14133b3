import type { Dispatcher } from 'undici';
import type { HeadersOption } from './api-call.ts';
import type { CacheStore } from './cache/cache-store.ts';
import type { Clock } from './clock.ts';
import type { EventHooks } from './events.ts';
import type { ApiKeyOption } from './keys/key-source.ts';
import type { LimitStore } from './limits/shared/limit-store.ts';
import type { Middleware } from './middleware/intercept.ts';
import type { Numbers, NumbersOption } from './numbers.ts';
import type { QuotaEstimate } from './quota/quota-ledger.ts';
import type { FetchLike } from './transport/fetch-transport.ts';

/** How the key is sent: `Authorization: Bearer <key>`, the bare key in that header, or `?api_key=`. Exactly one form is ever used. */
export type AuthForm = 'bearer' | 'header' | 'query';

export interface RateLimitOptions {
  /**
   * Requests per minute the key may make. `'learn'` asks `quota()` when more calls wait than the smallest plan allows, and
   * learns from the service's answers. Default: `'learn'`.
   */
  readonly perMinute?: 'learn' | number | undefined;
  /**
   * Requests in flight at once. `'adapt'` starts with 4, grows to 256 while the service answers fast, and shrinks when it
   * is overloaded. A number is the starting value and the upper bound. Default: `'adapt'`.
   */
  readonly maxConcurrent?: 'adapt' | number | undefined;
  /** Whether one request that is probably refused is sent, while calls wait, to learn the kind of window. Default: true. */
  readonly probe?: boolean | undefined;
  /**
   * Where several processes with one key share its limit: `fileStore()` of `fxrates/file-store` on one host,
   * `redisStore(client)` of `fxrates/redis` on any number of them, or a store of your own. Default: this process only.
   */
  readonly store?: LimitStore | undefined;
}

export interface CacheOptions {
  /** Milliseconds, or `'snapshot'` for the plan's `snapshot_granularity`. */
  readonly maxAgeMs: number | 'snapshot';
  /** A Keyv instance or anything with its `get` and `set`. Default: memory, some thousand answers (16 MB). */
  readonly store?: CacheStore | undefined;
  /**
   * Instead of a `RateLimitError` or `QuotaExhaustedError`, gives an answer up to this old, marked `source: 'stale'`;
   * with `onLimit: 'throw'` at once. Default: 0, never.
   */
  readonly staleIfLimitedMs?: number | undefined;
}

export interface QuotaGuardOptions {
  /** Requests to keep. */
  readonly reserve: number;
  /** Told once per quota period, as soon as only the reserve is left. */
  readonly onLow?: ((estimate: QuotaEstimate) => void) | undefined;
}

/** The program that uses the client, for the logs of the service. */
export interface AppInfo {
  readonly name: string;
  readonly version?: string | undefined;
  readonly url?: string | undefined;
}

/** Options of a client. Each is checked by the constructor; a wrong one is a `ConfigError` that names it. */
export interface FxRatesOptions<Chosen extends Numbers = 'number'> extends EventHooks, NumbersOption<Chosen> {
  /** Where the service is, without `/api/v1`; plain http is for loopback only. Default: `FXRATES_BASE_URL`, by the first call at the latest. */
  readonly baseUrl?: string | URL | undefined;
  /** The key, or a function that gives it (asked again when the service refuses the key). Default: `FXRATES_API_KEY`, by the first call at the latest. */
  readonly apiKey?: ApiKeyOption | undefined;
  /** Default: `'bearer'`. `'query'` puts the key into URLs, which end up in logs; it warns once. */
  readonly auth?: AuthForm | undefined;
  /** Milliseconds for one attempt, headers and body. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds for a whole call: queue, attempts and waits; `false` for none. Does not apply to the calls of `batch`.
   * Default: 90 000.
   */
  readonly deadlineMs?: number | false | undefined;
  /**
   * Further attempts after a failed connection, a timed-out attempt, 408, 500, 502, 503 or 504; a certificate that Node
   * refuses is not tried again. Default: 2.
   */
  readonly maxRetries?: number | undefined;
  /** What a rate limit does to a call: it waits for its slot, or fails with `RateLimitError`. Default: `'wait'`. */
  readonly onLimit?: 'wait' | 'throw' | undefined;
  /**
   * Longest Retry-After to wait for, in milliseconds. A longer one rejects immediately with `RateLimitError`, and nothing
   * is sent until it is over, for at most a day. Default: 75 000.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Unit of a whole number in Retry-After. `'auto'`: seconds (RFC 9110 §10.2.3); a number from 76 to 61 200 is tried as
   * milliseconds, and the next answers decide. Default: `'auto'`.
   */
  readonly retryAfterUnit?: 'auto' | 'seconds' | 'milliseconds' | undefined;
  /**
   * How calls of one key share its per-minute limit; `false` sends without a queue. Clients of one key in one process
   * share one limit, with the options of the first. Default: learn the limit, adapt the concurrency.
   */
  readonly rateLimit?: RateLimitOptions | false | undefined;
  /**
   * Keeps answers that cost quota, in memory or in a store of yours. `'snapshot'`: as long as the plan's
   * `snapshot_granularity`, so an answer is at most one snapshot behind. Default: off.
   */
  readonly cache?: 'snapshot' | CacheOptions | undefined;
  /** Keeps a reserve of the monthly quota: calls fail locally when only that is left. Default: off. */
  readonly quotaGuard?: QuotaGuardOptions | undefined;
  /** Headers of each request; a call can add to them. `authorization` is a `ConfigError`. Default: none. */
  readonly headers?: HeadersOption | undefined;
  /** Added to the user agent: `fxrates/1.2.3 node/22.19.0 my-app/2.0 (https://my.app)`. Default: nothing. */
  readonly appInfo?: AppInfo | undefined;
  /**
   * Code around each attempt: tracing, signing, logging of bodies. The first of the list is the outermost. It does not see
   * the key unless it asks for it.
   */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Sends requests instead of undici: any WHATWG `fetch`. Not together with `dispatcher`. */
  readonly fetch?: FetchLike | undefined;
  /** An undici 7 dispatcher (proxy, mTLS, …). Default: undici's global one. */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * `'env'`: sends through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` names, in lower case first, except to
   * the hosts of `NO_PROXY` and to loopback. A value that cannot be used is a `ConfigError`. Not together with `fetch` or
   * `dispatcher`. On Bun and Deno, whose `fetch` reads these variables itself, it changes nothing. Default: false, no proxy.
   */
  readonly proxy?: 'env' | false | undefined;
  /** Longest body in bytes; a longer one is a `ResponseError`. Default: 10 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Allows plain http to other hosts than loopback; the key is then readable on the way. Default: false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Time, for tests. Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** Chance in [0, 1), for tests. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** The options of a client, whatever its numbers are. */
export type AnyOptions = FxRatesOptions<Numbers>;
