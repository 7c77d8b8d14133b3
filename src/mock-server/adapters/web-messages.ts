import {
  type Delivery,
  headersWithCookies,
  type MockRequest,
  type MockResponse,
  piecesOf,
} from '../http/mock-message.ts';
import { reasonPhrase } from '../http/service-response.ts';

/** The request as a WHATWG Request at `origin`. */
export function toRequest({ method, target, headers, body }: MockRequest, origin: string): Request {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const init: RequestInit = { method, headers: given };
  if (body !== undefined && body.byteLength > 0 && method !== 'GET' && method !== 'HEAD') init.body = body;
  return new Request(origin + target, init);
}

/** A WHATWG Request as a neutral one; its body is read. */
export async function fromRequest(request: Request): Promise<MockRequest> {
  const { pathname, search } = new URL(request.url);
  const head = { method: request.method, target: pathname + search, headers: Object.fromEntries(request.headers) };
  return request.body === null ? head : { ...head, body: new Uint8Array(await request.arrayBuffer()) };
}

/** The response as a WHATWG Response; `gone` ends a body that takes its time. */
export function toResponse(response: MockResponse, gone?: AbortSignal): Response {
  const { status, body, delivery } = response;
  const headers = Object.entries(headersWithCookies(response)).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  const content = delivery === undefined ? body : bodyStream(response, delivery, gone);
  return new Response(body.length === 0 ? null : content, {
    status,
    statusText: reasonPhrase(status),
    headers,
  });
}

/** A body that arrives as its delivery says: in pieces, or not to the end. */
export function bodyStream(
  response: MockResponse,
  delivery: Delivery,
  gone: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const pieces = piecesOf(response, delivery, gone);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) controller.enqueue(value);
        else if (delivery.ending === 'whole') controller.close();
        else controller.error(brokenBody(delivery.ending));
      } catch {
        // Given up by the reader, or by the mock that was closed.
        controller.error(gone?.aborted ? gone.reason : brokenBody('close'));
      }
    },
    async cancel() {
      await pieces.return();
    },
  });
}

/** The error of undici, and so of every fetch of Node, for a connection that ends too early. */
export function brokenConnection(ending: Delivery['ending']): Error {
  if (ending === 'reset') return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' });
}

/** What fetch throws when there is no response. */
export function brokenFetch(ending: Delivery['ending']): TypeError {
  return new TypeError('fetch failed', { cause: brokenConnection(ending) });
}

/** What reading a body throws when it breaks off. */
function brokenBody(ending: Delivery['ending']): TypeError {
  return new TypeError('terminated', { cause: brokenConnection(ending) });
}
