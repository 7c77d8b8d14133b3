import type { FetchLike } from '../../client/index.ts';
import type { Invocation } from '../command.ts';
import { visible } from '../terminal/text.ts';

/** A longer body is cut in `-vv`. */
const LONGEST_SHOWN_BODY = 2048;

/** A response as received, whatever the client makes of it. */
export interface TracedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** Filled while the client reads. */
  readonly body: Uint8Array[];
}

/** Requests and responses: shown with `-v` and `-vv`, kept for `fxrates api`. */
export class HttpTrace {
  readonly #invocation: Invocation;
  /** Only for `fxrates api` and -vv: a body can be large. */
  readonly #keepsBodies: boolean;
  /** Last response of each path, since the client may ask for the quota to explain a refusal. */
  readonly #answers = new Map<string, TracedResponse>();

  constructor(invocation: Invocation, { keepsBodies = invocation.settings.verbose > 1 } = {}) {
    this.#invocation = invocation;
    this.#keepsBodies = keepsBodies;
  }

  /** The last response to a request for `path`. */
  lastResponse(path: string): TracedResponse | undefined {
    for (const [pathname, answer] of this.#answers) if (pathname.endsWith(path)) return answer;
    return undefined;
  }

  /** `fetch`, watched. `onSend` runs before each request. */
  wrap(fetch: FetchLike, onSend: () => void): FetchLike {
    return async (url, init) => {
      onSend();
      const { clock } = this.#invocation.io;
      await this.#showRequest(url, init.headers);
      const sentAt = clock.now();
      const response = await fetch(url, { ...init, redirect: 'manual' });
      await this.#showResponse(response, clock.now() - sentAt);
      return this.#keepsBodies ? this.#kept(new URL(url).pathname, response) : response;
    };
  }

  async #showRequest(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    await this.#show(1, `> GET ${url}`);
    for (const [name, value] of Object.entries(headers)) await this.#show(2, `> ${name}: ${value}`);
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

  /** The same response; records its bytes as the client reads them, so that it reads no more than the client. */
  #kept(pathname: string, response: Response): Response {
    const { status, statusText, headers, body } = response;
    const answer: TracedResponse = { status, statusText, headers, body: [] };
    this.#answers.set(pathname, answer);
    if (body === null) return response;
    // The client reads no more of a response than this.
    return { status, statusText, headers, body: this.#noted(body, answer) } as unknown as Response;
  }

  async *#noted(body: AsyncIterable<Uint8Array>, answer: TracedResponse): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      answer.body.push(chunk);
      yield chunk;
    }
    await this.#showBody(answer);
  }

  #showBody({ body }: TracedResponse): Promise<void> {
    if (this.#invocation.settings.verbose < 2) return Promise.resolve();
    const text = Buffer.concat(body).toString();
    const isLong = text.length > LONGEST_SHOWN_BODY;
    return this.#show(2, isLong ? `${text.slice(0, LONGEST_SHOWN_BODY)}… (${text.length} characters)` : text);
  }
}
