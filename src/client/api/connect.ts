import { environmentProxy } from '../../environment-proxy.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { ApiCall } from '../call/api-call.ts';
import type { ClientEvents } from '../call/events.ts';
import { ConfigError } from '../errors/errors.ts';
import { ApiKey, type ApiKeyOption, KeySource } from '../key/api-key.ts';
import type { AnyCallOptions } from '../options/call-options.ts';
import type { AnyOptions } from '../options/client-options.ts';
import type { CacheSettings } from '../options/option-table.ts';
import { baseUrlOf, type ClientSettings } from '../options/resolve-options.ts';
import { ignoredOptionsWarning, type KeyState, KeyStates, sharedOptions } from '../state/key-state.ts';
import type { Lifetime } from '../state/lifetime.ts';
import { cache } from '../steps/cache.ts';
import { retry } from '../steps/retry.ts';
import type { StepContext } from '../steps/send.ts';
import { SharedCalls } from '../steps/share-request.ts';
import { proxyTransport } from '../transport/default-transport.ts';

/** The parts of a client that need its base URL and its key. */
export interface ClientConnection {
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly calls: SharedCalls;
}

export interface ClientParts {
  readonly options: AnyOptions;
  readonly settings: ClientSettings<string | undefined>;
  readonly events: ClientEvents;
  readonly lifetime: Lifetime;
  /** The key source of the client from which this one was created. */
  readonly keys: KeySource | undefined;
}

/** A client, as its batches and polls use it. */
export interface LoopClient<Query = object | undefined> {
  readonly settings: ClientSettings<string | undefined>;
  readonly events: ClientEvents;
  readonly lifetime: Lifetime;
  /** The state of the key in use; `undefined` before the first key. */
  readonly stateInUse: () => KeyState | undefined;
  readonly request: <Data>(
    id: OperationId,
    query: Query,
    options: AnyCallOptions,
    cache?: CacheSettings,
  ) => ApiCall<Data>;
}

/** `undefined` while the base URL or the key is missing. @throws ConfigError if one of them is wrong */
export function connect({ options, settings: open, ...parts }: ClientParts): ClientConnection | undefined {
  const { events, lifetime, keys: shared } = parts;
  const apiKey = givenKey(options);
  const baseUrl = open.baseUrl ?? baseUrlOf(options);
  const name = options.apiKey === undefined ? 'FXRATES_API_KEY' : 'apiKey';
  if (apiKey !== undefined && typeof apiKey !== 'function' && shared === undefined) ApiKey.from(apiKey, name);
  if (apiKey === undefined || baseUrl === undefined) return undefined;
  const proxy = options.proxy === 'env' ? environmentProxy(process.env, baseUrl) : undefined;
  const settings = { ...open, baseUrl, ...(proxy && { transport: proxyTransport(proxy) }) };
  const onState = (state: KeyState, key: ApiKey) => {
    if (!key.hasDocumentedForm) events.warnOnce(unusualKey(key));
    const warning = ignoredOptionsWarning(sharedOptions(options), state);
    if (warning !== undefined) events.warnOnce(warning);
  };
  const states = new KeyStates(settings, { lifetime, onState });
  // The options of this client are those of the state, even if one created from it makes the first call.
  const keys = shared ?? new KeySource(apiKey, settings, (key) => states.of(key));
  const key = keys.known();
  if (key !== undefined) states.of(key);
  return { keys, states, calls: createPipeline({ ...parts, settings, keys, states }) };
}

/** @throws ConfigError also if the base URL or the key is missing */
export function requireConnection(parts: ClientParts): ClientConnection {
  const connection = connect(parts);
  if (connection !== undefined) return connection;
  const { options } = parts;
  const isWithoutUrl = baseUrlOf(options) === undefined;
  throw new ConfigError(isWithoutUrl ? missing('baseUrl', options) : missing('apiKey', options));
}

const VARIABLES = { baseUrl: 'FXRATES_BASE_URL', apiKey: 'FXRATES_API_KEY' };

function missing(name: keyof typeof VARIABLES, options: AnyOptions): string {
  const variable = VARIABLES[name];
  if (options[name] === '') return `${name}: is empty; pass a value, or omit ${name} to use ${variable}`;
  const why = name === 'baseUrl' ? ' (the service does not publish its host)' : '';
  return `${name}: missing; pass ${name} or set ${variable}${why}`;
}

/**
 * The steps of a call, from the outermost to the innermost:
 * - `SharedCalls` first: a call that shares a request needs no other step. It finds the key for the others;
 * - `cache` before `retry`: a cached response uses neither the quota nor the limit;
 * - `retry` sends again, and is the only step that does. Each attempt is admitted by the guard of the quota, waits for the
 *   limit, and reports its end to both;
 * - `send` last: authentication, middleware, transport, timeout and parsing are one attempt.
 */
function createPipeline(context: StepContext): SharedCalls {
  return new SharedCalls(context, cache(context, retry(context)));
}

/** An empty text counts as missing, because build steps set such variables. */
function givenKey({ apiKey = process.env['FXRATES_API_KEY'] }: AnyOptions): ApiKeyOption | undefined {
  return apiKey === '' ? undefined : apiKey;
}

function unusualKey({ masked }: ApiKey): string {
  return `The key ${masked} does not have the documented form (…_live_ and 48 hexadecimal digits); it is sent anyway`;
}
