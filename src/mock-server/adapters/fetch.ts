import type { HandleRequest } from '../handle.ts';
import type { Delivery, MockRequest, MockResponse } from '../http/mock-message.ts';
import type { RequestSource } from './active-adapters.ts';
import { brokenConnection, fromRequest, toResponse } from './web-messages.ts';

/** The type of the global `fetch` function. */
export type Fetch = typeof globalThis.fetch;

/** `fetch` that calls the mock in process. Rejects for other origins, as for an unknown host. */
export function createFetch(baseUrl: string, handleRequest: HandleRequest): Fetch {
  const send = async ({ url, signal, read }: FetchCall): Promise<MockResponse> => {
    if (url.origin !== baseUrl) throw unknownHost(url, baseUrl);
    const request = read();
    const source: RequestSource = { adapter: 'fetch', getSignal: () => signal };
    const handled =
      request instanceof Promise
        ? request.then((ready) => handleRequest(ready, source))
        : handleRequest(request, source);
    const received = await untilAborted(handled, signal);
    if (received.delivery?.sendsHead === false) throw brokenFetch(received.delivery.ending);
    return received;
  };
  const follow = async (call: FetchCall, redirects = 0): Promise<Response> => {
    const received = await send(call);
    const next = redirectedCall(call, received);
    if (next === undefined) {
      const properties = { url: { value: call.url.href }, redirected: { value: redirects > 0 } };
      return Object.defineProperties(toResponse(received, call.signal), properties);
    }
    if (call.redirect === 'error') throw refusedRedirect('unexpected redirect');
    if (redirects === MOST_REDIRECTS) throw refusedRedirect('redirect count exceeded');
    return follow(next, redirects + 1);
  };
  return async (input, init) => {
    const call = isSimple(input, init) ? simpleCall(input, init) : anyCall(new Request(input, init));
    call.signal?.throwIfAborted();
    return follow(call);
  };
}

type FetchInput = Parameters<Fetch>[0];

interface FetchCall {
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  readonly redirect: Request['redirect'];
  readonly read: () => MockRequest | Promise<MockRequest>;
}

function isSimple(input: FetchInput, init: RequestInit = {}): input is string | URL {
  const { method = 'GET', body } = init;
  return !(input instanceof Request) && /^(?:GET|HEAD|OPTIONS)$/i.test(method) && (body === undefined || body === null);
}

/** Most calls need no `Request`, which takes time to create. */
function simpleCall(input: string | URL, init: RequestInit = {}): FetchCall {
  const { method = 'GET', headers, signal, redirect = 'follow' } = init;
  const url = new URL(input);
  return {
    url,
    signal: signal ?? undefined,
    redirect,
    read: () => ({
      method: method.toUpperCase(),
      target: url.pathname + url.search,
      headers: Object.fromEntries(new Headers(headers)),
    }),
  };
}

function anyCall(request: Request): FetchCall {
  const { url, signal, redirect } = request;
  // A copy, because a redirect can repeat the body.
  return { url: new URL(url), signal, redirect, read: () => fromRequest(request.clone()) };
}

/** The call to the target of a redirect; `undefined` if there is no redirect to follow. */
function redirectedCall(call: FetchCall, { status, headers: { location } }: MockResponse): FetchCall | undefined {
  if (call.redirect === 'manual' || location === undefined || !REDIRECTS.includes(status)) return undefined;
  const url = new URL(location, call.url);
  const target = url.pathname + url.search;
  const read = async (): Promise<MockRequest> => {
    const { method, headers, body } = await call.read();
    if (!becomesGet(status, method)) return { method, target, headers, ...(body && { body }) };
    const { 'content-type': _, 'content-length': __, ...others } = headers;
    return { method: 'GET', target, headers: others };
  };
  return { ...call, url, read };
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MOST_REDIRECTS = 20;

/** WHATWG Fetch, HTTP-redirect fetch, step 12. */
function becomesGet(status: number, method: string): boolean {
  return status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
}

function refusedRedirect(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) });
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
