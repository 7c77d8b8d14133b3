import { LOOPBACK_HOST } from '../../environment-proxy.ts';
import { definedOf } from '../../json-object.ts';
import { apiPathIn } from '../../operation-path.ts';
import { type Clock, realClock, type SteadyTime, steadyTime } from '../clock.ts';
import { ConfigError } from '../errors/errors.ts';
import { HOOKS, type Logger } from '../events.ts';
import { DEFAULT_LIMITER_SETTINGS, type LimiterSettings } from '../limits/limiter-core.ts';
import type { Middleware } from '../middleware/intercept.ts';
import type { Numbers } from '../numbers.ts';
import type { AnyOptions, AuthForm, QuotaGuardOptions } from '../options.ts';
import type { CallSettings } from '../request.ts';
import { defaultTransport } from '../transport/default-transport.ts';
import { fetchTransport, type Transport } from '../transport/transport.ts';
import { undiciTransport } from '../transport/undici-transport.ts';
import {
  namesOf,
  refuse,
  requireBoolean,
  requireCount,
  requireDeadline,
  requireFunction,
  requireKnownNames,
  requireOneOf,
  requirePositiveMs,
} from './checks.ts';
import {
  type CacheSettings,
  type RateLimitSettings,
  resolveCache,
  resolveQuotaGuard,
  resolveRateLimit,
} from './limit-settings.ts';
import { resolveAppInfo, resolveHeaders } from './request-headers.ts';

/** The options of a client, checked and complete. */
export interface ClientSettings extends Omit<CallSettings, 'useReserve' | 'maxAgeMs' | 'priority' | 'coalesce'> {
  readonly baseUrl: string;
  readonly auth: AuthForm;
  readonly deadlineMs: number;
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: LimiterSettings['retryAfterUnit'];
  readonly rateLimit: RateLimitSettings | false;
  readonly cache: CacheSettings | undefined;
  readonly quotaGuard: QuotaGuardOptions | undefined;
  /** The end of the user agent. */
  readonly appInfo: string | undefined;
  readonly middleware: readonly Middleware[];
  readonly transport: Transport;
  readonly maxResponseBytes: number;
  readonly clock: Clock;
  /** Measures all durations, on `clock`. */
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly numbers: Numbers;
}

/** The settings in the constructor: the base URL can be missing. */
export type OpenSettings = Omit<ClientSettings, 'baseUrl'> & { readonly baseUrl: string | undefined };

const OPTION_NAMES = namesOf<keyof AnyOptions>({
  baseUrl: true,
  apiKey: true,
  auth: true,
  timeoutMs: true,
  deadlineMs: true,
  maxRetries: true,
  onLimit: true,
  maxRetryAfterMs: true,
  retryAfterUnit: true,
  rateLimit: true,
  cache: true,
  quotaGuard: true,
  headers: true,
  appInfo: true,
  middleware: true,
  fetch: true,
  dispatcher: true,
  proxy: true,
  numbers: true,
  maxResponseBytes: true,
  allowInsecureHttp: true,
  clock: true,
  random: true,
  logger: true,
  logLevel: true,
  ...HOOKS,
});

const DEFAULTS = {
  auth: 'bearer',
  timeoutMs: 10_000,
  deadlineMs: false,
  maxRetries: 2,
  onLimit: 'wait',
  maxRetryAfterMs: 600_000,
  retryAfterUnit: DEFAULT_LIMITER_SETTINGS.retryAfterUnit,
  rateLimit: {},
  middleware: [],
  maxResponseBytes: 10 * 2 ** 20,
  allowInsecureHttp: false,
  numbers: 'number',
  clock: realClock,
  // biome-ignore lint/plugin: the default of the option
  random: Math.random,
} as const satisfies AnyOptions;

/** @throws ConfigError for the first wrong option; a missing base URL is not an error yet. */
export function resolveOptions(options: AnyOptions & { readonly baseUrl: string | URL }): ClientSettings;
export function resolveOptions(options: AnyOptions): OpenSettings;
export function resolveOptions(options: AnyOptions): OpenSettings {
  refuseBareKey(options);
  requireKnownNames(options, OPTION_NAMES, 'FxRates options');
  // Checked before environment variables are read, which a browser does not have.
  refuseBrowser();
  for (const name of namesOf(HOOKS)) if (options[name] !== undefined) requireFunction(name, options[name]);
  if (options.logger !== undefined) requireLogger(options.logger);
  if (options.logLevel !== undefined) requireOneOf('logLevel', options.logLevel, ['warn', 'info', 'debug']);
  const given = { ...DEFAULTS, ...definedOf(options) };
  requireBoolean('allowInsecureHttp', given.allowInsecureHttp);
  const clock = requireClock(given.clock);
  return {
    baseUrl: hasBaseUrl(options) ? requireBaseUrl(options) : undefined,
    auth: requireOneOf('auth', given.auth, ['bearer', 'header', 'query']),
    timeoutMs: requirePositiveMs('timeoutMs', given.timeoutMs),
    deadlineMs: requireDeadline('deadlineMs', given.deadlineMs),
    maxRetries: requireCount('maxRetries', given.maxRetries, { from: 0 }),
    onLimit: requireOneOf('onLimit', given.onLimit, ['wait', 'throw']),
    maxRetryAfterMs: requireCount('maxRetryAfterMs', given.maxRetryAfterMs, { from: 1 }),
    retryAfterUnit: requireOneOf('retryAfterUnit', given.retryAfterUnit, ['auto', 'seconds', 'milliseconds']),
    rateLimit: resolveRateLimit(given.rateLimit),
    cache: resolveCache(options.cache),
    quotaGuard: resolveQuotaGuard(options.quotaGuard),
    headers: resolveHeaders(options.headers),
    appInfo: resolveAppInfo(options.appInfo),
    middleware: requireMiddleware(given.middleware),
    transport: resolveTransport(options),
    numbers: requireOneOf('numbers', given.numbers, ['number', 'string']),
    maxResponseBytes: requireCount('maxResponseBytes', given.maxResponseBytes, { from: 1 }),
    clock,
    time: steadyTime(clock),
    random: requireFunction('random', given.random),
  };
}

/** The base URL of the options or of the environment. @throws ConfigError when there is none, or it is wrong. */
export function requireBaseUrl(options: AnyOptions): string {
  const { baseUrl = process.env['FXRATES_BASE_URL'], allowInsecureHttp = DEFAULTS.allowInsecureHttp } = options;
  return checkBaseUrl(baseUrl, { allowInsecureHttp });
}

function hasBaseUrl({ baseUrl = process.env['FXRATES_BASE_URL'] }: AnyOptions): boolean {
  return baseUrl !== undefined && baseUrl !== '';
}

/** Other SDKs accept the key as the only argument; the error must not show it. */
function refuseBareKey(options: unknown): void {
  if (typeof options !== 'string') return;
  throw new ConfigError('FxRates options: expected an object of options, got a string; pass the key as { apiKey }');
}

function resolveTransport({ fetch, dispatcher, proxy = false }: AnyOptions): Transport {
  if (requireOneOf('proxy', proxy, ['env', false]) === 'env' && (fetch ?? dispatcher) !== undefined) {
    throw new ConfigError(
      'proxy: cannot be combined with fetch or dispatcher, which decide where a request is sent; pass one of them',
    );
  }
  if (fetch !== undefined && dispatcher !== undefined) {
    throw new ConfigError(
      'fetch and dispatcher: pass either fetch or dispatcher, not both; only undici uses a dispatcher',
    );
  }
  if (fetch !== undefined) return fetchTransport(requireFunction('fetch', fetch));
  if (dispatcher !== undefined && typeof dispatcher?.dispatch !== 'function') {
    refuse('dispatcher', dispatcher, 'an undici dispatcher (an object with a dispatch method)');
  }
  return dispatcher === undefined ? defaultTransport() : undiciTransport(() => dispatcher);
}

function requireMiddleware(list: readonly Middleware[]): readonly Middleware[] {
  const isList = Array.isArray(list) && list.every((entry) => typeof entry === 'function');
  return isList ? list : refuse('middleware', list, 'a list of functions (request, next) => response');
}

function requireLogger(logger: Logger | null): void {
  if (typeof logger?.warn !== 'function') refuse('logger', logger, 'an object with warn(message)');
}

function requireClock(clock: Clock): Clock {
  if (typeof clock?.now === 'function' && typeof clock.sleep === 'function') return clock;
  return refuse('clock', clock, 'an object with now() and sleep(ms, signal)');
}

/** The base URL without a trailing slash. @throws ConfigError if the key must not be sent there, or cannot be. */
export function checkBaseUrl(value: unknown, { allowInsecureHttp }: { readonly allowInsecureHttp: boolean }): string {
  if (value === undefined || value === '') {
    throw new ConfigError(
      'baseUrl: missing; pass baseUrl or set FXRATES_BASE_URL (the service does not publish its host)',
    );
  }
  const url = parse(value);
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(
      'baseUrl: contains a user name or password; remove it, because the service accepts only API keys',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw new ConfigError(`baseUrl: contains a query or fragment; pass ${url.origin}${url.pathname}`);
  const added = apiPathIn(url.pathname);
  if (added !== undefined) {
    throw new ConfigError(`baseUrl: expected a URL without '${added}', got ${url.href}; the client adds the path`);
  }
  if (url.protocol === 'http:' && !LOOPBACK_HOST.test(url.hostname) && !allowInsecureHttp) {
    throw new ConfigError(
      `baseUrl: ${url.origin} uses plain http, which exposes the key to the network; use https, or set allowInsecureHttp: true`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function parse(value: unknown): URL {
  const expected = "an http or https URL such as 'https://api.example.com'";
  if (typeof value !== 'string' && !(value instanceof URL)) return refuse('baseUrl', value, expected);
  const url = URL.canParse(String(value)) ? new URL(value) : refuse('baseUrl', value, expected);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : refuse('baseUrl', value, expected);
}

/** The key is only for server-side code (docs/facts.md, Authentication). @throws ConfigError in a browser. */
function refuseBrowser(): void {
  if (!isBrowser()) return;
  throw new ConfigError(
    'FxRates: this runtime looks like a browser, whose users could read the API key; call the service from your server',
  );
}

/** A test environment such as jsdom also has a document, but runs in Node. */
function isBrowser(): boolean {
  const hasPage = 'document' in globalThis || 'importScripts' in globalThis;
  return hasPage && globalThis.process?.versions?.node === undefined;
}

/** The options of the parent, overridden by `options`. All clients share one cache, also with different ages. */
export function inheritedOptions(
  options: AnyOptions,
  parent: { readonly options: AnyOptions; readonly cache: CacheSettings | undefined },
): AnyOptions {
  const { fetch, dispatcher, proxy, ...others } = parent.options;
  const hasTransport = options.fetch !== undefined || options.dispatcher !== undefined || options.proxy === 'env';
  const inherited = hasTransport ? others : { fetch, dispatcher, proxy, ...others };
  return { ...inherited, ...definedOf(options), cache: inheritedCache(options.cache, parent.cache) };
}

function inheritedCache(option: AnyOptions['cache'], parent: CacheSettings | undefined): AnyOptions['cache'] {
  if (option === undefined || parent === undefined) return option ?? parent;
  if (option === 'snapshot') return { maxAgeMs: option, store: parent.store };
  return { ...option, store: option?.store ?? parent.store };
}
