import type { ResponseHeaders } from './transport.ts';

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
