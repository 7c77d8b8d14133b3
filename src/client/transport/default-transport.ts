import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS } from '../../content-encoding.ts';
import { type EnvironmentProxy, proxyDispatcher } from '../../environment-proxy.ts';
import { ConfigError } from '../errors/errors.ts';
import { abortable } from '../time/abort.ts';
import {
  BodyReader,
  type FetchLike,
  fetchTransport,
  type HeaderList,
  headerIn,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

type UndiciModule = Pick<typeof import('undici'), 'getGlobalDispatcher' | 'Pool' | 'ProxyAgent'>;

/** The properties of a runtime on which the choice depends. Tests pass another one. */
export interface Runtime {
  /** Whether undici, which needs the sockets of Node, works here. */
  readonly hasNodeSockets: boolean;
  /** Whether `fetch` uses the proxy of the environment by itself. */
  readonly hasProxyFetch: boolean;
  readonly fetch: FetchLike | undefined;
  /** On Node, the global `fetch` while an interceptor, a stub or a framework replaces Node's own. */
  readonly replacedFetch: FetchLike | undefined;
  readonly loadUndici: () => Promise<UndiciModule>;
}

/**
 * Sends over undici's global dispatcher where undici works, else with the runtime's own `fetch`: on Bun, Deno and
 * workerd, and in bundles that break undici. While the global `fetch` of Node is replaced, requests go through it, so
 * that msw, nock and stubs receive them. undici is loaded by the first request that needs it. The dispatcher and the
 * `fetch` are looked up for each request: a program may replace them at any time.
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
  const { fetch, hasProxyFetch } = runtime;
  if (proxy !== undefined && hasProxyFetch && fetch !== undefined) return fetchTransport(fetch);
  const undici = await loadUndici(runtime);
  if (!(undici instanceof Error)) {
    return undiciTransport(
      proxy === undefined ? () => undici.getGlobalDispatcher() : () => dispatcherOf(undici, proxy),
    );
  }
  const why = `undici cannot be loaded (${undici.message})`;
  if (proxy !== undefined) {
    throw new ConfigError(
      `proxy: ${proxy.variable} cannot be used, because ${why}; pass a fetch that uses the proxy, or proxy: false`,
    );
  }
  if (fetch !== undefined) return fetchTransport(fetch);
  throw new ConfigError(`fetch: ${why}, and there is no global fetch; pass the option fetch`);
}

/** Shared by all clients, so that a client of `withOptions()` uses the open connections. */
const proxyDispatchers = new Map<string, Dispatcher>();

function dispatcherOf(undici: UndiciModule, proxy: EnvironmentProxy): Dispatcher {
  const dispatcher = proxyDispatchers.get(proxy.url) ?? proxyDispatcher(undici, proxy);
  proxyDispatchers.set(proxy.url, dispatcher);
  return dispatcher;
}

/** undici, or the reason why it cannot be used. A bundler may replace it by another module. */
async function loadUndici({ hasNodeSockets, loadUndici: load }: Runtime): Promise<UndiciModule | Error> {
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

/** Those that were recognised: reading the source text of a function takes a hundredth of the time of a call. */
const nodeFetches = new WeakSet<object>();

/** By the source text, which is the same on Node 20 to 26 and in the sandbox of jest. */
function isNodeFetch(fetch: object): boolean {
  if (nodeFetches.has(fetch)) return true;
  const isNode = Function.prototype.toString.call(fetch).includes('internal/deps/undici');
  if (isNode) nodeFetches.add(fetch);
  return isNode;
}

/** Sends through the dispatcher that `dispatcherOf` returns for each request. */
export function undiciTransport(dispatcherOf: () => Dispatcher): Transport {
  return (request) =>
    new Promise((resolve, reject) => {
      // Scheme and host, and the rest. Cheaper than a URL object; the base URL is already checked.
      const pathStart = request.url.indexOf('/', request.url.indexOf('://') + 3);
      const options = {
        origin: request.url.slice(0, pathStart),
        path: request.url.slice(pathStart),
        method: 'GET',
        headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...request.headers },
        // The client has its own timeouts, which use its clock.
        headersTimeout: 0,
        bodyTimeout: 0,
      } as const;
      try {
        dispatcherOf().dispatch(options, new ExchangeHandler(request, { resolve, reject }));
      } catch (error) {
        reject(refusedBy(error));
      }
    });
}

/** A dispatcher throws for a request that it cannot send; it is probably of another version of undici, so there is no retry. */
function refusedBy(error: unknown): unknown {
  const isRefusal = error instanceof Error && 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
  if (!isRefusal) return error;
  return new ConfigError(`dispatcher: cannot send the request (${error.message}); pass a dispatcher of undici 7`);
}

interface Settle {
  readonly resolve: (response: TransportResponse | Promise<TransportResponse>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects one response directly from the dispatcher; `undici.request` would add a stream and an AbortSignal. The
 * methods are those that the dispatchers of undici 6 and 7 both call: after a use of the built-in `fetch`, the global
 * dispatcher is that of Node 20, of undici 6.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #settle: Settle;
  readonly #body: BodyReader;
  #abort: ((error?: Error) => void) | undefined;
  #status = 0;
  #headers: readonly (Buffer | string)[] = [];

  constructor(request: TransportRequest, settle: Settle) {
    this.#request = request;
    this.#settle = settle;
    this.#body = new BodyReader(request.maxBytes);
    request.cancellation.listen(this.#onCancel);
  }

  /** Called again if undici sends the request on another connection. */
  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#request.cancellation.aborted) this.#onCancel();
  }

  /** Also called for informational responses (1xx); the last headers are those of the response. */
  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status;
    this.#headers = headers;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#body.add(chunk)) return true;
    this.onComplete();
    this.#abort?.(new Error('The rest of the body is not needed'));
    return false;
  }

  onComplete(): void {
    this.#stopListening();
    const status = this.#status;
    const headers = headerList(this.#headers);
    const encoding = headerIn(headers, 'content-encoding');
    if (encoding === undefined) return this.#settle.resolve({ status, headers, ...this.#body.end() });
    const read = this.#body.endEncoded(encoding, this.#request);
    this.#settle.resolve(read.then((body) => ({ status, headers, ...body })));
  }

  onError(error: Error): void {
    this.#stopListening();
    this.#settle.reject(error);
  }

  readonly #onCancel = () => {
    const { reason } = this.#request.cancellation;
    this.#settle.reject(reason);
    this.#abort?.(reason instanceof Error ? reason : new Error('cancelled', { cause: reason }));
  };

  #stopListening(): void {
    this.#request.cancellation.unlisten(this.#onCancel);
  }
}

type RawHeader = Buffer | string | (Buffer | string)[];

/** The headers of undici's parser: name, value, name, value, … in bytes. Interceptors create a list of the values of one name. */
export function headerList(raw: readonly RawHeader[]): HeaderList {
  const list: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    const value: RawHeader = raw[index + 1] ?? '';
    for (const one of Array.isArray(value) ? value : [value]) {
      list.push([name, typeof one === 'string' ? one : one.toString('latin1')]);
    }
  }
  return list;
}
