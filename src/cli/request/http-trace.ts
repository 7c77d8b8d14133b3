import type { FetchLike } from '../../client/index.ts';
import { maskKey } from '../../redactor.ts';
import { visible } from '../../text.ts';
import { monotonicNow } from '../io/io.ts';
import type { Invocation } from '../settings/settings.ts';

/** A longer body is cut in `-vv`. */
const LONGEST_SHOWN_BODY = 2048;

/** A response as received, also if the client rejects it. */
export interface TracedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** Filled while the client reads. */
  readonly body: Uint8Array[];
}

/** Prints requests and responses with `-v` and `-vv`. */
export class HttpTrace {
  /** The header of the last response; `null` if it has none, `undefined` before the first response. */
  lastDate: string | null | undefined;
  /** The last response to a request for `path`: the client may call `quota` after it, to explain a refusal. */
  received: TracedResponse | undefined;
  readonly #invocation: Invocation;
  readonly #path: string | undefined;

  constructor(invocation: Invocation, path?: string) {
    this.#invocation = invocation;
    this.#path = path && new URL(path, 'http://localhost').pathname;
  }

  /** Returns `fetch` with tracing, for a client with this base URL. `onSend` runs before each request. */
  wrap(fetch: FetchLike, baseUrl: string, onSend: () => void): FetchLike {
    const own = this.#path && new URL(baseUrl).pathname.replace(/\/+$/, '') + this.#path;
    return async (url, init) => {
      onSend();
      const isOfPath = new URL(url).pathname === own;
      if (isOfPath) this.received = undefined; // that of an earlier attempt
      const { io } = this.#invocation;
      await this.#showRequest(url, init.headers);
      const sentAt = monotonicNow(io);
      const response = await fetch(url, { ...init, redirect: 'manual' });
      this.lastDate = response.headers.get('date');
      await this.#showResponse(response, monotonicNow(io) - sentAt);
      if (!isOfPath && this.#invocation.settings.verbose < 2) return response; // a body can be large
      const { status, statusText, headers, body } = response;
      const traced: TracedResponse = { status, statusText, headers, body: [] };
      if (isOfPath) this.received = traced;
      if (body === null) return response;
      const recorded = this.#recorded(body, traced);
      const text = async () => (await import('node:stream/consumers')).text(recorded);
      // The client and the probe read only these fields of a response.
      return { status, statusText, headers, body: recorded, text } as unknown as Response;
    };
  }

  async #showRequest(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    await this.#show(1, `> GET ${url}`);
    for (const [name, value] of Object.entries(headers)) {
      // The redactor does not mask a key of fewer than 8 characters, because it could mask parts of words.
      const shown = name === 'authorization' ? value.replace(/\S+$/, (key) => maskKey(key)) : value;
      await this.#show(2, `> ${name}: ${shown}`);
    }
  }

  async #showResponse({ status, statusText, headers }: Response, durationMs: number): Promise<void> {
    await this.#show(1, `< ${[status, statusText].join(' ').trim()} in ${Math.round(durationMs)} ms`);
    const retryAfter = headers.get('retry-after');
    if (retryAfter !== null && this.#invocation.settings.verbose === 1)
      await this.#show(1, `< retry-after: ${retryAfter}`);
    for (const [name, value] of headers) await this.#show(2, `< ${name}: ${value}`);
  }

  #show(level: number, line: string): Promise<void> {
    const { settings, screen } = this.#invocation;
    return settings.verbose < level ? Promise.resolve() : screen.info(`${screen.err.palette.faint(visible(line))}\n`);
  }

  /** The same body, recorded while the client reads it, so that not more of it is read. */
  async *#recorded(body: AsyncIterable<Uint8Array>, traced: TracedResponse): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      traced.body.push(chunk);
      yield chunk;
    }
    await this.#showBody(traced);
  }

  #showBody({ body }: TracedResponse): Promise<void> {
    const { settings, screen } = this.#invocation;
    if (settings.verbose < 2) return Promise.resolve();
    // Redacted before the cut, which could leave a part of a key.
    const text = screen.secrets.redact(Buffer.concat(body).toString());
    const isLong = text.length > LONGEST_SHOWN_BODY;
    return this.#show(2, isLong ? `${text.slice(0, LONGEST_SHOWN_BODY)}… (${text.length} characters)` : text);
  }
}
