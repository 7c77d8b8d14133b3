import { type OperationId, operations } from '../../generated/operations.ts';
import type { CallOptions, SchemaCallOptions } from '../api-call.ts';
import type { BatchOptions } from '../batch.ts';
import type { Logger } from '../events.ts';
import type { LimitStore } from '../limits/shared/limit-store.ts';
import type { AnyOptions, CacheOptions, CacheStore, QuotaGuardOptions, RateLimitOptions } from '../options.ts';
import type { PollOptions } from '../poll.ts';
import type { StandardSchema } from '../standard-schema.ts';
import type { Middleware } from '../steps/intercept.ts';
import { type Clock, realClock } from '../time/clock.ts';
import type { FetchLike } from '../transport/transport.ts';
import {
  callable,
  countFrom,
  having,
  MS,
  numberOf,
  type OptionCheck,
  oneOf,
  POSITIVE_MS,
  refuse,
  requireKnownNames,
  resolveHeaders,
  truth,
  valid,
} from './checks.ts';

interface Row<Value> {
  readonly check: OptionCheck<unknown>;
  readonly default?: Exclude<Value, undefined>;
  readonly isRequired?: true;
}
type Rows<Options> = { readonly [Name in keyof Options]-?: Row<Options[Name]> };
type Table = Readonly<Record<string, Row<unknown>>>;

const RATE_LIMIT = {
  perMinute: { check: numberOf(countFrom(1), 'learn'), default: 'learn' },
  maxConcurrent: { check: numberOf(countFrom(1)), default: 16 },
  store: {
    check: having<LimitStore>(
      'fileStore() of fxrates/file-store, redisStore(client) of fxrates/redis, or an object with exchange()',
      'exchange',
    ),
  },
} as const satisfies Rows<RateLimitOptions>;

const CACHE = {
  maxAgeMs: { check: numberOf(MS, 'snapshot'), isRequired: true },
  store: { check: having<CacheStore>('a Keyv instance, or an object with get and set', 'get', 'set') },
  staleIfLimitedMs: { check: numberOf(MS), default: 0 },
} as const satisfies Rows<CacheOptions>;

const QUOTA_GUARD = {
  reserve: { check: numberOf(countFrom(0)), isRequired: true },
  onLow: { check: callable<QuotaGuardOptions['onLow']>() },
} as const satisfies Rows<QuotaGuardOptions>;

const KEPT: OptionCheck<unknown> = (_, value) => value;

/** Options of a client that a call can override. */
const EVERYWHERE = {
  timeoutMs: { check: numberOf(POSITIVE_MS), default: 10_000 },
  deadlineMs: { check: numberOf(POSITIVE_MS, false), default: false },
  maxRetries: { check: numberOf(countFrom(0)), default: 2 },
  onLimit: { check: oneOf('wait', 'throw'), default: 'wait' },
  headers: { check: resolveHeaders, default: {} },
  coalesce: { check: truth(), default: true },
} as const satisfies Rows<Pick<AnyOptions, keyof AnyOptions & keyof CallOptions>>;

const CLIENT = {
  ...({
    /** Checked by `checkBaseUrl`, with `allowInsecureHttp`. */
    baseUrl: { check: KEPT },
    /** Checked by `ApiKey`. */
    apiKey: { check: KEPT },
    auth: { check: oneOf('bearer', 'header', 'query'), default: 'bearer' },
    maxRetryAfterMs: { check: numberOf(countFrom(1)), default: 600_000 },
    retryAfterUnit: { check: oneOf('auto', 'seconds', 'milliseconds'), default: 'auto' },
    rateLimit: { check: rateLimit, default: {} },
    cache: { check: cache },
    quotaGuard: { check: quotaGuard },
    middleware: {
      check: valid<readonly Middleware[]>('a list of functions (request, next) => response', isMiddleware),
      default: [],
    },
    fetch: { check: callable<FetchLike>() },
    dispatcher: {
      check: having<NonNullable<AnyOptions['dispatcher']>>(
        'an undici dispatcher (an object with a dispatch method)',
        'dispatch',
      ),
    },
    proxy: { check: oneOf('env', false), default: false },
    numbers: { check: oneOf('number', 'string'), default: 'number' },
    maxResponseBytes: { check: numberOf(countFrom(1)), default: 10 * 2 ** 20 },
    allowInsecureHttp: { check: truth(), default: false },
    clock: { check: having<Clock>('an object with now() and sleep(ms, signal)', 'now', 'sleep'), default: realClock },
    logger: { check: having<Logger>('an object with warn(message)', 'warn') },
    logLevel: { check: oneOf('warn', 'info', 'debug') },
    onRequest: { check: callable<AnyOptions['onRequest']>() },
    onRetry: { check: callable<AnyOptions['onRetry']>() },
    onWait: { check: callable<AnyOptions['onWait']>() },
    onQuota: { check: callable<AnyOptions['onQuota']>() },
  } as const satisfies Rows<Omit<AnyOptions, keyof CallOptions>>),
  ...EVERYWHERE,
};

const CALL = {
  ...({
    signal: { check: valid<AbortSignal>('an AbortSignal', (value) => value instanceof AbortSignal) },
    priority: { check: oneOf('high', 'normal', 'low') },
    maxAgeMs: { check: numberOf(MS) },
    schema: { check: valid<StandardSchema>('a Standard Schema (zod 4, valibot, arktype, …)', isSchema) },
  } as const satisfies Rows<Omit<SchemaCallOptions<StandardSchema>, keyof AnyOptions>>),
  ...EVERYWHERE,
};

const BATCH = {
  ...CALL,
  ...({
    operation: { check: oneOf(...operationIds()) },
    concurrency: { check: numberOf(countFrom(1)) },
    onProgress: { check: callable<BatchOptions['onProgress']>() },
  } as const satisfies Rows<Omit<BatchOptions, keyof CallOptions>>),
};

const POLL = {
  ...CALL,
  ...({
    operation: { check: oneOf(...operationIds()) },
    every: { check: numberOf(POSITIVE_MS, 'quota', 'snapshot') },
    onError: { check: callable<PollOptions['onError']>() },
  } as const satisfies Rows<Omit<PollOptions, keyof CallOptions>>),
};

/** Every option: where it may be set, what it accepts, and its default. `options.ts` and its neighbours document them. */
const PLACES = { client: CLIENT, call: CALL, batch: BATCH, poll: POLL } as const;
type Places = typeof PLACES;

type GivenIn<T extends Table> = { readonly [Name in keyof T]?: ReturnType<T[Name]['check']> };
type SettingOf<R extends Row<unknown>> =
  | ReturnType<R['check']>
  | (R extends { readonly default: unknown } | { readonly isRequired: true } ? never : undefined);
type SettingsOf<T extends Table> = { readonly [Name in keyof T]: SettingOf<T[Name]> };

/** The options of a client, checked and with their defaults. */
export type CheckedClientOptions = SettingsOf<Places['client']>;
export type RateLimitSettings = SettingsOf<typeof RATE_LIMIT>;
export type CacheSettings = SettingsOf<typeof CACHE> & { readonly store: CacheStore };

/** The options of a client, checked and with their defaults. @throws ConfigError for an unknown or a wrong one */
export function readClientOptions(options: object): CheckedClientOptions {
  return complete(PLACES.client, options, { where: 'FxRates options' });
}

/** The options that are set, checked. @throws ConfigError for an unknown or a wrong one */
export function readOptions<P extends Exclude<keyof Places, 'client'>>(place: P, options: object): GivenIn<Places[P]> {
  return givenIn<Places[P]>(PLACES[place], options, { where: `${place} options` });
}

interface Naming {
  /** The object of options, for an error. */
  readonly where: string;
  /** Before the name of an option in an error. */
  readonly prefix?: string;
}

function givenIn<T extends Table>(table: T, options: unknown, { where, prefix = '' }: Naming): GivenIn<T> {
  requireKnownNames(options, Object.keys(table), where);
  const given = Object.entries(options as object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, table[name]?.check(`${prefix}${name}`, value)]),
  ) as GivenIn<T>; // each is the result of its check
}

function complete<T extends Table>(table: T, options: unknown, naming: Naming): SettingsOf<T> {
  const given = givenIn(table, options, naming);
  const others = Object.entries(table).filter(([name]) => !Object.hasOwn(given, name));
  const defaults = others.map(([name, { check, default: byDefault, isRequired }]) => {
    const isAbsent = byDefault === undefined && !isRequired;
    return [name, isAbsent ? undefined : check(`${naming.prefix ?? ''}${name}`, byDefault)];
  });
  return { ...Object.fromEntries(defaults), ...given } as SettingsOf<T>; // each is the result of its check
}

function rateLimit(option: string, value: unknown): RateLimitSettings | false {
  return value === false ? false : complete(RATE_LIMIT, value, partsOf(option));
}

function cache(option: string, value: unknown): CacheSettings {
  if (value === 'snapshot') return cache(option, { maxAgeMs: value });
  if (typeof value !== 'object' || value === null) return refuse(option, value, "'snapshot' or an object of options");
  const settings = complete(CACHE, value, partsOf(option));
  return { ...settings, store: settings.store ?? new MemoryStore() };
}

function quotaGuard(option: string, value: unknown): SettingsOf<typeof QUOTA_GUARD> {
  return complete(QUOTA_GUARD, value, partsOf(option));
}

function partsOf(option: string): Naming {
  return { where: option, prefix: `${option}.` };
}

function isMiddleware(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'function');
}

function isSchema(value: unknown): boolean {
  const standard = (value as Partial<StandardSchema> | null)?.['~standard'];
  return typeof standard?.validate === 'function';
}

function operationIds(): OperationId[] {
  return Object.keys(operations) as OperationId[]; // the keys of the record
}

/** In characters: about a thousand responses of 170 rates, or one response of the maximum length. */
const DEFAULT_CAPACITY = 16_000_000;

/** The default store: responses in memory. It evicts the least recently used response. */
export class MemoryStore implements CacheStore {
  readonly #capacity: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, string>();
  #size = 0;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get(key: string): string | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: string): void {
    this.#drop(key);
    this.#entries.set(key, value);
    this.#size += key.length + value.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#capacity) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#size -= key.length + value.length;
  }
}
