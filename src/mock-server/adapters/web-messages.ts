import {
  type Delivery,
  headersWithCookies,
  type MockRequest,
  type MockResponse,
  piecesOf,
} from '../http/mock-message.ts';
import { reasonPhrase } from '../http/responses.ts';

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
export function brokenConnection(ending: Delivery['ending']): Error {
  if (ending === 'reset') return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' });
}

/** The error of a body that ends too early. */
function brokenBody(ending: Delivery['ending']): TypeError {
  return new TypeError('terminated', { cause: brokenConnection(ending) });
}
