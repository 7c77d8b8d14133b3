import { isDeepStrictEqual } from 'node:util';
import type { Dispatcher } from 'undici';
import {
  type DispatcherClass,
  type EnvironmentProxy,
  GLOBAL_DISPATCHER,
  proxyDispatcher,
  unwrapped,
  wouldUseProxy,
} from '../../environment-proxy.ts';
import { isError } from '../../foreign-values.ts';
import { isolatesRequests } from '../../process-state.ts';
import { ConfigError } from '../errors/errors.ts';
import { abortable } from '../time/abort.ts';
import { type FetchLike, fetchTransport, type Transport } from './transport.ts';
import { ownAgent, undiciTransport } from './undici-transport.ts';

type UndiciModule = Pick<typeof import('undici'), 'Agent' | 'getGlobalDispatcher' | 'Pool' | 'ProxyAgent'>;

/** The properties of a runtime on which the choice depends. Tests pass another one. */
export interface Runtime {
  /** Whether undici, which needs the sockets of Node, works here. */
  readonly hasNodeSockets: boolean;
  /** Whether `fetch` uses the proxy of the environment by itself. */
  readonly hasProxyFetch: boolean;
  readonly fetch: FetchLike | undefined;
  /** Returns the options with which `fetch` uses a new connection, if the runtime has some. */
  readonly newConnection: () => object;
  /** On Node, the global `fetch` while an interceptor, a stub or a framework replaces Node's own. */
  readonly replacedFetch: FetchLike | undefined;
  readonly loadUndici: () => Promise<UndiciModule>;
}

/**
 * Sends over undici where it works, else with the runtime's own `fetch`: on Bun, Deno and workerd, and in bundles that
 * break undici. A global dispatcher that the program has set is used. While the global `fetch` of Node is replaced,
 * requests go through it, so that msw, nock and stubs receive them. undici is loaded by the first request that needs
 * it. The dispatcher and the `fetch` are looked up for each request: a program may replace them at any time.
 */
export function defaultTransport(runtime: Runtime = thisRuntime): Transport {
  const usual = chosenLater(
    () => chooseTransport(runtime),
    () => runtime.replacedFetch === undefined,
  );
  const send: Transport = (request) => {
    const { replacedFetch } = runtime;
    return replacedFetch === undefined ? usual(request) : fetchTransport(replacedFetch)(request);
  };
  return Object.assign(send, { prepare: usual.prepare });
}

/**
 * Sends through a proxy of the environment: over undici where it works, and on Bun and Deno with their own `fetch`,
 * which uses the proxy by itself.
 *
 * @throws ConfigError if the proxy cannot be used. If neither works, the first request rejects with a ConfigError.
 */
export function proxyTransport(proxy: EnvironmentProxy, runtime: Runtime = thisRuntime): Transport {
  const { variable, problem } = proxy;
  if (problem !== undefined) {
    throw new ConfigError(`proxy: ${variable} ${problem}; expected a URL such as http://proxy.example:3128`);
  }
  return chosenLater(() => chooseTransport(runtime, proxy));
}

/** `isUsed`: whether the next request needs it. */
function chosenLater(choose: () => Promise<Transport>, isUsed = () => true) {
  let transport: Transport | undefined;
  const load = async () => {
    transport ??= await choose();
    return transport;
  };
  const first: Transport = async (request) => (await load())(request);
  const send: Transport = (request) =>
    transport === undefined ? abortable(first(request), request.cancellation) : transport(request);
  const ready = () => undefined;
  const prepare = () => (transport === undefined && isUsed() ? load().then(ready, ready) : undefined);
  return Object.assign(send, { prepare });
}

async function chooseTransport(runtime: Runtime, proxy?: EnvironmentProxy): Promise<Transport> {
  const { fetch, newConnection, hasProxyFetch } = runtime;
  if (proxy !== undefined && hasProxyFetch && fetch !== undefined) return fetchTransport(fetch, newConnection);
  const undici = await loadUndici(runtime);
  if ('getGlobalDispatcher' in undici) {
    if (proxy !== undefined) return undiciTransport(({ isRetry }) => dispatcherOf(undici, proxy, isRetry));
    let last: { readonly dispatcher: Dispatcher; readonly isUnset: boolean } | undefined;
    return undiciTransport((request) => {
      const dispatcher = undici.getGlobalDispatcher();
      if (last?.dispatcher !== dispatcher) last = { dispatcher, isUnset: isUnset(dispatcher) };
      return last.isUnset || wouldUseProxy(dispatcher, request.url) ? ownAgent(undici, request.isRetry) : dispatcher;
    });
  }
  const why = `undici cannot be loaded (${undici.message})`;
  if (proxy !== undefined) {
    throw new ConfigError(
      `proxy: ${proxy.variable} cannot be used, because ${why}; pass a fetch that uses the proxy, or proxy: false`,
    );
  }
  if (fetch !== undefined) return fetchTransport(fetch, newConnection, () => globalThis.fetch);
  throw new ConfigError(`fetch: ${why}, and there is no global fetch; pass the option fetch`);
}

/**
 * By the variable, which errors name, the URL, and whether tunnels stay open. Shared by all clients, so that a client of
 * `withOptions()` uses the open connections.
 */
const proxyDispatchers = new Map<string, Dispatcher>();

/** For a retry, one that keeps no tunnel, as `ownAgent()`. */
function dispatcherOf(undici: UndiciModule, proxy: EnvironmentProxy, isRetry = false): Dispatcher {
  const pipelining = isRetry ? 0 : 1;
  const name = `${proxy.variable} ${proxy.url} ${pipelining}`;
  const dispatcher = proxyDispatchers.get(name) ?? proxyDispatcher(undici, proxy, { pipelining });
  proxyDispatchers.set(name, dispatcher);
  return dispatcher;
}

/** undici, or the reason why it cannot be used. A bundler may replace it by another module. */
async function loadUndici(runtime: Runtime): Promise<UndiciModule | Error> {
  if (!runtime.hasNodeSockets) return new Error('not on this runtime');
  try {
    // Has Node create the global dispatcher: if undici did, Node's own `fetch` would use it, and on Node 20 reject bodies with a
    // `content-length`. `fetch` alone creates nothing before its first call.
    if (!(GLOBAL_DISPATCHER in globalThis)) Reflect.get(globalThis, 'Response');
    const undici = await runtime.loadUndici();
    if (typeof undici.getGlobalDispatcher().dispatch === 'function') return undici;
    return new Error('its dispatcher has no dispatch method');
  } catch (error) {
    return isError(error) ? error : new Error(String(error));
  }
}

/**
 * Whether the global dispatcher is one that Node and undici create if the program has set none: an Agent without options. On
 * Node 22 and later, the import of `node:http` is enough for that.
 */
function isUnset(dispatcher: Dispatcher): boolean {
  const given = unwrapped(dispatcher);
  const Agent = given.constructor as DispatcherClass;
  if (Agent.name !== 'Agent' || Object.getPrototypeOf(Agent).name !== 'DispatcherBase') return false;
  const unchanged = new Agent({});
  return (
    given.dispatch === unchanged.dispatch &&
    OPTIONS_OF_AGENT.every((name) => isDeepStrictEqual(hidden(given, name), hidden(unchanged, name)))
  );
}

/** Where undici 6 to 8 keep the options of an Agent: properties with symbols of these names. */
const OPTIONS_OF_AGENT = ['options', 'factory', 'maxRedirections'];

function hidden(owner: object, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(owner).find(({ description }) => description === name);
  return symbol && Reflect.get(owner, symbol);
}

interface DenoGlobal {
  readonly Deno?: { readonly createHttpClient?: (options: { readonly poolMaxIdlePerHost: number }) => object };
}

/** The client of Deno that keeps no connection open. */
let unpooled: object | undefined;

/** Imported once: a loader of the program, such as that of tsx, takes milliseconds for each import. */
let imported: UndiciModule | undefined;

const thisRuntime: Runtime = {
  get hasNodeSockets() {
    return !('Bun' in globalThis || 'Deno' in globalThis || isolatesRequests());
  },
  get hasProxyFetch() {
    return 'Bun' in globalThis || 'Deno' in globalThis;
  },
  get fetch(): FetchLike | undefined {
    // Called as a method, because workerd rejects a detached fetch.
    return typeof globalThis.fetch === 'function' ? (url, init) => globalThis.fetch(url, init) : undefined;
  },
  newConnection() {
    if ('Bun' in globalThis) return { keepalive: false };
    unpooled ??= (globalThis as DenoGlobal).Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 });
    return unpooled === undefined ? {} : { client: unpooled };
  },
  get replacedFetch(): FetchLike | undefined {
    const { fetch } = globalThis;
    if (typeof fetch !== 'function' || isNodeFetch(fetch) || !this.hasNodeSockets) return undefined;
    return (url, init) => {
      const uncached = { ...init, cache: 'no-store' as const }; // frameworks store the responses of their fetch, also on disk
      return globalThis.fetch(url, uncached);
    };
  },
  async loadUndici() {
    imported ??= await import('undici');
    return imported;
  },
};

/** Those that were recognised: reading the source text of a function takes a hundredth of the time of a call. */
const nodeFetches = new WeakSet<object>();

/** By the source text, which is the same on Node 20 to 26 and in the sandbox of jest. */
function isNodeFetch(fetch: object): boolean {
  if (nodeFetches.has(fetch)) return true;
  const isNode = Function.prototype.toString.call(fetch).includes('internal/deps/undici');
  if (isNode) nodeFetches.add(fetch);
  return isNode;
}
