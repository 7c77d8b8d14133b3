import { BodyReader } from './body-reader.ts';
import type { Transport } from './transport.ts';
import { WebHeaders } from './web-headers.ts';

/** The part of WHATWG `fetch` that the client uses. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: 'GET';
    readonly headers: Record<string, string>;
    readonly signal: AbortSignal;
    readonly redirect: 'manual';
  },
) => Promise<Response>;

/** Sends through a `fetch` of the user's: the built-in one, a mock server's, an instrumented one. */
export function fetchTransport(fetch: FetchLike): Transport {
  return async ({ url, headers, cancellation, maxBytes }) => {
    const response = await fetch(url, {
      method: 'GET',
      headers: { ...headers },
      signal: cancellation.toSignal(),
      redirect: 'manual',
    });
    const body = new BodyReader(maxBytes);
    for await (const chunk of response.body ?? []) if (!body.add(chunk)) break;
    return { status: response.status, headers: new WebHeaders(response.headers), ...body.end() };
  };
}
