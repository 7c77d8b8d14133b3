import { isSignal } from '../../foreign-values.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { definedOf } from '../../json.ts';
import type { Operation } from '../../operation.ts';
import { ConfigError } from '../errors/errors.ts';
import type { LimitStore } from '../limits/shared/limit-store.ts';
import { type Clock, realClock } from '../time/clock.ts';
import type { FetchLike } from '../transport/transport.ts';
import type { BatchOptions, CallOptions, PollOptions, QueryOperation, StandardSchema } from './call-options.ts';
import {
  callable,
  countFrom,
  having,
  MS,
  numberOf,
  type OptionCheck,
  oneOf,
  optional,
  POSITIVE_MS,
  prototypesOf,
  refuse,
  requireKnownNames,
  resolveHeaders,
  truth,
  valid,
} from './checks.ts';
import type {
  AnyOptions,
  CacheOptions,
  CacheStore,
  Middleware,
  QuotaGuardOptions,
  RateLimitOptions,
} from './client-options.ts';
import type { Logger } from './hooks.ts';

interface Row<Value> {
  /** Returns the setting. It rejects a missing value unless the option is optional. */
  readonly check: OptionCheck<unknown>;
  readonly default?: Exclude<Value, undefined>;
}
type Rows<Options> = { readonly [Name in keyof Options]-?: Row<Options[Name]> };
type Table = Readonly<Record<string, Row<unknown>>>;
type SettingsOf<T extends Table> = { readonly [Name in keyof T]: ReturnType<T[Name]['check']> };

const RATE_LIMIT = {
  perMinute: { check: numberOf(countFrom(1), 'learn'), default: 'learn' },
  maxConcurrent: { check: numberOf(countFrom(1)), default: 16 },
  store: {
    check: optional(
      having<LimitStore>(
        'fileStore() of fxrates/file-store, redisStore(client) of fxrates/redis, or an object with exchange()',
        'exchange',
      ),
    ),
  },
} as const satisfies Rows<RateLimitOptions>;

const CACHE = {
  maxAgeMs: { check: numberOf(MS, 'snapshot') },
  store: { check: optional(having<CacheStore>('a Keyv instance, or an object with get and set', 'get', 'set')) },
  staleIfLimitedMs: { check: numberOf(MS), default: 0 },
  staleIfErrorMs: { check: numberOf(MS), default: 0 },
  staleWhileRevalidateMs: { check: numberOf(MS), default: 0 },
} as const satisfies Rows<CacheOptions>;

const QUOTA_GUARD = {
  reserve: { check: numberOf(countFrom(0)) },
  onLow: { check: callable<NonNullable<QuotaGuardOptions['onLow']>>() },
} as const satisfies Rows<QuotaGuardOptions>;

/** Options of a client that a call can override. */
const EVERYWHERE = {
  timeoutMs: { check: numberOf(POSITIVE_MS), default: 10_000 },
  deadlineMs: { check: numberOf(POSITIVE_MS, false), default: false },
  maxRetries: { check: numberOf(countFrom(0)), default: 2 },
  onLimit: { check: oneOf('wait', 'throw'), default: 'wait' },
  headers: { check: resolveHeaders, default: {} },
  coalesce: { check: truth, default: true },
} as const satisfies Rows<Pick<AnyOptions, keyof AnyOptions & keyof CallOptions>>;

const CLIENT = {
  ...({
    /** Checked by `checkBaseUrl`, with `allowInsecureHttp`. */
    baseUrl: { check: (_, value) => value },
    /** Checked by `ApiKey`. */
    apiKey: { check: (_, value) => value },
    auth: { check: oneOf('bearer', 'header', 'query'), default: 'bearer' },
    maxRetryAfterMs: { check: numberOf(countFrom(1)), default: 600_000 },
    retryAfterUnit: { check: oneOf('auto', 'seconds', 'milliseconds'), default: 'auto' },
    rateLimit: { check: rateLimit, default: {} },
    cache: { check: optional(cache) },
    quotaGuard: { check: optional((option, value) => settingsIn(QUOTA_GUARD, value, option)) },
    middleware: {
      check: valid<readonly Middleware[]>('a list of functions (request, next) => response', isMiddleware),
      default: [],
    },
    fetch: { check: callable<FetchLike>() },
    dispatcher: {
      check: optional(
        having<NonNullable<AnyOptions['dispatcher']>>(
          'an undici dispatcher (an object with a dispatch method)',
          'dispatch',
        ),
      ),
    },
    proxy: { check: oneOf('env', false), default: false },
    numbers: { check: oneOf('number', 'string'), default: 'number' },
    maxResponseBytes: { check: numberOf(countFrom(1_000)), default: 10 * 2 ** 20 },
    allowInsecureHttp: { check: truth, default: false },
    clock: { check: clock, default: realClock },
    logger: { check: optional(having<Logger>('an object with warn(message)', 'warn')) },
    logLevel: { check: optional(oneOf('warn', 'info', 'debug')) },
    onCall: { check: callable() },
    onRequest: { check: callable() },
    onRetry: { check: callable() },
    onWait: { check: callable() },
    onQuota: { check: callable() },
  } as const satisfies Rows<Omit<AnyOptions, keyof CallOptions>>),
  ...EVERYWHERE,
};

const CALL = {
  ...({
    signal: { check: valid<AbortSignal>('an AbortSignal', isSignal) },
    priority: { check: oneOf('high', 'normal', 'low') },
    maxAgeMs: { check: numberOf(MS) },
    schema: { check: valid<StandardSchema>('a Standard Schema (zod 4, valibot, arktype, …)', isSchema) },
  } as const satisfies Rows<Omit<CallOptions<StandardSchema>, keyof AnyOptions>>),
  ...EVERYWHERE,
};

const BATCH = {
  ...CALL,
  ...({
    operation: { check: oneOf(...queryOperations()) },
    concurrency: { check: numberOf(countFrom(1)) },
    onProgress: { check: callable<NonNullable<BatchOptions['onProgress']>>() },
  } as const satisfies Rows<Omit<BatchOptions, keyof CallOptions>>),
};

const POLL = {
  ...CALL,
  ...({
    operation: { check: oneOf(...(Object.keys(operations) as OperationId[])) },
    every: { check: numberOf(POSITIVE_MS, 'quota', 'snapshot') },
    onError: { check: callable<NonNullable<PollOptions['onError']>>() },
  } as const satisfies Rows<Omit<PollOptions, keyof CallOptions>>),
};

const GET = { ...CALL, query: { check: (_: string, value: unknown) => value } };

/** The options of calls and loops. `call-options.ts` documents them, as `client-options.ts` does those of a client. */
const PLACES = { call: CALL, get: GET, batch: BATCH, poll: POLL } as const;
type Places = typeof PLACES;

export type CacheSettings = SettingsOf<typeof CACHE> & { readonly store: CacheStore };

/** The options of a client, checked and with their defaults. @throws ConfigError for an unknown or a wrong one */
export function readClientOptions(options: object): SettingsOf<typeof CLIENT> {
  const ofCall = Object.keys(Object(options)).find((name) => Object.hasOwn(CALL, name) && !Object.hasOwn(CLIENT, name));
  if (ofCall !== undefined) {
    throw new ConfigError(
      `FxRates options: '${ofCall}' is an option of a call; pass it with the call: fx.latest(query, { ${ofCall} })`,
    );
  }
  return settingsIn(CLIENT, options);
}

/** The options that are set, checked. @throws ConfigError for an unknown or a wrong one */
export function readOptions<P extends keyof Places>(place: P, options: object): Partial<SettingsOf<Places[P]>> {
  const table: Table = PLACES[place];
  const given = givenIn(table, options, `${place} options`);
  const settings = Object.entries(given).map(([name, value]) => [name, table[name]?.check(name, value)]);
  return Object.assign(Object.create(null), Object.fromEntries(settings)); // each is the result of its check
}

/** The options of the client, or those in its option `within`, with their defaults. */
function settingsIn<T extends Table>(table: T, options: unknown, within?: string): SettingsOf<T> {
  const given = givenIn(table, options, within ?? 'FxRates options');
  const prefix = within === undefined ? '' : `${within}.`;
  const settings = Object.entries<Row<unknown>>(table).map(([name, row]) => [
    name,
    row.check(`${prefix}${name}`, Object.hasOwn(given, name) ? given[name] : row.default),
  ]);
  return Object.fromEntries(settings) as SettingsOf<T>; // each is the result of its check
}

function givenIn(table: Table, options: unknown, where: string): Readonly<Record<string, unknown>> {
  requireKnownNames(options, Object.keys(table), where);
  return definedOf(withInherited(table, options));
}

/** A copy of the options of a client. The program may change its own object. */
export function copyOfOptions<Options extends AnyOptions>(options: Options): Options {
  return withInherited(CLIENT, options) as Options; // the same options
}

/** A copy that also has the options of a class, such as its getters, which a spread does not copy. */
function withInherited(table: Table, options: object): Readonly<Record<string, unknown>> {
  const prototypes = prototypesOf(options);
  const inherited = Object.keys(table).filter(
    (name) => !Object.hasOwn(options, name) && prototypes.some((one) => Object.hasOwn(one, name)),
  );
  return { ...options, ...Object.fromEntries(inherited.map((name) => [name, Reflect.get(options, name)])) };
}

function rateLimit(option: string, value: unknown): SettingsOf<typeof RATE_LIMIT> | false {
  return value === false ? false : settingsIn(RATE_LIMIT, value, option);
}

function cache(option: string, value: unknown): CacheSettings {
  if (value === 'snapshot') return cache(option, { maxAgeMs: value });
  if (typeof value !== 'object') return refuse(option, value, "'snapshot' or an object of options");
  const settings = settingsIn(CACHE, value, option);
  return { ...settings, store: settings.store ?? new MemoryStore() };
}

function clock(option: string, value: unknown): Clock {
  const given = having<Clock>('an object with now() and sleep(ms, signal)', 'now', 'sleep')(option, value);
  const now: unknown = given.now();
  return Number.isFinite(now) ? given : refuse(`${option}.now()`, now, 'milliseconds since the Unix epoch');
}

function isMiddleware(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'function');
}

function isSchema(value: unknown): boolean {
  const standard = (value as Partial<StandardSchema> | null)?.['~standard'];
  return typeof standard?.validate === 'function';
}

function queryOperations(): QueryOperation[] {
  const withQuery = Object.values<Operation>(operations).filter(({ query }) => query !== 'none');
  return withQuery.map(({ id }) => id) as QueryOperation[]; // those that take a query
}

/** In characters: about a thousand responses of 170 rates, or one response of the maximum length. */
const DEFAULT_CAPACITY = 16_000_000;

/** The default store: responses in memory. It evicts the oldest response. */
export class MemoryStore implements CacheStore {
  readonly #capacity: number;
  /** The oldest first. */
  readonly #entries = new Map<string, string>();
  #size = 0;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: string): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#size += key.length + value.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#capacity) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#size -= key.length + value.length;
  }
}
