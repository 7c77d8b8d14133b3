import * as zlib from 'node:zlib';
import { decoded, isDecodingError } from '../../body-bytes.ts';
import { isRequest, onAbort } from '../../foreign-values.ts';
import {
  type Delivery,
  type HandleRequest,
  type MockRequest,
  type MockResponse,
  piecesOf,
  type RequestSource,
  WHOLE,
} from '../http/message.ts';
import { reasonPhrase } from '../http/responses.ts';
import { valuePairs } from '../input/masked-keys.ts';

/** The type of the global `fetch` function. */
export type Fetch = typeof globalThis.fetch;

/**
 * `fetch` that calls the mock in process. Rejects for other origins, as for an unknown host. It returns redirects, or rejects
 * them with `redirect: 'error'`; it does not follow them.
 */
export function createFetch(baseUrl: string, handleRequest: HandleRequest, clock?: object): Fetch {
  return async (input, init) => {
    const { signal: given = isRequest(input) ? input.signal : undefined } = init ?? {};
    const signal = given ? nativeSignal(given) : undefined;
    const request = requestOf(input, init);
    signal?.throwIfAborted();
    const url = new URL(request.url);
    if (url.origin !== baseUrl) throw unknownHost(url, baseUrl);
    const source: RequestSource = { adapter: 'fetch', getSignal: () => signal, clock };
    const message = request.body === null ? headOf(request) : await untilAborted(fromRequest(request), signal);
    const response = await untilAborted(handleRequest(message, source), signal);
    checkReceived(response, request);
    return withUrl(
      toResponse(response, signal, { decode: true }),
      url.href.slice(0, url.href.length - url.hash.length),
    );
  };
}

/** A response with a URL, as that of a network has, and as its copies have. */
function withUrl(response: Response, url: string): Response {
  const clone = () => withUrl(Response.prototype.clone.call(response), url);
  return Object.defineProperties(response, { url: { value: url }, clone: { value: clone } });
}

/** The same signal in a form that `AbortSignal.any` takes. */
function nativeSignal(signal: AbortSignal): AbortSignal {
  const given: unknown = signal;
  if (given instanceof AbortSignal) return given;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else onAbort(signal, abort);
  return controller.signal;
}

/** Without the signal, on which a Request would keep a listener. A `Request` of another realm would be read as a URL. */
function requestOf(input: Parameters<Fetch>[0], given: RequestInit | undefined): Request {
  const { signal: _, ...own } = given ?? {};
  const init = isRequest(given) ? partsOf(given) : own;
  if (input instanceof Request || !isRequest(input)) return new Request(input, init);
  return new Request((input as Request).url, { ...partsOf(input), ...init });
}

/** These are no properties of its own, so that `...` copies none. */
function partsOf({ method, headers, body, redirect }: Request): RequestInit {
  return { method, headers, body, redirect, duplex: 'half' };
}

/** Throws the error of fetch if no response arrives, or if it is a redirect and redirects are errors. */
function checkReceived({ status, delivery }: MockResponse, { redirect }: Request): void {
  if (delivery?.sendsHead === false) throw new TypeError('fetch failed', { cause: brokenConnection(delivery.ending) });
  if (redirect !== 'error' || !REDIRECTS.includes(status)) return;
  throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
}

/** Fetch standard, redirect status. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A synchronous response also arrives after the call has returned, as from a network. The call can be aborted until then. */
function untilAborted<Value>(work: Value | Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return new Promise((resolve, reject) => {
    const unlisten = signal && onAbort(signal, () => reject(signal.reason));
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => unlisten?.());
  });
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

/** Converts a WHATWG Request, and reads its body. */
export async function fromRequest(request: Request): Promise<MockRequest> {
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return { ...headOf(request), ...(body === undefined ? {} : { body }) };
}

function headOf({ url, method, headers }: Request): MockRequest {
  const { pathname, search } = new URL(url);
  return { method, target: pathname + search, headers: Object.fromEntries(headers) };
}

interface ConversionOptions {
  /** Whether the body is without its content coding, as `fetch` returns it; msw decodes it itself. */
  readonly decode?: boolean;
}

/** Converts a response to a WHATWG Response. `signal` ends a body that is sent slowly. */
export function toResponse(
  response: MockResponse,
  signal?: AbortSignal | null,
  { decode = false }: ConversionOptions = {},
): Response {
  const { status, body, headers, delivery } = response;
  const coding = decode ? (headers['content-encoding']?.toString() ?? '') : '';
  const isPlain = delivery === undefined && coding === '';
  const options = { delivery: delivery ?? WHOLE, coding, signal: signal ?? undefined };
  const content = isPlain ? streamOf(body) : bodyStream(response, options);
  return new Response(body.length === 0 ? null : content, {
    status,
    statusText: reasonPhrase(status),
    headers: valuePairs(headers),
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

interface BodyOptions {
  readonly delivery: Delivery;
  /** The content coding to decode; empty for none. */
  readonly coding: string;
  readonly signal: AbortSignal | undefined;
}

/** A body as its delivery says: in pieces, or incomplete. */
function bodyStream(response: MockResponse, { delivery, coding, signal }: BodyOptions): ReadableStream<Uint8Array> {
  const cancelled = new AbortController();
  const ended = AbortSignal.any([cancelled.signal, ...(signal === undefined ? [] : [signal])]);
  const sent = piecesOf(response, delivery, ended);
  const pieces = coding === '' ? sent : decoded(sent, coding, zlib)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) controller.enqueue(value);
        else if (delivery.ending === 'whole') controller.close();
        else controller.error(brokenBody(delivery.ending));
      } catch (error) {
        // Unless the body is damaged, the reader has cancelled it, or the mock was closed.
        controller.error(signal?.aborted ? signal.reason : failureOf(error, delivery));
      }
    },
    cancel: () => cancelled.abort(),
  });
}

function failureOf(error: unknown, { ending }: Delivery): TypeError {
  const isDamaged = ending === 'whole' && isDecodingError(error);
  return isDamaged ? new TypeError('terminated', { cause: error }) : brokenBody(ending);
}

/** The error of undici, and of `fetch` in Node.js, for a connection that ends too early. */
function brokenConnection(ending: Delivery['ending']): Error {
  if (ending === 'reset') return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  const error = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  return Object.defineProperty(error, 'name', { value: 'SocketError' }); // the prototype can be frozen
}

/** The error of a body that ends too early. */
function brokenBody(ending: Delivery['ending']): TypeError {
  return new TypeError('terminated', { cause: brokenConnection(ending) });
}
