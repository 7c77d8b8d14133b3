import { LOOPBACK_HOST } from '../../environment-proxy.ts';
import { definedOf } from '../../json-object.ts';
import { apiPathIn } from '../../operation-path.ts';
import { type SteadyTime, steadyTime } from '../clock.ts';
import { ConfigError } from '../errors/errors.ts';
import type { AnyOptions } from '../options.ts';
import { defaultTransport } from '../transport/default-transport.ts';
import { fetchTransport, type Transport } from '../transport/transport.ts';
import { undiciTransport } from '../transport/undici-transport.ts';
import { refuse } from './checks.ts';
import { type CacheSettings, defaultOptions, type OptionsOf, readOptions } from './option-table.ts';

type ClientOptions = OptionsOf<'client'>;

/** The options of a client, checked and complete. */
export interface ClientSettings extends Omit<ClientOptions, 'baseUrl' | 'apiKey' | 'deadlineMs' | SentBy> {
  readonly baseUrl: string;
  /** Infinity for none. */
  readonly deadlineMs: number;
  readonly transport: Transport;
  /** Measures all durations, on `clock`. */
  readonly time: SteadyTime;
  readonly random: () => number;
}

/** The options that become the transport. */
type SentBy = 'fetch' | 'dispatcher' | 'proxy';

/** The settings in the constructor: the base URL can be missing. */
export type OpenSettings = Omit<ClientSettings, 'baseUrl'> & { readonly baseUrl: string | undefined };

/** @throws ConfigError for the first wrong option; a missing base URL is not an error yet. */
export function resolveOptions(options: AnyOptions & { readonly baseUrl: string | URL }): ClientSettings;
export function resolveOptions(options: AnyOptions): OpenSettings;
export function resolveOptions(options: AnyOptions): OpenSettings {
  refuseBareKey(options);
  const given = { ...defaultOptions(), ...readOptions('client', options) };
  // Before environment variables are read, which a browser does not have.
  refuseBrowser();
  const { clock } = given;
  return {
    ...given,
    baseUrl: hasBaseUrl(options) ? requireBaseUrl(options) : undefined,
    deadlineMs: deadlineOf(given.deadlineMs),
    transport: resolveTransport(given),
    time: steadyTime(clock),
    // biome-ignore lint/plugin: the chance of a clock that has none
    random: () => clock.random?.() ?? Math.random(),
  };
}

/** The deadline in milliseconds; Infinity for none. */
export function deadlineOf(option: number | false): number {
  return option === false ? Number.POSITIVE_INFINITY : option;
}

/** The base URL of the options or of the environment. @throws ConfigError when there is none, or it is wrong. */
export function requireBaseUrl(options: AnyOptions): string {
  const { baseUrl = process.env['FXRATES_BASE_URL'], allowInsecureHttp = false } = options;
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

function resolveTransport({ fetch, dispatcher, proxy }: Pick<Partial<ClientOptions>, SentBy>): Transport {
  if (proxy === 'env' && (fetch ?? dispatcher) !== undefined) {
    throw new ConfigError(
      'proxy: cannot be combined with fetch or dispatcher, which decide where a request is sent; pass one of them',
    );
  }
  if (fetch !== undefined && dispatcher !== undefined) {
    throw new ConfigError(
      'fetch and dispatcher: pass either fetch or dispatcher, not both; only undici uses a dispatcher',
    );
  }
  if (fetch !== undefined) return fetchTransport(fetch);
  return dispatcher === undefined ? defaultTransport() : undiciTransport(() => dispatcher);
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
