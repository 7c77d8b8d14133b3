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
  type Check,
  callable,
  countFrom,
  having,
  MS,
  numberOf,
  oneOf,
  POSITIVE_MS,
  refuse,
  requireKnownNames,
  resolveHeaders,
  truth,
  valid,
} from './checks.ts';
import { MemoryStore } from './memory-store.ts';

interface Row<Value> {
  readonly check: Check<unknown>;
  readonly default?: Exclude<Value, undefined>;
  readonly isRequired?: true;
}
type Rows<Options> = { readonly [Name in keyof Options]-?: Row<Options[Name]> };

const CLIENT = ['client'] as const;
const CALLS = ['call', 'batch', 'poll'] as const;
const ALL = ['client', 'call', 'batch', 'poll'] as const;
const LOOPS = ['batch', 'poll'] as const;
const BATCH = ['batch'] as const;
const POLL = ['poll'] as const;
type OptionPlace = (typeof ALL)[number];

type BatchName = Exclude<keyof BatchOptions, keyof CallOptions | 'operation'>;
type PollName = Exclude<keyof PollOptions, keyof CallOptions | 'operation'>;
interface AnyPlaceOptions
  extends Omit<AnyOptions, keyof CallOptions>,
    SchemaCallOptions<StandardSchema>,
    Pick<BatchOptions, BatchName>,
    Pick<PollOptions, PollName | 'operation'> {}

/** An option belongs to the places whose options have it. */
type PlacesOf<Name> = Name extends keyof CallOptions & keyof AnyOptions
  ? typeof ALL
  : Name extends keyof AnyOptions
    ? typeof CLIENT
    : Name extends BatchName
      ? typeof BATCH
      : Name extends PollName
        ? typeof POLL
        : Name extends 'operation'
          ? typeof LOOPS
          : typeof CALLS;
type Table = Rows<AnyPlaceOptions> & { readonly [Name in keyof AnyPlaceOptions]-?: { readonly in: PlacesOf<Name> } };

const KEPT: Check<unknown> = (_, value) => value;

/** Every option: where it may be set, what it accepts, and its default. `options.ts` and its neighbours document them. */
const OPTIONS = {
  /** Checked by `checkBaseUrl`, with `allowInsecureHttp`. */
  baseUrl: { in: CLIENT, check: KEPT },
  /** Checked by `ApiKey`. */
  apiKey: { in: CLIENT, check: KEPT },
  auth: { in: CLIENT, check: oneOf('bearer', 'header', 'query'), default: 'bearer' },
  timeoutMs: { in: ALL, check: numberOf(POSITIVE_MS), default: 10_000 },
  deadlineMs: { in: ALL, check: numberOf(POSITIVE_MS, false), default: false },
  maxRetries: { in: ALL, check: numberOf(countFrom(0)), default: 2 },
  onLimit: { in: ALL, check: oneOf('wait', 'throw'), default: 'wait' },
  maxRetryAfterMs: { in: CLIENT, check: numberOf(countFrom(1)), default: 600_000 },
  retryAfterUnit: { in: CLIENT, check: oneOf('auto', 'seconds', 'milliseconds'), default: 'auto' },
  rateLimit: { in: CLIENT, check: rateLimit, default: {} },
  cache: { in: CLIENT, check: cache },
  quotaGuard: { in: CLIENT, check: quotaGuard },
  headers: { in: ALL, check: resolveHeaders, default: {} },
  coalesce: { in: ALL, check: truth(), default: true },
  middleware: {
    in: CLIENT,
    check: valid<readonly Middleware[]>('a list of functions (request, next) => response', isMiddleware),
    default: [],
  },
  fetch: { in: CLIENT, check: callable<FetchLike>() },
  dispatcher: {
    in: CLIENT,
    check: having<NonNullable<AnyOptions['dispatcher']>>(
      'an undici dispatcher (an object with a dispatch method)',
      'dispatch',
    ),
  },
  proxy: { in: CLIENT, check: oneOf('env', false), default: false },
  numbers: { in: CLIENT, check: oneOf('number', 'string'), default: 'number' },
  maxResponseBytes: { in: CLIENT, check: numberOf(countFrom(1)), default: 10 * 2 ** 20 },
  allowInsecureHttp: { in: CLIENT, check: truth(), default: false },
  clock: {
    in: CLIENT,
    check: having<Clock>('an object with now() and sleep(ms, signal)', 'now', 'sleep'),
    default: realClock,
  },
  logger: { in: CLIENT, check: having<Logger>('an object with warn(message)', 'warn') },
  logLevel: { in: CLIENT, check: oneOf('warn', 'info', 'debug') },
  onRequest: { in: CLIENT, check: callable<AnyOptions['onRequest']>() },
  onRetry: { in: CLIENT, check: callable<AnyOptions['onRetry']>() },
  onWait: { in: CLIENT, check: callable<AnyOptions['onWait']>() },
  onQuota: { in: CLIENT, check: callable<AnyOptions['onQuota']>() },
  signal: { in: CALLS, check: valid<AbortSignal>('an AbortSignal', (value) => value instanceof AbortSignal) },
  priority: { in: CALLS, check: oneOf('high', 'normal', 'low'), default: 'normal' },
  maxAgeMs: { in: CALLS, check: numberOf(MS) },
  schema: { in: CALLS, check: valid<StandardSchema>('a Standard Schema (zod 4, valibot, arktype, …)', isSchema) },
  operation: { in: LOOPS, check: oneOf(...operationIds()), default: 'latest' },
  concurrency: { in: BATCH, check: numberOf(countFrom(1)) },
  onProgress: { in: BATCH, check: callable<BatchOptions['onProgress']>() },
  every: { in: POLL, check: numberOf(POSITIVE_MS, 'quota', 'snapshot'), default: 'quota' },
  onError: { in: POLL, check: callable<PollOptions['onError']>() },
} as const satisfies Table;

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

export type RateLimitSettings = SettingsOf<typeof RATE_LIMIT>;
export type CacheSettings = SettingsOf<typeof CACHE> & { readonly store: CacheStore };

function rateLimit(option: string, value: unknown): RateLimitSettings | false {
  if (value === false) return false;
  return settingsOf(RATE_LIMIT, value, option);
}

function cache(option: string, value: unknown): CacheSettings {
  if (value === 'snapshot') return cache(option, { maxAgeMs: value });
  if (typeof value !== 'object' || value === null) return refuse(option, value, "'snapshot' or an object of options");
  const settings = settingsOf(CACHE, value, option);
  return { ...settings, store: settings.store ?? new MemoryStore() };
}

function quotaGuard(option: string, value: unknown): SettingsOf<typeof QUOTA_GUARD> {
  return settingsOf(QUOTA_GUARD, value, option);
}

type SettingOf<R extends Row<unknown>> =
  | ReturnType<R['check']>
  | (R extends { readonly default: unknown } | { readonly isRequired: true } ? never : undefined);
type SettingsOf<R extends Readonly<Record<string, Row<unknown>>>> = { readonly [Name in keyof R]: SettingOf<R[Name]> };

/** The parts of an option that is an object, with their defaults. */
function settingsOf<R extends Readonly<Record<string, Row<unknown>>>>(
  rows: R,
  value: unknown,
  option: string,
): SettingsOf<R> {
  requireKnownNames(value, Object.keys(rows), option);
  const given = value as Readonly<Record<string, unknown>>; // an object, by the line before
  const entries = Object.entries<Row<unknown>>(rows).map(([name, { check, default: byDefault, isRequired }]) => {
    const part = given[name] ?? (given[name] === undefined ? byDefault : null);
    return [name, part === undefined && !isRequired ? undefined : check(`${option}.${name}`, part)];
  });
  return Object.fromEntries(entries) as SettingsOf<R>; // each part is the result of its check
}

type NamesIn<P extends OptionPlace> = {
  [Name in keyof typeof OPTIONS]: P extends (typeof OPTIONS)[Name]['in'][number] ? Name : never;
}[keyof typeof OPTIONS];
type NamesWithDefault = {
  [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name] extends { readonly default: unknown } ? Name : never;
}[keyof typeof OPTIONS];
type Checked<Name extends keyof typeof OPTIONS> = { readonly [N in Name]: ReturnType<(typeof OPTIONS)[N]['check']> };

/** The options of a place, checked and with their defaults. */
export type OptionsOf<P extends OptionPlace> = Checked<NamesIn<P> & NamesWithDefault> &
  Partial<Checked<Exclude<NamesIn<P>, NamesWithDefault>>>;

const rows: ReadonlyMap<string, Row<unknown> & { readonly in: readonly OptionPlace[] }> = new Map(
  Object.entries(OPTIONS),
);

/** The names of the options of each place. */
const NAMES = Object.fromEntries(
  ALL.map((place) => [place, [...rows].filter(([, row]) => row.in.includes(place)).map(([name]) => name)]),
) as unknown as Readonly<Record<OptionPlace, readonly string[]>>; // every place has its names

/** The options that are set, checked. @throws ConfigError for an unknown or a wrong one */
export function readOptions<P extends OptionPlace>(place: P, options: object): Partial<Checked<NamesIn<P>>> {
  requireKnownNames(options, NAMES[place], place === 'client' ? 'FxRates options' : `${place} options`);
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) checked[name] = rows.get(name)?.check(name, value);
  }
  return checked as Partial<Checked<NamesIn<P>>>; // each is the result of its check
}

/** The default of each option that has one. */
export function defaultOptions(): Checked<NamesWithDefault> {
  const entries = [...rows].filter(([, row]) => row.default !== undefined);
  return Object.fromEntries(
    entries.map(([name, row]) => [name, row.check(name, row.default)]),
  ) as Checked<NamesWithDefault>;
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
