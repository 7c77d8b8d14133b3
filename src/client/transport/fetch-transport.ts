import type { ResponseHeaders, Transport, TransportResponse } from './transport.ts';
import { BodyReader } from './transport.ts';

/** A WHATWG `fetch`, as far as the client uses it. */
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
    return readResponse(response, maxBytes);
  };
}

/** Reads a `Response` to its end, or until its body is longer than `maxBytes`. */
export async function readResponse(response: Response, maxBytes: number): Promise<TransportResponse> {
  const body = new BodyReader(maxBytes);
  for await (const chunk of response.body ?? []) if (!body.add(chunk)) break;
  return { status: response.status, headers: new WebHeaders(response.headers), ...body.end() };
}

/** Response headers that are a `Headers` object already. */
export class WebHeaders implements ResponseHeaders {
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
