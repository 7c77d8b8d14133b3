import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { createMswHandler, type InterceptionOptions, intercept } from '../adapters/interception.ts';
import { type ListeningServer, type ListenOptions, listenHttp, listenOptions } from '../adapters/node-server.ts';
import type { HandleRequest } from '../http/message.ts';
import { ADMIN_ROOT } from '../http/parse-request.ts';
import { checkedInput, strictObject, type ValueOf } from '../input/checked-input.ts';
import { invalidOption, MockServerError } from '../input/mock-server-error.ts';
import { createHandler } from '../mock/handle-request.ts';
import { MockMethods, openSpace, type Space, type SpaceOptions } from '../mock/mock-methods.ts';
import { closeMock, createMockState, type MockState, reopenMock, startState } from '../mock/mock-state.ts';
import { type CheckedMockOptions, checkOptions, type MockServerOptions } from '../mock/options.ts';
import { StateFile } from '../mock/state-file.ts';
import { checkAdapterSupport } from '../rules/failures.ts';
import { type CreatedKey, hashOf } from '../service/keys.ts';
import { createGate } from './gate.ts';

/**
 * Creates an emulated exchange-rate service with its own accounts, limits, clock and journal.
 * @throws MockServerError with code `invalid_option`, for an unknown option or an invalid value; for the option `state`:
 * `state_unusable`, or `state_in_use` if another mock has the file.
 * @example const mock = createMockServer({ seed: 7, clock: 'virtual' })
 */
export function createMockServer(options: MockServerOptions = {}): MockServer {
  return new MockServer(checkOptions(options));
}

/** An emulated exchange-rate service, created by `createMockServer`. */
export class MockServer extends MockMethods implements AsyncDisposable {
  readonly #mock: MockState;
  readonly #handleRequest: HandleRequest;
  readonly #setupKeys: readonly CreatedKey[];
  readonly #stateFile: StateFile | undefined;
  /** Those that start are included, so that `close()` also closes them. */
  readonly #servers = new Set<Promise<RunningServer>>();
  #stopListening: (() => void) | undefined;
  #closeMsw: (() => void) | undefined;
  #closedState: Promise<void> | undefined;

  constructor(options: CheckedMockOptions) {
    const mock = createMockState(options);
    const handleRequest = createHandler(mock);
    super(mock, handleRequest);
    this.#mock = mock;
    this.#handleRequest = handleRequest;
    this.#setupKeys = startState(mock);
    this.#stateFile = options.state === undefined ? undefined : StateFile.open(options.state, mock);
    this.behaviour.set(options.behaviour); // also over the switches of the file
  }

  /**
   * The keys that the option `setup` has created, in its order, without those that the mock does not have after `restore()`
   * or with the state of a file. `reset()` creates all of them again.
   */
  get setupKeys(): readonly CreatedKey[] {
    const { keysByHash } = this.#mock.state;
    return this.#setupKeys.filter(({ key }) => keysByHash.has(hashOf(key))).map((key) => ({ ...key }));
  }

  /**
   * The mock as msw request handlers. `mockHandlers(mock)` of `fxrates/msw` returns the same handlers with msw's type;
   * the type `never` compiles with every version of msw, and without msw. The adapter `msw` is in use from the first
   * request until `close()`.
   * @throws MockServerError with code `msw_missing`, if msw is not installed or cannot be loaded.
   * @example setupServer(...mock.handlers)
   */
  get handlers(): never[] {
    reopenMock(this.#mock);
    const handleRequest: HandleRequest = (request, source) => {
      if (!this.#mock.lifetime.isClosed) this.#closeMsw ??= this.#mock.adapters.open('msw');
      return this.#handleRequest(request, source);
    };
    return [createMswHandler(this.baseUrl, handleRequest)] as never[];
  }

  /**
   * Intercepts global `fetch`, through which the client sends while it is replaced, and `node:http` in this process until
   * `close()`. Requires msw. `onUnhandledRequest` defines what happens to requests to other origins, as in msw: `'bypass'`
   * (default), `'warn'`, `'error'` or a function. Other code that calls undici is not intercepted; use `serve()`.
   * @throws MockServerError with code `invalid_option`; `origin_in_use`, if another mock listens at the same base URL;
   * `strategy_in_use`, if this or another mock listens with another `onUnhandledRequest`; `msw_in_use`, if another server of msw
   * listens in this process; `rule_not_possible`, if msw cannot do what a rule asks; `msw_missing`, if msw is not
   * installed or cannot be loaded; `mock_closed`, if the mock has a state file and was closed.
   * @example mock.listen({ onUnhandledRequest: 'error' })
   */
  listen(options: InterceptionOptions = {}): void {
    this.#reopen();
    const mocks = this.#stopListening === undefined ? [this.#mock, ...this.#mock.spaces.values()] : [];
    for (const rule of mocks.flatMap(({ state }) => state.rules)) checkAdapterSupport(rule, ['msw']);
    this.#stopListening = intercept(this.baseUrl, this.#handleRequest, options);
    this.#closeMsw ??= this.#mock.adapters.open('msw');
  }

  /**
   * Serves the mock over HTTP, by default on a free port of 127.0.0.1.
   * @throws MockServerError with code `invalid_option`; `port_in_use`; `state_unusable`, if the state cannot be written;
   * `mock_closed`, if the mock has a state file and was closed.
   * @example const { url, adminUrl } = await mock.serve({ port: 4010 })
   */
  async serve(options: ServeOptions = {}): Promise<RunningServer> {
    this.#reopen();
    const forget = () => void this.#servers.delete(server);
    const [mock, stateFile, handleRequest] = [this.#mock, this.#stateFile, this.#handleRequest];
    const server = startServer(options, { mock, stateFile, handleRequest, onClose: forget });
    this.#servers.add(server);
    server.catch(forget);
    return await server;
  }

  /**
   * Opens a space: an account and a key with separate counters, clock, switches, rules and journal. The API key of
   * a request selects its space, so parallel tests can share a server and its connections.
   * @throws MockServerError with code `space_exists`, if the name or the key of the space is in use; `invalid_option`.
   * @example await using space = mock.space({ plan: 'developer' })
   */
  space(options: SpaceOptions = {}): Space {
    return openSpace(this.#mock, options);
  }

  #reopen(): void {
    const { lifetime } = this.#mock;
    if (lifetime.isClosed && this.#stateFile !== undefined) {
      const text = 'The mock was closed and has released its state file; create another one with createMockServer().';
      throw new MockServerError(text, { code: 'mock_closed', status: 410 });
    }
    reopenMock(this.#mock);
  }

  /**
   * Stops all interception immediately, closes all spaces and servers of the mock, and ends all waits for requests and of
   * rules. Without the option `state`, `listen()`, `serve()`, `reset()` and reading `handlers` open the mock again; requests
   * do not. Between tests, call `reset()` instead.
   */
  async close(): Promise<void> {
    // Before the first `await`, so that another mock can listen at the same address right after the call.
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#closeMsw?.();
    this.#closeMsw = undefined;
    for (const mock of [...this.#mock.spaces.values(), this.#mock]) closeMock(mock);
    const started = await Promise.allSettled(this.#servers);
    const ended = await Promise.allSettled(
      started.map(async (server) => server.status === 'fulfilled' && server.value.close()),
    );
    this.#closedState ??= this.#stateFile?.close(); // also if a server could not write the state: it releases the file
    await this.#closedState;
    for (const server of ended) if (server.status === 'rejected') throw server.reason;
  }

  /** Calls `close()` at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A mock that listens on a port. */
export interface RunningServer extends ListeningServer {
  /** URL of the control panel. The fragment contains the admin token; browsers do not send fragments. */
  readonly adminUrl: string;
  /** Bearer token of the admin API. */
  readonly adminToken: string;
}

const serveOptions = strictObject({
  ...listenOptions.shape,
  /**
   * The admin token, if other processes must know it in advance: 16 to 128 letters, digits, `_` and `-`.
   * @default a random token
   */
  adminToken: z.custom<string>().optional(), // its error does not show it
});

/** Options of `mock.serve()`. All are optional. */
export interface ServeOptions extends ListenOptions, ValueOf<typeof serveOptions> {}

interface Served {
  readonly mock: MockState;
  readonly stateFile: StateFile | undefined;
  readonly handleRequest: HandleRequest;
  readonly onClose: () => void;
}

/** Serves a mock with its pages and its admin API. */
async function startServer(
  options: ServeOptions,
  { mock, stateFile, handleRequest, onClose }: Served,
): Promise<RunningServer> {
  const checked = checkedInput(serveOptions, options, { what: 'an option of serve()' });
  const { adminToken = randomBytes(32).toString('base64url'), ...address } = checked;
  checkToken(adminToken);
  const { adapters } = mock;
  const { host, allowRemote, tls } = address;
  const names = { host, allowRemote, scheme: tls === undefined ? 'http' : 'https' } as const;
  const load = () => loadAdminServer(mock, adminToken);
  const handleOwnPages = createGate({ token: adminToken, load, ...names });
  await stateFile?.write(); // a file that cannot be written is reported before the port is open
  const server = await listenHttp(address, { handleRequest, handleOwnPages });
  const closeAdapter = adapters.open('socket');
  const end = async () => {
    await server.close();
    closeAdapter();
    onClose();
    await stateFile?.write();
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= end();
    return closed;
  };
  const adminUrl = `${server.url}${ADMIN_ROOT}/#token=${adminToken}`;
  return { ...server, adminUrl, adminToken, close, [Symbol.asyncDispose]: close };
}

async function loadAdminServer(mock: MockState, token: string) {
  const [{ createAdminServer }, { adminRoutes: routes }] = await Promise.all([
    import('./admin-server.ts'),
    import('./routes.ts'),
  ]);
  return createAdminServer({ mock, token, routes });
}

function checkToken(token: unknown): void {
  if (typeof token === 'string' && /^[\w-]{16,128}$/.test(token)) return;
  // Not shown, because it may differ from the right token by one character.
  throw invalidOption('adminToken', '…', '16 to 128 letters, digits, _ and -');
}
