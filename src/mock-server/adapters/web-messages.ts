import type { MockRequest, MockResponse } from '../http/mock-message.ts';
import { reasonPhrase } from '../http/service-response.ts';
import { bodyStream } from './body-stream.ts';

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

/** The answer as a WHATWG Response; `gone` ends a body that takes its time. */
export function toResponse(response: MockResponse, gone?: AbortSignal): Response {
  const { status, headers, body, delivery } = response;
  const content = delivery === undefined ? body : bodyStream(response, delivery, gone);
  return new Response(body.length === 0 ? null : content, {
    status,
    statusText: reasonPhrase(status),
    headers: { ...headers },
  });
}
