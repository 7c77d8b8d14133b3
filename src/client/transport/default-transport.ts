import type { Dispatcher } from 'undici';
import { type EnvironmentProxy, proxyDispatcher } from '../../environment-proxy.ts';
import { abortable } from '../cancellation.ts';
import { ConfigError } from '../errors/errors.ts';
import { type FetchLike, fetchTransport, type Transport } from './transport.ts';
import { undiciTransport } from './undici-transport.ts';

type Undici = Pick<typeof import('undici'), 'getGlobalDispatcher' | 'Pool' | 'ProxyAgent'>;

/** The properties of a runtime on which the choice depends. Tests pass another one. */
export interface Runtime {
  /** Whether undici, which needs the sockets of Node, works here. */
  readonly hasNodeSockets: boolean;
  /** Whether `fetch` uses the proxy of the environment by itself. */
  readonly hasProxyFetch: boolean;
  readonly fetch: FetchLike | undefined;
  /** On Node, the global `fetch` while an interceptor, a stub or a framework replaces Node's own. */
  readonly replacedFetch: FetchLike | undefined;
  readonly loadUndici: () => Promise<Undici>;
}

/**
 * Sends over undici's global dispatcher where undici works, else with the runtime's own `fetch`: on Bun, Deno and
 * workerd, and in bundles that break undici. While the global `fetch` of Node is replaced, requests go through it, so
 * that msw, nock and stubs receive them. undici is loaded by the first request that needs it. The dispatcher and the
 * `fetch` are looked up for each request: a program may replace them at any time.
 */
export function defaultTransport(runtime: Runtime = thisRuntime): Transport {
  const usual = chosenLater(() => chooseTransport(runtime));
  return (request) => {
    const { replacedFetch } = runtime;
    return replacedFetch === undefined ? usual(request) : fetchTransport(replacedFetch)(request);
  };
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
  return chosenLater(() => chooseProxyTransport(proxy, runtime));
}

function chosenLater(choose: () => Promise<Transport>): Transport {
  let transport: Transport | undefined;
  const first: Transport = async (request) => {
    transport ??= await choose();
    return transport(request);
  };
  return (request) => (transport === undefined ? abortable(first(request), request.cancellation) : transport(request));
}

async function chooseProxyTransport(proxy: EnvironmentProxy, runtime: Runtime): Promise<Transport> {
  if (runtime.hasProxyFetch && runtime.fetch !== undefined) return fetchTransport(runtime.fetch);
  const undici = await loadUndici(runtime);
  if (undici instanceof Error) {
    throw new ConfigError(
      `proxy: ${proxy.variable} cannot be used, because undici cannot be loaded (${undici.message}); pass a fetch that uses the proxy, or proxy: false`,
    );
  }
  const dispatcher = proxyDispatchers.get(proxy.url) ?? proxyDispatcher(undici, proxy);
  proxyDispatchers.set(proxy.url, dispatcher);
  return undiciTransport(() => dispatcher);
}

/** Shared by all clients, so that a client of `withOptions()` uses the open connections. */
const proxyDispatchers = new Map<string, Dispatcher>();

async function chooseTransport(runtime: Runtime): Promise<Transport> {
  const undici = await loadUndici(runtime);
  if (!(undici instanceof Error)) return undiciTransport(() => undici.getGlobalDispatcher());
  if (runtime.fetch === undefined) {
    throw new ConfigError(
      `fetch: undici cannot be loaded (${undici.message}), and there is no global fetch; pass the option fetch`,
    );
  }
  return fetchTransport(runtime.fetch);
}

/** undici, or the reason why it cannot be used. A bundler may replace it by another module. */
async function loadUndici({ hasNodeSockets, loadUndici: load }: Runtime): Promise<Undici | Error> {
  if (!hasNodeSockets) return new Error('not on this runtime');
  try {
    const undici = await load();
    if (typeof undici.getGlobalDispatcher().dispatch === 'function') return undici;
    return new Error('its dispatcher has no dispatch method');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const thisRuntime: Runtime = {
  get hasNodeSockets() {
    const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
    return !('Bun' in globalThis || 'Deno' in globalThis || navigator?.userAgent === 'Cloudflare-Workers');
  },
  get hasProxyFetch() {
    return 'Bun' in globalThis || 'Deno' in globalThis;
  },
  get fetch(): FetchLike | undefined {
    // Called as a method, because workerd rejects a detached fetch.
    return typeof globalThis.fetch === 'function' ? (url, init) => globalThis.fetch(url, init) : undefined;
  },
  get replacedFetch(): FetchLike | undefined {
    const { fetch } = globalThis;
    if (typeof fetch !== 'function' || isNodeFetch(fetch) || !this.hasNodeSockets) return undefined;
    return (url, init) => {
      const uncached = { ...init, cache: 'no-store' as const }; // frameworks store the responses of their fetch, also on disk
      return globalThis.fetch(url, uncached);
    };
  },
  loadUndici: () => import('undici'),
};

/** By the source text, which is the same on Node 20 to 26 and in the sandbox of jest. */
function isNodeFetch(fetch: unknown): boolean {
  return Function.prototype.toString.call(fetch).includes('internal/deps/undici');
}
