import {
  type Delivery,
  type HandleRequest,
  headersWithCookies,
  type MockRequest,
  type MockResponse,
  piecesOf,
  type RequestSource,
} from '../http/mock-message.ts';
import { reasonPhrase } from '../http/responses.ts';

/** The type of the global `fetch` function. */
export type Fetch = typeof globalThis.fetch;

/**
 * `fetch` that calls the mock in process. Rejects for other origins, as for an unknown host. It returns redirects, or rejects
 * them with `redirect: 'error'`; it does not follow them.
 */
export function createFetch(baseUrl: string, handleRequest: HandleRequest): Fetch {
  const send = async ({ url, signal, redirect, read }: FetchCall): Promise<MockResponse> => {
    if (url.origin !== baseUrl) throw unknownHost(url, baseUrl);
    const request = read();
    const source: RequestSource = { adapter: 'fetch', getSignal: () => signal };
    const handled =
      request instanceof Promise
        ? request.then((ready) => handleRequest(ready, source))
        : handleRequest(request, source);
    const received = await untilAborted(handled, signal);
    if (received.delivery?.sendsHead === false) throw brokenFetch(received.delivery.ending);
    if (redirect === 'error' && REDIRECTS.includes(received.status)) throw unexpectedRedirect();
    return received;
  };
  return async (input, init) => {
    const call = isSimple(input, init) ? simpleCall(input, init) : anyCall(new Request(input, init));
    call.signal?.throwIfAborted();
    return Object.defineProperties(toResponse(await send(call), call.signal), { url: { value: call.url.href } });
  };
}

type FetchInput = Parameters<Fetch>[0];

interface FetchCall {
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  readonly redirect: RequestInit['redirect'];
  readonly read: () => MockRequest | Promise<MockRequest>;
}

function isSimple(input: FetchInput, init: RequestInit = {}): input is string | URL {
  const { method = 'GET', body } = init;
  return !(input instanceof Request) && /^(?:GET|HEAD|OPTIONS)$/i.test(method) && (body === undefined || body === null);
}

/** Most calls need no `Request`, which takes time to create. */
function simpleCall(input: string | URL, init: RequestInit = {}): FetchCall {
  const { method = 'GET', headers, signal, redirect } = init;
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
  return { url: new URL(url), signal, redirect, read: () => fromRequest(request) };
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

/** Fetch standard, redirect status. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

function unexpectedRedirect(): TypeError {
  return new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
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

/** The request as a WHATWG Request at `origin`. */
export function toRequest({ method, target, headers, body }: MockRequest, origin: string): Request {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const init: RequestInit = { method, headers: given };
  if (body !== undefined && body.byteLength > 0 && method !== 'GET' && method !== 'HEAD') init.body = body;
  return new Request(origin + target, init);
}

/** Converts a WHATWG Request, and reads its body. */
export async function fromRequest(request: Request): Promise<MockRequest> {
  const { pathname, search } = new URL(request.url);
  const head = { method: request.method, target: pathname + search, headers: Object.fromEntries(request.headers) };
  return request.body === null ? head : { ...head, body: new Uint8Array(await request.arrayBuffer()) };
}

/** Converts a response to a WHATWG Response. `signal` ends a body that is sent slowly. */
export function toResponse(response: MockResponse, signal?: AbortSignal): Response {
  const { status, body, delivery } = response;
  const headers = Object.entries(headersWithCookies(response)).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  const content = delivery === undefined ? streamOf(body) : bodyStream(response, delivery, signal);
  return new Response(body.length === 0 ? null : content, {
    status,
    statusText: reasonPhrase(status),
    headers,
  });
}

/** A stream, because Node ends a body of bytes with queueMicrotask, which fake timers of jest and sinon stop. */
function streamOf(body: string | Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(body));
      controller.close();
    },
  });
}

/** A body with the faults of its delivery: in pieces, or incomplete. */
function bodyStream(
  response: MockResponse,
  delivery: Delivery,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const pieces = piecesOf(response, delivery, signal);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) controller.enqueue(value);
        else if (delivery.ending === 'whole') controller.close();
        else controller.error(brokenBody(delivery.ending));
      } catch {
        // The reader has cancelled the body, or the mock was closed.
        controller.error(signal?.aborted ? signal.reason : brokenBody('close'));
      }
    },
    async cancel() {
      await pieces.return();
    },
  });
}

/** The error of undici, and of `fetch` in Node.js, for a connection that ends too early. */
function brokenConnection(ending: Delivery['ending']): Error {
  if (ending === 'reset') return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' });
}

/** The error of a body that ends too early. */
function brokenBody(ending: Delivery['ending']): TypeError {
  return new TypeError('terminated', { cause: brokenConnection(ending) });
}
