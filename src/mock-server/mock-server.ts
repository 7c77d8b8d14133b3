import type { Dispatcher } from 'undici';
import { intercept, type OnUnhandledRequest } from './adapters/interception.ts';
import { loadUndici } from './adapters/load-packages.ts';
import { createMswHandlers } from './adapters/msw-handlers.ts';
import { createDispatcher } from './adapters/undici-dispatcher.ts';
import type { HandleRequest } from './handle-request.ts';
import { type CheckedOptions, checkOptions, type MockServerOptions } from './mock-options.ts';
import { createMockParts, type MockParts } from './mock-parts.ts';
import { MockScope } from './mock-scope.ts';
import { type Space, type SpaceOptions, Spaces } from './spaces.ts';
import { type RunningServer, type ServeOptions, startServer } from './start-server.ts';

/**
 * An emulated exchange-rate service with its own accounts, limits and clock; it shares nothing with any other.
 * Throws `MockServerError` for an option that cannot be.
 */
export function createMockServer(options: MockServerOptions = {}): MockServer {
  return new MockServer(checkOptions(options));
}

/** An emulated exchange-rate service; `createMockServer` makes one. */
export class MockServer extends MockScope implements AsyncDisposable {
  readonly #options: CheckedOptions;
  readonly #parts: MockParts;
  readonly #spaces: Spaces;
  readonly #handleRequest: HandleRequest;
  readonly #servers = new Set<RunningServer>();
  #stopListening: (() => void) | undefined;
  #closeMsw: (() => void) | undefined;

  constructor(options: CheckedOptions) {
    const parts = createMockParts(options);
    const spaces = new Spaces(options, parts);
    const handleRequest: HandleRequest = (request, source) => spaces.partsFor(request).handleRequest(request, source);
    super(parts, handleRequest);
    this.#options = options;
    this.#parts = parts;
    this.#spaces = spaces;
    this.#handleRequest = handleRequest;
  }

  /**
   * The mock as request handlers for a test suite that already has msw: `setupServer(...mock.handlers)`. `never` is what
   * every version of msw takes for a handler: its own type cannot be named where msw is not installed; `mockHandlers(mock)`
   * of `fxrates/msw` gives them with that type. msw counts as in use from their first request until `close()`.
   */
  get handlers(): never[] {
    const handleRequest: HandleRequest = (request, source) => {
      this.#closeMsw ??= this.#parts.adapters.open('msw');
      return this.#handleRequest(request, source);
    };
    return createMswHandlers(this.baseUrl, handleRequest) as never[];
  }

  /** An undici dispatcher that answers for the mock and passes other origins on to the one that is global now. */
  get dispatcher(): Dispatcher {
    this.#parts.adapters.open('undici');
    const next = loadUndici().getGlobalDispatcher();
    return createDispatcher((origin) => (origin === this.baseUrl ? this.#handleRequest : undefined), next);
  }

  /**
   * Intercepts global fetch, node:http and undici in this process until `close()`; other origins are not touched unless
   * `onUnhandledRequest` says so: `'warn'`, `'error'` or a function, as with msw. Default: `'bypass'`.
   * Needs msw. Throws when another mock listens at the same base URL.
   */
  listen({ onUnhandledRequest }: { readonly onUnhandledRequest?: OnUnhandledRequest | undefined } = {}): void {
    if (this.#stopListening !== undefined) return;
    const { sockets, adapters } = this.#parts;
    const stop = intercept(this.baseUrl, this.#handleRequest, onUnhandledRequest);
    const socketsGone = sockets.expect();
    const adaptersClosed = adapters.open('msw', 'undici');
    this.#stopListening = () => {
      stop();
      socketsGone();
      adaptersClosed();
    };
  }

  /** Serves the mock on a port. Default: any free port of 127.0.0.1. */
  async serve(options: ServeOptions = {}): Promise<RunningServer> {
    const server = await startServer(options, {
      mock: this,
      parts: this.#parts,
      spaces: this.#spaces,
      handleRequest: this.#handleRequest,
      onClose: () => void this.#servers.delete(server),
    });
    this.#servers.add(server);
    return server;
  }

  /**
   * An account and its key for one test, isolated from all others: counters, clock, switches, faults and journal of its
   * own. The mock tells the requests of a space by their key, so parallel tests may share a server or a connection.
   */
  space(options: SpaceOptions = {}): Space {
    return this.#spaces.open(options);
  }

  /** Another mock with the same options and a copy of the state, independent of this one from now on. */
  fork(): MockServer {
    const copy = new MockServer(this.#options);
    copy.restore(this.snapshot());
    return copy;
  }

  /** As `MockScope.reset`. Throws `MockServerError` with code `spaces_live` while spaces live. */
  override reset(): void {
    this.#spaces.refuseWhileLive('reset()');
    super.reset();
  }

  /** Ends everything the mock has opened: spaces, interception and servers. */
  async close(): Promise<void> {
    await this.#spaces.closeAll();
    this.#parts.delays.endAll();
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#closeMsw?.();
    this.#closeMsw = undefined;
    await Promise.all(Array.from(this.#servers, (server) => server.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
