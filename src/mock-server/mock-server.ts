import type { AdapterName } from './adapters/active-adapters.ts';
import {
  checkedStrategy,
  createMswHandlers,
  type InterceptionOptions,
  intercept,
  requireSameStrategy,
} from './adapters/interception.ts';
import { checkAdapterSupport } from './faults/mock-faults.ts';
import { createHandler } from './handle.ts';
import type { HandleRequest } from './http/mock-message.ts';
import { type CheckedOptions, checkOptions, type MockServerOptions } from './mock-options.ts';
import { createMockParts, type MockParts } from './mock-parts.ts';
import { MockScope, type ResetOptions } from './mock-scope.ts';
import { within } from './mock-server-error.ts';
import type { CreatedKey } from './service/keys.ts';
import { type Space, type SpaceOptions, Spaces } from './spaces.ts';
import { type RunningServer, type ServeOptions, startServer } from './start-server.ts';
import { checkedSnapshot, type Snapshot } from './state/snapshot.ts';
import { restoreSnapshot } from './state/snapshots.ts';

/**
 * Creates an emulated exchange-rate service with its own accounts, limits, clock and journal.
 * @throws MockServerError with code `invalid_option`, for an unknown option or an invalid value.
 * @example const mock = createMockServer({ seed: 7, clock: 'virtual' })
 */
export function createMockServer(options: MockServerOptions = {}): MockServer {
  return newMock(checkOptions(options));
}

/** An emulated exchange-rate service, created by `createMockServer`. */
export class MockServer extends MockScope implements AsyncDisposable {
  readonly #options: CheckedOptions;
  readonly #parts: MockParts;
  readonly #spaces: Spaces;
  readonly #handleRequest: HandleRequest;
  readonly #setupKeys: readonly CreatedKey[];
  readonly #servers = new Set<RunningServer>();
  #stopListening: (() => void) | undefined;
  #closeMsw: (() => void) | undefined;

  constructor(options: CheckedOptions) {
    const parts = createMockParts(options);
    const spaces = new Spaces(options, parts);
    const handleRequest = createHandler(spaces);
    super(parts, handleRequest);
    this.#options = options;
    this.#parts = parts;
    this.#spaces = spaces;
    this.#handleRequest = handleRequest;
    const owner = { mock: this, state: parts.state };
    // The mock may be served, so every fault is possible. Another adapter refuses those that it cannot reproduce.
    const closeAdapter = parts.adapters.open('socket');
    this.#setupKeys = within('setup', () => parts.initialSetup.apply(options.setup ?? {}, owner));
    closeAdapter();
  }

  /** The keys that the option `setup` has created, in its order. `reset()` creates the same keys again. */
  get setupKeys(): readonly CreatedKey[] {
    return this.#setupKeys;
  }

  /**
   * The mock as msw request handlers. `mockHandlers(mock)` of `fxrates/msw` returns the same handlers with msw's type;
   * the type `never` compiles with every version of msw, and without msw. The adapter `msw` is in use from the first
   * request until `close()`.
   * @throws MockServerError with code `msw_missing`, if msw is not installed.
   * @example setupServer(...mock.handlers)
   */
  get handlers(): never[] {
    const handleRequest: HandleRequest = (request, source) => {
      this.#closeMsw ??= this.#parts.adapters.open('msw');
      return this.#handleRequest(request, source);
    };
    return createMswHandlers(this.baseUrl, handleRequest) as never[];
  }

  /**
   * Intercepts global `fetch`, through which the client sends while it is replaced, and `node:http` in this process until
   * `close()`. Requires msw. `onUnhandledRequest` defines what happens to requests to other origins, as in msw: `'bypass'`
   * (default), `'warn'`, `'error'` or a function. Other code that calls undici is not intercepted; use `serve()`.
   * @throws MockServerError with code `invalid_option`; `origin_in_use`, if another mock listens at the same base URL;
   * `strategy_in_use`, if this or another mock listens with another `onUnhandledRequest`; `msw_in_use`, if another server of msw
   * listens in this process; `fault_not_possible`, if msw cannot reproduce a fault; `msw_missing`, if msw is not
   * installed.
   * @example mock.listen({ onUnhandledRequest: 'error' })
   */
  listen(options: InterceptionOptions = {}): void {
    const onUnhandledRequest = checkedStrategy(options);
    if (this.#stopListening !== undefined) {
      if (onUnhandledRequest !== undefined) requireSameStrategy(onUnhandledRequest);
      return;
    }
    const { sockets, adapters } = this.#parts;
    this.#checkFaults('msw');
    const stop = intercept(this.baseUrl, this.#handleRequest, onUnhandledRequest ?? 'bypass');
    const releaseSockets = sockets.expect();
    const closeAdapters = adapters.open('msw');
    this.#stopListening = () => {
      stop();
      releaseSockets();
      closeAdapters();
    };
  }

  /**
   * Serves the mock over HTTP, by default on a free port of 127.0.0.1.
   * @throws MockServerError with code `invalid_option`; `port_in_use`; `state_in_use` or `state_unusable`, for the option
   * `state`.
   * @example const { url, adminUrl } = await mock.serve({ port: 4010 })
   */
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
   * Opens a space: an account and a key with separate counters, clock, switches, faults, stubs and journal. The API key of
   * a request selects its space, so parallel tests can share a server and its connections.
   * @throws MockServerError with code `space_exists`, if a space with this name is open.
   * @example await using space = mock.space({ plan: 'developer' })
   */
  space(options: SpaceOptions = {}): Space {
    return this.#spaces.open(options);
  }

  /** Creates another mock with the same options and a copy of the state, except functions. The two mocks share nothing. */
  fork(): MockServer {
    const copy = newMock(this.#options);
    copy.restore(this.snapshot());
    return copy;
  }

  /**
   * Restores a snapshot of this or another mock, or of a space, and clears the journal. The key of an open space stays in the
   * space: if mock and snapshot have one key with the same id and account, the key of the mock gets its plan and usage.
   * @throws MockServerError with code `invalid_snapshot`, if the snapshot is damaged or of another version, or has a key of an
   * open space that the key of the mock cannot replace. Nothing changes then.
   */
  override restore(snapshot: Snapshot): void {
    const checked = checkedSnapshot(snapshot, this.#parts.behaviour);
    restoreSnapshot(this.#parts, this.#spaces.snapshotForMock(checked));
  }

  /**
   * Restores the initial state: removes accounts, keys, faults, stubs and handlers of `use()`, clears the journal,
   * resets switches and clock, and applies the option `setup` again.
   * @throws MockServerError with code `spaces_live`, while spaces are open.
   */
  override reset(options: ResetOptions = {}): void {
    this.#spaces.refuseWhileLive('reset()');
    super.reset(options);
    this.#parts.initialSetup.restoreKeys({ mock: this, state: this.#parts.state }, options);
  }

  /** Stops all interception immediately, closes all spaces and servers of the mock, and ends the waits for requests. */
  async close(): Promise<void> {
    // Before the first `await`, so that another mock can listen at the same address right after the call.
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#closeMsw?.();
    this.#closeMsw = undefined;
    await this.#spaces.closeAll();
    this.#parts.delays.endAll();
    this.#parts.journal.close();
    await Promise.all(Array.from(this.#servers, (server) => server.close()));
  }

  /** Throws if adapters that are about to open cannot reproduce a fault of the mock or of a space. */
  #checkFaults(...opening: readonly AdapterName[]): void {
    const faults = [this, ...this.#spaces.spaces].flatMap((scope) => scope.faults.list());
    for (const fault of faults) checkAdapterSupport(fault, opening);
  }

  /** Calls `close()` at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Outside the class: esbuild changes the name of a class that refers to itself. */
function newMock(options: CheckedOptions): MockServer {
  return new MockServer(options);
}
