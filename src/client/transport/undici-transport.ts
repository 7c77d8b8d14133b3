import type { Dispatcher } from 'undici';
import { readBody } from './read-body.ts';
import type { ResponseHeaders, Transport } from './transport.ts';

type RawHeaders = Record<string, string | string[] | undefined>;

/**
 * Sends through undici's `request`, over `dispatcher` or else undici's global one. undici is loaded with the first call:
 * whoever passes a `fetch` never pays for it.
 */
export function undiciTransport(dispatcher: Dispatcher | undefined): Transport {
  let undici: Promise<typeof import('undici')> | undefined;
  const options = dispatcher === undefined ? {} : { dispatcher };
  return async ({ url, headers, signal, maxBytes }) => {
    undici ??= import('undici');
    const { request } = await undici;
    const response = await request(url, { method: 'GET', headers, signal, ...options });
    const text = await readBody(response.body, maxBytes);
    return { status: response.statusCode, headers: new UndiciHeaders(response.headers), text };
  };
}

class UndiciHeaders implements ResponseHeaders {
  readonly #raw: RawHeaders;

  constructor(raw: RawHeaders) {
    this.#raw = raw;
  }

  get(name: string): string | undefined {
    const value = this.#raw[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.#raw)) {
      for (const line of Array.isArray(value) ? value : [value ?? '']) headers.append(name, line);
    }
    return headers;
  }
}
