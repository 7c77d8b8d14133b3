import { Readable } from 'node:stream';
import type { RequestHandler } from 'msw';
import type { Dispatcher } from 'undici';
import { headersWithCookies, splitHeaders } from '../http/mock-message.ts';
import { invalidOption } from '../mock-server-error.ts';
import { isPassthrough, load } from './load-packages.ts';
import {
  applyUnhandledStrategy,
  createEventReporter,
  isDecidedByMsw,
  isStrategyCheck,
  type MswEvents,
  markGlobalFetch,
} from './msw-strategy.ts';
import { createInterceptingDispatcher, isAsyncIterable, readDispatch } from './undici-dispatcher.ts';
import type { ResponseSink } from './undici-sink.ts';
import { brokenConnection, toRequest } from './web-messages.ts';

/** The part of msw's `SetupServer` that `interceptUndici` needs. */
export interface MswServer {
  /** Returns the current handlers. */
  listHandlers(): readonly unknown[];
  /** Emitter of the life-cycle events. */
  readonly events?: object;
}

/** An active interception of undici. */
export interface InterceptedUndici extends Disposable {
  /** Ends the interception and restores the previous global dispatcher. */
  close(): void;
}

/**
 * Extends an msw server to requests of undici, which msw does not intercept: `request`, `stream`, undici's `fetch`, and
 * everything else that uses the global dispatcher. Call it in addition to `server.listen()`. Later changes of the
 * handlers also apply. If no handler responds, the server's `onUnhandledRequest` (msw 3: `onUnhandledFrame`) applies. A
 * request that it allows is sent, as with `passthrough()` and `bypass()`. If a handler throws, the request fails with
 * that error. The server emits its life-cycle events, except `response:bypass`. Requires msw 2.15 or 3.
 * @throws MockServerError with code `invalid_option`, if `server` is not an msw server; `msw_missing`, if msw is not
 * installed.
 * @example using interception = interceptUndici(server)
 */
export function interceptUndici(server: MswServer): InterceptedUndici {
  if (typeof server?.listHandlers !== 'function') {
    throw invalidOption('server', server, 'the result of setupServer() of msw/node; for a mock, call mock.listen()');
  }
  const { getGlobalDispatcher, setGlobalDispatcher } = load('undici');
  load('msw');
  const previous = getGlobalDispatcher();
  let isStopped = false;
  const dispatcher = createMswDispatcher(server, previous, {
    handlers: () => server.listHandlers(),
    isActive: () => !isStopped,
  });
  setGlobalDispatcher(dispatcher);
  const restoreFetch = markGlobalFetch();
  const close = () => {
    restoreFetch();
    // A dispatcher that was set meanwhile stays in use. This one then forwards all requests.
    if (getGlobalDispatcher() === dispatcher) setGlobalDispatcher(previous);
    else isStopped = true;
  };
  return { close, [Symbol.dispose]: close };
}

interface MswDispatcherOptions {
  readonly handlers: () => readonly unknown[];
  /** Whether msw handles requests; otherwise all are forwarded. */
  readonly isActive: () => boolean;
}

/** Calls msw's handlers for each request, and sends the requests that msw allows to `next`. */
export function createMswDispatcher(
  { events }: Pick<MswServer, 'events'>,
  next: Dispatcher,
  { handlers, isActive }: MswDispatcherOptions,
): Dispatcher {
  return createInterceptingDispatcher((options) => {
    if (isStrategyCheck()) return refuseStrategyCheck;
    if (!isActive() || !isForMsw(options)) return undefined;
    return (sink, forward) => respondByMsw(options, { sink, forward, events, handlers: handlers() });
  }, next);
}

/** msw would send the request: its strategy allows it. */
async function refuseStrategyCheck(sink: ResponseSink): Promise<void> {
  sink.fail(new Error('This request was only a check of the strategy of msw.'));
}

function isForMsw({ method, origin, upgrade }: Dispatcher.DispatchOptions): boolean {
  return !isDecidedByMsw() && origin !== undefined && !upgrade && method !== 'CONNECT';
}

interface MswExchange {
  readonly sink: ResponseSink;
  readonly forward: (options: Dispatcher.DispatchOptions) => void;
  readonly events: object | undefined;
  readonly handlers: readonly unknown[];
}

async function respondByMsw(
  options: Dispatcher.DispatchOptions,
  { sink, forward, events, handlers }: MswExchange,
): Promise<void> {
  const [asked, passed] = forTwo(options);
  const neutral = toRequest(await readDispatch(asked), new URL(options.origin ?? '').origin);
  const request = new Request(neutral, { signal: sink.signal });
  const report = createEventReporter(events as MswEvents | undefined, request);
  if (request.headers.get('accept')?.includes('msw/passthrough') === true) return forward(passed);
  const response = await load('msw')
    .getResponse(handlers.filter(isRequestHandler), request.clone())
    .catch((error: unknown) => {
      report('request:start');
      report('unhandledException', { error });
      throw error;
    });
  if (response === undefined) {
    await applyUnhandledStrategy(request); // it reports these events itself
    return forward(passed);
  }
  report('request:start');
  report('request:match');
  if (isPassthrough(response)) {
    report('request:end');
    return forward(passed);
  }
  if (response.type === 'error') {
    sink.fail(brokenConnection('close'));
  } else {
    report('response:mocked', { response });
    const headers = headersWithCookies(splitHeaders(response.headers));
    await sink.send({ status: response.status, headers, pieces: response.body ?? [] });
  }
  report('request:end');
}

/** Two copies of a body that can be read only once: for msw, and for the next dispatcher. */
function forTwo(options: Dispatcher.DispatchOptions): [Dispatcher.DispatchOptions, Dispatcher.DispatchOptions] {
  // undici accepts a generator, as its fetch sends it, but its types do not list it.
  const body: unknown = options.body;
  if (!isAsyncIterable(body)) return [options, options];
  const [mine, other] = Readable.toWeb(Readable.from(body)).tee();
  return [
    { ...options, body: Readable.fromWeb(mine) },
    { ...options, body: Readable.fromWeb(other) },
  ];
}

/** Handlers of WebSockets are in the same list. Only request handlers have a resolver. */
function isRequestHandler(handler: unknown): handler is RequestHandler {
  return typeof handler === 'object' && handler !== null && 'resolver' in handler;
}
