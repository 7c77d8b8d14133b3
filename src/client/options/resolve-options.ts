import type { Dispatcher } from 'undici';
import { isUrl } from '../../foreign-values.ts';
import { operations } from '../../generated/operations.ts';
import { definedOf } from '../../json.ts';
import { apiPathIn, type BaseUrlProblem, baseUrlProblem } from '../../operation.ts';
import { withoutCredentials } from '../../text.ts';
import { ConfigError } from '../errors/errors.ts';
import { type SteadyTime, steadyTime } from '../time/clock.ts';
import { defaultTransport } from '../transport/default-transport.ts';
import { fetchTransport, type Transport } from '../transport/transport.ts';
import { undiciTransport } from '../transport/undici-transport.ts';
import type { AnyCallOptions, CallSettings } from './call-options.ts';
import { refuse, requireObject } from './checks.ts';
import type { AnyOptions } from './client-options.ts';
import { type CacheSettings, copyOfOptions, readClientOptions, readOptions } from './option-table.ts';

type CheckedOptions = ReturnType<typeof readClientOptions>;

/** The options of a client, checked and complete. In the constructor, the base URL can be missing. */
export interface ClientSettings<BaseUrl extends string | undefined = string>
  extends Omit<CheckedOptions, 'baseUrl' | 'apiKey' | SentBy> {
  readonly baseUrl: BaseUrl;
  readonly transport: Transport;
  /** Measures all durations, on `clock`. */
  readonly time: SteadyTime;
  readonly random: () => number;
}

/** The options that become the transport. */
type SentBy = 'fetch' | 'dispatcher' | 'proxy';

/** @throws ConfigError for the first wrong option; a missing base URL is not an error yet. */
export function resolveOptions(options: AnyOptions & { readonly baseUrl: string | URL }): ClientSettings;
export function resolveOptions(options: AnyOptions): ClientSettings<string | undefined>;
export function resolveOptions(options: AnyOptions): ClientSettings<string | undefined> {
  const given = readClientOptions(options);
  // Before environment variables are read, which a browser does not have.
  refuseBrowser();
  const { clock } = given;
  return {
    ...given,
    baseUrl: baseUrlOf(options),
    transport: resolveTransport(given),
    time: steadyTime(clock),
    // biome-ignore lint/plugin: the chance of a clock that has none
    random: () => clock.random?.() ?? Math.random(),
  };
}

/** The base URL of the options or of the environment; `undefined` if it is missing. @throws ConfigError if it is wrong */
export function baseUrlOf(options: AnyOptions): string | undefined {
  const { baseUrl = process.env['FXRATES_BASE_URL'], allowInsecureHttp = false } = options;
  const name = options.baseUrl === undefined ? 'FXRATES_BASE_URL' : 'baseUrl';
  return baseUrl === undefined || baseUrl === '' ? undefined : checkBaseUrl(baseUrl, { name, allowInsecureHttp });
}

/** A copy of the options. Other SDKs accept the key as the only argument; the error must not show it. */
export function givenOptions<Options extends AnyOptions>(options: Options): Options {
  if (typeof options === 'string')
    throw new ConfigError('FxRates options: expected an object of options, got a string; pass the key as { apiKey }');
  requireObject(options, 'FxRates options');
  return copyOfOptions(options);
}

function resolveTransport({ fetch, dispatcher, proxy }: Pick<CheckedOptions, SentBy>): Transport {
  const given = Object.entries(definedOf({ fetch, dispatcher, proxy: proxy || undefined }));
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(' and ');
    throw new ConfigError(`${names}: cannot be combined, because each decides how a request is sent; pass one of them`);
  }
  if (fetch !== undefined) return fetchTransport(fetch);
  return dispatcher === undefined ? defaultTransport() : undiciTransport(() => dispatcher as Dispatcher);
}

interface BaseUrlCheck {
  /** That of the option or the variable. */
  readonly name: string;
  readonly allowInsecureHttp: boolean;
}

/** The base URL without a trailing slash. @throws ConfigError if the key must not be sent there, or cannot be. */
export function checkBaseUrl(value: unknown, { name, allowInsecureHttp }: BaseUrlCheck): string {
  const expected = "an http or https URL such as 'https://api.example.com'";
  if (typeof value !== 'string' && !isUrl(value)) return refuse(name, value, expected);
  const shown = withoutCredentials(String(value));
  const url = URL.canParse(String(value)) ? new URL(String(value)) : refuse(name, shown, expected);
  const problem = baseUrlProblem(url, { operations: OPERATIONS, allowInsecureHttp });
  if (problem === 'scheme') return refuse(name, shown, expected);
  if (problem !== undefined) throw new ConfigError(`${name}: ${BASE_URL_PROBLEMS[problem](url)}`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const OPERATIONS = Object.values(operations);

const BASE_URL_PROBLEMS: Readonly<Record<Exclude<BaseUrlProblem, 'scheme'>, (url: URL) => string>> = {
  credentials: () => 'contains a user name or password; remove it, because the service accepts only API keys',
  query: ({ origin, pathname }) => `contains a query or fragment; pass ${origin}${pathname}`,
  path: ({ pathname, href }) =>
    `expected a URL without '${apiPathIn(pathname, OPERATIONS)}', got ${href}; the client adds the path`,
  'plain http': ({ origin }) =>
    `${origin} uses plain http, which exposes the key to the network; use https, or set allowInsecureHttp: true`,
};

/** The key is only for server-side code (docs/facts.md, Authentication). @throws ConfigError in a browser. */
function refuseBrowser(): void {
  // A test environment such as jsdom also has a document, but runs in Node.
  const hasPage = 'document' in globalThis || 'importScripts' in globalThis;
  if (!hasPage || globalThis.process?.versions?.node !== undefined) return;
  throw new ConfigError(
    'FxRates: this runtime looks like a browser, whose users could read the API key; call the service from your server',
  );
}

/** The options of the parent, overridden by `options`. All clients share one cache, also with different ages. */
export function inheritedOptions(
  options: AnyOptions,
  parent: { readonly options: AnyOptions; readonly cache: CacheSettings | undefined },
): AnyOptions {
  const given = givenOptions(options);
  const { fetch, dispatcher, proxy, ...others } = parent.options;
  const hasTransport = given.fetch !== undefined || given.dispatcher !== undefined || given.proxy === 'env';
  const inherited = hasTransport ? others : { fetch, dispatcher, proxy, ...others };
  return { ...inherited, ...definedOf(given), cache: inheritedCache(given.cache, parent.cache) };
}

function inheritedCache(option: AnyOptions['cache'], parent: CacheSettings | undefined): AnyOptions['cache'] {
  if (option === undefined || parent === undefined) return option ?? parent;
  if (option === 'snapshot') return { maxAgeMs: option, store: parent.store };
  return { ...option, store: option?.store ?? parent.store };
}

/** The settings of one call: its own options over the client's, without its signal. @throws ConfigError */
export function resolveCall(
  options: AnyCallOptions,
  client: ClientSettings<string | undefined>,
  place: 'call' | 'get' = 'call',
): CallSettings {
  const given = readOptions(place, options);
  const { timeoutMs = client.timeoutMs, maxRetries = client.maxRetries, onLimit = client.onLimit } = given;
  const { deadlineMs: limitMs = client.deadlineMs, coalesce = client.coalesce, maxAgeMs, priority = 'normal' } = given;
  const deadlineMs = limitMs === false ? Number.POSITIVE_INFINITY : limitMs;
  if (maxAgeMs !== undefined && client.cache === undefined) {
    throw new ConfigError('maxAgeMs: this client has no cache; create it with the option cache');
  }
  const headers = { ...client.headers, ...given.headers };
  const settings = { timeoutMs, deadlineMs, maxRetries, onLimit, maxAgeMs, priority };
  // Without names, because V8 hashes the text for each call.
  const sharedBy = coalesce ? JSON.stringify([Object.values(settings), Object.entries(headers).sort()]) : undefined;
  return { headers, sharedBy, ...settings };
}
