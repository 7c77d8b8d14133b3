import { readBody } from './read-body.ts';
import type { ResponseHeaders, Transport } from './transport.ts';

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
  return async ({ url, headers, signal, maxBytes }) => {
    const response = await fetch(url, { method: 'GET', headers: { ...headers }, signal, redirect: 'manual' });
    const text = response.body === null ? '' : await readBody(response.body, maxBytes);
    return { status: response.status, headers: new FetchHeaders(response.headers), text };
  };
}

class FetchHeaders implements ResponseHeaders {
  readonly #headers: Headers;

  constructor(headers: Headers) {
    this.#headers = headers;
  }

  get(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  toHeaders(): Headers {
    return this.#headers;
  }
}
