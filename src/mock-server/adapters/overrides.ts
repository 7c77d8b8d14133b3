import type { RequestHandler } from 'msw';
import type { MockRequest, MockResponse } from '../http/mock-message.ts';
import { isPassthrough, load } from './load-packages.ts';
import { toRequest } from './web-messages.ts';

/** Handlers that `mock.use()` added: asked before the emulated service, the last added first. */
export class Overrides {
  readonly #baseUrl: string;
  #handlers: RequestHandler[] = [];

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  get isEmpty(): boolean {
    return this.#handlers.length === 0;
  }

  add(handlers: readonly MswHandler[]): void {
    // Whatever has the shape goes to msw itself, which runs it.
    this.#handlers = [...(handlers as readonly RequestHandler[]), ...this.#handlers];
  }

  clear(): void {
    this.#handlers = [];
  }

  /** The response of the first handler that has one; `undefined` for `HttpResponse.error()`. */
  async respond(request: MockRequest): Promise<MockResponse | undefined | 'not-handled'> {
    const { getResponse } = load('msw');
    // Handlers name the mock's base URL or a path, whichever address the request came in at.
    const response = await getResponse(this.#handlers, toRequest(request, this.#baseUrl), { baseUrl: this.#baseUrl });
    // There is no network behind the mock, so a passthrough leads to the emulated service.
    if (response === undefined || isPassthrough(response)) return 'not-handled';
    return response.type === 'error' ? undefined : fromResponse(response);
  }
}

async function fromResponse(response: Response): Promise<MockResponse> {
  const body = new Uint8Array(await response.arrayBuffer());
  const { 'set-cookie': _, ...headers } = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  // Compressed bodies are not: the text is what the handler gave.
  return { status: response.status, headers: { ...headers, 'content-length': String(body.byteLength) }, cookies, body };
}

/**
 * A request handler of any version of msw. The type does not depend on msw, so that it also compiles in a project without
 * it.
 */
export interface MswHandler {
  /** Description of the handler. */
  readonly info: object;
  /** Runs the handler; msw calls it. */
  run(args: never): Promise<unknown>;
}
