import { reasonPhrase } from '../http/answer.ts';
import type { MockRequest, MockResponse } from '../http/mock-message.ts';

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

/** The answer as a WHATWG Response. */
export function toResponse({ status, headers, body }: MockResponse): Response {
  const isEmpty = body.length === 0;
  return new Response(isEmpty ? null : body, { status, statusText: reasonPhrase(status), headers: { ...headers } });
}
