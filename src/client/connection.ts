import { environmentProxy } from '../environment-proxy.ts';
import { VERSION } from '../version.ts';
import { type OpenSettings, requireBaseUrl } from './config/settings.ts';
import { ConfigError } from './errors/errors.ts';
import type { ClientEvents } from './events.ts';
import { ApiKey } from './key/api-key.ts';
import { type ApiKeyOption, KeySource } from './key/key-source.ts';
import { ignoredOptionsWarning, sharedOptions } from './key/key-state.ts';
import { KeyStates } from './key/key-states.ts';
import type { Lifetime } from './lifetime.ts';
import type { AnyOptions } from './options.ts';
import { createPipeline } from './pipeline.ts';
import type { Caller, CallResponse } from './steps/share-request.ts';
import type { Timers } from './timers.ts';
import { proxyTransport } from './transport/default-transport.ts';

/** The parts of a client that need its base URL and its key. */
export interface Connection {
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly send: (caller: Caller) => Promise<CallResponse>;
}

interface ClientParts {
  readonly options: AnyOptions;
  readonly settings: OpenSettings;
  readonly events: ClientEvents;
  readonly timers: Timers;
  readonly lifetime: Lifetime;
  /** The key source of the client from which this one was created. */
  readonly keys: KeySource | undefined;
}

/** Whether base URL and key are set. */
export function canConnect({ options, settings }: ClientParts): boolean {
  return givenKey(options) !== undefined && settings.baseUrl !== undefined;
}

/** @throws ConfigError if the key is wrong */
export function checkGivenKey(options: AnyOptions): void {
  const apiKey = givenKey(options);
  if (apiKey !== undefined && typeof apiKey !== 'function') ApiKey.from(apiKey);
}

/** @throws ConfigError when the base URL or the key is missing or wrong */
export function connect({ options, settings: open, events, timers, lifetime, keys: shared }: ClientParts): Connection {
  const baseUrl = open.baseUrl ?? requireBaseUrl(options);
  const proxy = options.proxy === 'env' ? environmentProxy(process.env, baseUrl) : undefined;
  const settings = { ...open, baseUrl, ...(proxy && { transport: proxyTransport(proxy) }) };
  const apiKey = givenKey(options);
  if (apiKey === undefined) throw missingKey(options);
  const states = new KeyStates(settings, lifetime);
  const warn = (key: ApiKey) => {
    if (!key.hasDocumentedForm) events.warnOnce(unusualKey(key));
    const warning = ignoredOptionsWarning(sharedOptions(options), states.of(key));
    if (warning !== undefined) events.warnOnce(warning);
  };
  const keys = shared ?? new KeySource(apiKey, warn);
  const sharedKey = shared?.known();
  if (sharedKey !== undefined) warn(sharedKey);
  const agent = userAgent();
  const send = createPipeline({ settings, events, timers, lifetime, keys, states, userAgent: agent });
  return { keys, states, send };
}

/** An empty text counts as missing, because build steps set such variables. */
function givenKey({ apiKey = process.env['FXRATES_API_KEY'] }: AnyOptions): ApiKeyOption | undefined {
  return apiKey === '' ? undefined : apiKey;
}

function missingKey({ apiKey }: AnyOptions): ConfigError {
  return new ConfigError(
    apiKey === ''
      ? 'apiKey: is empty; pass a key, or omit apiKey to use FXRATES_API_KEY'
      : 'apiKey: missing; pass apiKey or set FXRATES_API_KEY',
  );
}

function unusualKey({ masked }: ApiKey): string {
  return `apiKey: ${masked} does not have the documented form (…_live_ and 48 hexadecimal digits); it is sent anyway`;
}

/** Bun and Deno also report a compatible version of Node; workerd may report no versions. */
const RUNTIMES = ['bun', 'deno', 'node'];

/** Such as `fxrates/1.2.3 node/22.19.0`. */
function userAgent(): string {
  const versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {};
  const runtime = RUNTIMES.find((name) => versions[name] !== undefined);
  const parts = [`fxrates/${VERSION}`, runtime && `${runtime}/${versions[runtime]}`];
  return parts.filter((part) => part !== undefined).join(' ');
}
