import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { RequestHandler } from 'msw';
import type { setupServer } from 'msw/node';
import * as z from 'zod';
import { codeOf } from '../../foreign-values.ts';
import { processState } from '../../process-state.ts';
import type { HandleRequest } from '../http/message.ts';
import { checkedInput, expected, strictObject, type ValueOf } from '../input/checked-input.ts';
import { MockServerError, thrownText } from '../input/mock-server-error.ts';
import { fromRequest, toResponse } from './fetch.ts';

/** The mocks that intercept this process, by origin. */
interface InterceptedMocks {
  readonly mocks: Map<string, HandleRequest>;
  interception: Interception | undefined;
}

/**
 * One list for all mocks of the process, because two interceptors of msw in one process conflict: the second receives
 * all requests, and closing the first ends both.
 */
function listeningMocks(): InterceptedMocks {
  return processState<InterceptedMocks>('listening-mocks.1', () => ({ mocks: new Map(), interception: undefined }));
}

interface Interception {
  readonly onUnhandledRequest: OnUnhandledRequest;
  /** After a mock was added or removed. */
  update(): void;
  stop(): void;
}

/** Strategy for requests that no mock handles, as in msw's `setupServer().listen()`. */
export type OnUnhandledRequest =
  | 'bypass'
  | 'warn'
  | 'error'
  | ((request: Request, print: { warning(): void; error(): void }) => void);

const optionsShape = strictObject({
  /**
   * Strategy for requests that no mock handles.
   * @default 'bypass'
   */
  onUnhandledRequest: expected(
    "'bypass', 'warn', 'error' or a function",
    z.union([
      z.enum(['bypass', 'warn', 'error']),
      z.custom<OnUnhandledRequest>((value) => typeof value === 'function'),
    ]),
  ).optional(),
});

/** Options of `mock.listen()`. All are optional. */
export interface InterceptionOptions extends ValueOf<typeof optionsShape> {}

/**
 * Sends the requests of this process to `origin` to the mock. Returns a function that ends this. Requires msw. Throws for an
 * unknown option, and for another strategy than that of the mocks that listen: it would have no effect.
 */
export function intercept(origin: string, handleRequest: HandleRequest, options: InterceptionOptions): () => void {
  const listening = listeningMocks();
  const { mocks, interception } = listening;
  const known = mocks.has(origin) ? interception?.onUnhandledRequest : undefined;
  const { onUnhandledRequest = known ?? 'bypass' } = checkedInput(optionsShape, options, {
    what: 'an option of listen()',
  });
  if (known !== undefined && mocks.get(origin) !== handleRequest) {
    throw new MockServerError(`Another mock listens at ${origin}; create this one with another baseUrl.`, {
      code: 'origin_in_use',
    });
  }
  if (interception !== undefined && interception.onUnhandledRequest !== onUnhandledRequest) {
    throw new MockServerError(
      'A mock in this process listens with another onUnhandledRequest; pass the same value to each listen(), or close() it first.',
      { code: 'strategy_in_use' },
    );
  }
  listening.interception ??= interceptProcess(mocks, onUnhandledRequest);
  mocks.set(origin, handleRequest);
  listening.interception.update();
  return () => {
    if (mocks.get(origin) !== handleRequest) return;
    mocks.delete(origin);
    listening.interception?.update();
    if (mocks.size > 0) return;
    listening.interception?.stop();
    listening.interception = undefined;
  };
}

/** In msw 3, the strategy is named `onUnhandledFrame`, and its function receives the request in another form. */
function listenWith(server: ReturnType<typeof setupServer>, onUnhandledRequest: OnUnhandledRequest): void {
  if (mswMajorVersion() < 3) return server.listen({ onUnhandledRequest });
  const onUnhandledFrame =
    typeof onUnhandledRequest === 'function'
      ? ({ frame, defaults }: UnhandledFrame) =>
          onUnhandledRequest(frame.data.request, { warning: defaults.warn, error: defaults.error })
      : onUnhandledRequest;
  server.listen({ onUnhandledFrame } as object);
}

interface UnhandledFrame {
  readonly frame: { readonly data: { readonly request: Request } };
  readonly defaults: { warn(): void; error(): void };
}

/** msw intercepts global `fetch` and node:http. */
function interceptProcess(
  mocks: ReadonlyMap<string, HandleRequest>,
  onUnhandledRequest: OnUnhandledRequest,
): Interception {
  if (isMswInUse()) throw mswInUse(); // before anything else: a second server takes the requests of the first
  const server = load('msw/node').setupServer();
  listenWith(server, onUnhandledRequest);
  const applied = globalInterceptors();
  // msw replaces members of node:http, which `import { get } from 'node:http'` does not see without this.
  syncBuiltinESMExports();
  return {
    onUnhandledRequest,
    update() {
      const handlers = Array.from(mocks, ([origin, handleRequest]) => createMswHandler(origin, handleRequest));
      server.resetHandlers(...handlers);
    },
    stop() {
      server.close();
      // msw leaves its interceptors applied if another server was opened after this one and closed before it.
      for (const interceptor of globalInterceptors()) if (applied.includes(interceptor)) interceptor.dispose();
      syncBuiltinESMExports();
    },
  };
}

/**
 * Whether interceptors of @mswjs/interceptors, which msw and nock use, are applied. With msw 2 and nock, the global object
 * then has one under the symbol; with msw 3, it has a map of all.
 */
function isMswInUse(): boolean {
  const ofMsw3: ReadonlyMap<symbol, { readonly readyState: string }> =
    Reflect.get(globalThis, '__MSW_INTERCEPTORS_REGISTRY') ?? new Map();
  const isActive = Array.from(ofMsw3.values()).some(({ readyState }) => readyState === 'ACTIVE');
  return isActive || Symbol.for('fetch-interceptor') in globalThis;
}

interface Interceptor {
  dispose(): void;
}

/** The interceptors of msw 2 that are applied to this process. */
function globalInterceptors(): readonly Interceptor[] {
  const values = Object.getOwnPropertySymbols(globalThis).map((symbol) => Reflect.get(globalThis, symbol));
  return values.filter((value) => value?.readyState === 'APPLIED' && typeof value.dispose === 'function');
}

function mswInUse(): MockServerError {
  return new MockServerError(
    'Another server of msw, or a library with its interceptors, such as nock, listens in this process. Close it first, use mock.serve(), or add the mock to it: setupServer(...mockHandlers(mock)), with mockHandlers of fxrates/msw.',
    { code: 'msw_in_use' },
  );
}

/** One mock as a request handler of msw. It matches the mock's origin alone, so that msw still reports other requests. */
export function createMswHandler(origin: string, handleRequest: HandleRequest): RequestHandler {
  const { http, HttpResponse } = load('msw');
  const resolve = async ({ request }: { readonly request: Request }) => {
    const { signal } = request;
    const response = await handleRequest(await fromRequest(request), { adapter: 'msw', getSignal: () => signal });
    return response.delivery?.sendsHead === false ? HttpResponse.error() : toResponse(response, signal);
  };
  // The mock finds the route itself, so that 404 and 405 are the same with every version of msw.
  return http.all(new RegExp(`^${origin.replace(/[.[\]]/g, '\\$&')}/`), resolve);
}

/** The packages that are loaded on first use, because most users of the mock do not need them. */
interface Packages {
  readonly msw: typeof import('msw');
  readonly 'msw/node': typeof import('msw/node');
  readonly 'msw/package.json': { readonly version: string };
}

/** In a program that is bundled as CommonJS, `import.meta.url` is `undefined`: msw is then that of the working directory. */
const require = createRequire(import.meta.url ?? join(process.cwd(), 'program.js'));

/** `require`, because getters and `listen()` cannot wait; Node 20.19 and later require ES modules too. */
function load<Name extends keyof Packages>(name: Name): Packages[Name] {
  if (NODE_VERSION < 22 && name !== 'msw/package.json') refuseMsw3();
  try {
    return require(name);
  } catch (cause) {
    const isMissing = codeOf(cause) === 'MODULE_NOT_FOUND';
    const text = isMissing ? `msw is not installed; run ${INSTALL_MSW}.` : notLoaded(cause);
    throw new MockServerError(text, { code: 'msw_missing', cause });
  }
}

/** In Jest, `require` loads no ES modules; its own message has many lines. */
function notLoaded(cause: unknown): string {
  const [reason] = thrownText(cause).split('\n');
  return `msw cannot be loaded (${reason}); for Jest, and the pools of vitest, see the section jest of docs/testing.md in the package fxrates, or use mock.serve().`;
}

function mswMajorVersion(): number {
  return Number.parseInt(load('msw/package.json').version, 10);
}

const NODE_VERSION = Number.parseInt(process.versions.node, 10);

/** msw 3 needs Node 22. */
const INSTALL_MSW = NODE_VERSION < 22 ? 'npm i -D msw@2' : 'npm i -D msw';

/** On Node 20, msw 3 loads, and fails at its first use with a TypeError. */
function refuseMsw3(): void {
  if (mswMajorVersion() < 3) return;
  const text = `msw 3 requires Node.js 22, and this is Node.js ${process.versions.node}; run ${INSTALL_MSW}.`;
  throw new MockServerError(text, { code: 'msw_missing' });
}
