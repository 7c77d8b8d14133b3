import type { RequestHandler } from 'msw';
import { type MockRequest, type MockResponse, noResponse, readHeaders } from '../http/mock-message.ts';
import { invalidOption } from '../mock-server-error.ts';
import { toRequest } from './fetch.ts';
import { isPassthrough, load } from './load-packages.ts';

/** The handlers of `mock.use()`. They are called before the emulated service, starting with the one added last. */
export class Overrides {
  readonly #baseUrl: string;
  /** The one that is called first comes first. A public type must not need msw, which is an optional package. */
  handlers: readonly MswHandler[] = [];

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  add(handlers: readonly MswHandler[]): void {
    for (const handler of handlers as readonly (Partial<RequestHandler> | null | undefined)[]) {
      if (typeof handler?.run === 'function') continue;
      throw invalidOption('handler', handler, 'a request handler of msw, such as http.get()');
    }
    this.handlers = [...handlers, ...this.handlers];
  }

  clear(): void {
    this.handlers = [];
  }

  /** The response of the first handler that has one; `undefined` without one. */
  async respond(request: MockRequest): Promise<MockResponse | undefined> {
    const { getResponse } = load('msw');
    // Handlers have the mock's base URL or a path, also for requests to another address of the mock.
    const handlers = this.handlers as RequestHandler[];
    const response = await getResponse(handlers, toRequest(request, this.#baseUrl), { baseUrl: this.#baseUrl });
    // With `passthrough()`, the emulated service responds, because the mock sends nothing.
    if (response === undefined || isPassthrough(response)) return undefined;
    return response.type === 'error' ? noResponse(WHY) : fromResponse(response);
  }
}

const WHY = 'the response is that of a handler of mock.use()';

async function fromResponse(response: Response): Promise<MockResponse> {
  const body = new Uint8Array(await response.arrayBuffer());
  const headers = readHeaders({
    ...Object.fromEntries(response.headers),
    'set-cookie': response.headers.getSetCookie(),
    // That of the body as the handler returned it: the mock does not compress.
    'content-length': String(body.byteLength),
  });
  return { status: response.status, headers, body, code: undefined, why: WHY };
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
