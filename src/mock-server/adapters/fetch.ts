import type { HandleRequest } from '../handle-request.ts';
import type { Delivery, MockRequest } from '../http/mock-message.ts';
import type { RequestSource } from './active-adapters.ts';
import { brokenConnection, fromRequest, toResponse } from './web-messages.ts';

/** The type of the global `fetch` function. */
export type Fetch = typeof globalThis.fetch;

/** `fetch` that calls the mock in process. Rejects for other origins, as for an unknown host. */
export function createFetch(baseUrl: string, handleRequest: HandleRequest): Fetch {
  return async (input, init) => {
    const { url, signal, read } = isSimple(input, init) ? simpleCall(input, init) : anyCall(new Request(input, init));
    signal?.throwIfAborted();
    if (url.origin !== baseUrl) throw unknownHost(url, baseUrl);
    const request = read();
    const source: RequestSource = { adapter: 'fetch', getSignal: () => signal };
    const handled =
      request instanceof Promise
        ? request.then((ready) => handleRequest(ready, source))
        : handleRequest(request, source);
    const received = await untilAborted(handled, signal);
    if (received === undefined) throw brokenFetch('close');
    const { delivery } = received;
    if (delivery?.sendsHead === false) throw brokenFetch(delivery.ending);
    const response = toResponse(received, signal);
    Object.defineProperty(response, 'url', { value: url.href });
    return response;
  };
}

type FetchInput = Parameters<Fetch>[0];

interface FetchCall {
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  readonly read: () => MockRequest | Promise<MockRequest>;
}

function isSimple(input: FetchInput, init: RequestInit = {}): input is string | URL {
  const { method = 'GET', body } = init;
  return !(input instanceof Request) && /^(?:GET|HEAD|OPTIONS)$/i.test(method) && (body === undefined || body === null);
}

/** Most calls need no `Request`, which takes time to create. */
function simpleCall(input: string | URL, { method = 'GET', headers, signal }: RequestInit = {}): FetchCall {
  const url = new URL(input);
  return {
    url,
    signal: signal ?? undefined,
    read: () => ({
      method: method.toUpperCase(),
      target: url.pathname + url.search,
      headers: Object.fromEntries(new Headers(headers)),
    }),
  };
}

function anyCall(request: Request): FetchCall {
  return { url: new URL(request.url), signal: request.signal, read: () => fromRequest(request) };
}

async function untilAborted<Value>(work: Value | Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  // A synchronous response also arrives after the call has returned, as from a network. The call can be aborted until then.
  if (!(work instanceof Promise) || signal === undefined) {
    const value = await work;
    signal?.throwIfAborted();
    return value;
  }
  return await new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The error of fetch if no response arrives. */
function brokenFetch(ending: Delivery['ending']): TypeError {
  return new TypeError('fetch failed', { cause: brokenConnection(ending) });
}

/** The error of fetch, with the cause of the system. Names only the origin: the rest of the URL may contain a key. */
function unknownHost({ origin, hostname }: URL, baseUrl: string): TypeError {
  const cause = Object.assign(new Error(`mock.fetch serves only ${baseUrl}, not ${origin}`), {
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
    hostname,
  });
  return new TypeError('fetch failed', { cause });
}
