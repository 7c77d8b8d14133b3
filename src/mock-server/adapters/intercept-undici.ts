import { Readable } from 'node:stream';
import type { RequestHandler } from 'msw';
import type { Dispatcher } from 'undici';
import { isPassthrough, loadMsw, loadUndici } from './load-packages.ts';
import {
  applyUnhandledStrategy,
  createEventReporter,
  isDecidedByMsw,
  isStrategyCheck,
  type MswEvents,
  markGlobalFetch,
} from './msw-strategy.ts';
import { isAsyncIterable, readDispatch } from './undici-dispatcher.ts';
import { type ResponseSink, responseSink } from './undici-sink.ts';
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
 * everything else that uses the global dispatcher. Call it in addition to `server.listen()`. Later changes of the handlers also apply. If no handler responds, the server's `onUnhandledRequest` (msw 3: `onUnhandledFrame`) applies. A request that it allows is sent, as with `passthrough()` and `bypass()`. If a handler throws, the request fails with
 * that error. The server emits its life-cycle events, except `response:bypass`. Requires msw 2.15 or 3.
 * @throws MockServerError with code `msw_missing`, if msw is not installed.
 * @example using interception = interceptUndici(server)
 */
export function interceptUndici(server: MswServer): InterceptedUndici {
  const { getGlobalDispatcher, setGlobalDispatcher } = loadUndici();
  loadMsw();
  const previous = getGlobalDispatcher();
  const dispatcher = createMswDispatcher(server, previous);
  setGlobalDispatcher(dispatcher);
  const putBackFetch = markGlobalFetch();
  const close = () => {
    putBackFetch();
    // A dispatcher that was set meanwhile stays; this one then forwards everything.
    if (getGlobalDispatcher() === dispatcher) setGlobalDispatcher(previous);
    else dispatcher.stop();
  };
  return { close, [Symbol.dispose]: close };
}

interface MswDispatcherOptions {
  /** Default: those of the server. */
  readonly handlers?: () => readonly unknown[];
  /** Whether msw is asked at all. Default: always. */
  readonly isActive?: () => boolean;
}

/** Asks msw about every request, and passes on to `next` what msw lets through. */
export function createMswDispatcher(
  server: MswServer,
  next: Dispatcher,
  { handlers = () => server.listHandlers(), isActive = () => true }: MswDispatcherOptions = {},
): Dispatcher & { stop(): void } {
  const { Dispatcher, errors } = loadUndici();
  return new (class MswDispatcher extends Dispatcher {
    #isStopped = false;

    stop(): void {
      this.#isStopped = true;
    }

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if (isStrategyCheck()) return refuseStrategyCheck(handler);
      if (this.#isStopped || !isActive() || !isForMsw(options)) return next.dispatch(options, handler);
      const sink = responseSink(handler, () => new errors.RequestAbortedError());
      if (!sink.begin()) return true;
      const passOn = (passed: Dispatcher.DispatchOptions) => void next.dispatch(passed, handler);
      answer(options, { sink, passOn, events: server.events, handlers: handlers() }).catch((error: unknown) =>
        sink.fail(error instanceof Error ? error : new Error(String(error))),
      );
      return true;
    }

    /** Owns nothing to close: the dispatcher that receives the other requests belongs to the caller. */
    override async close(): Promise<void> {}
    override async destroy(): Promise<void> {}
  })();
}

function isForMsw({ method, origin, upgrade }: Dispatcher.DispatchOptions): boolean {
  return !isDecidedByMsw() && origin !== undefined && !upgrade && method !== 'CONNECT';
}

interface DispatchOutcome {
  readonly sink: ResponseSink;
  readonly passOn: (options: Dispatcher.DispatchOptions) => void;
  readonly events: object | undefined;
  readonly handlers: readonly unknown[];
}

async function answer(
  options: Dispatcher.DispatchOptions,
  { sink, passOn, events, handlers }: DispatchOutcome,
): Promise<void> {
  const [asked, passed] = forTwo(options);
  const neutral = toRequest(await readDispatch(asked), new URL(options.origin ?? '').origin);
  const request = new Request(neutral, { signal: sink.gone });
  const report = createEventReporter(events as MswEvents | undefined, request);
  if (request.headers.get('accept')?.includes('msw/passthrough') === true) return passedOn(sink, () => passOn(passed));
  const response = await loadMsw().getResponse(handlers.filter(isRequestHandler), request.clone());
  if (response === undefined) {
    // The strategy reports these events itself.
    await applyUnhandledStrategy(request);
    return passedOn(sink, () => passOn(passed));
  }
  report('request:start');
  report('request:match');
  if (isPassthrough(response)) {
    report('request:end');
    return passedOn(sink, () => passOn(passed));
  }
  if (response.type === 'error') {
    sink.fail(brokenConnection('close'));
  } else {
    report('response:mocked', { response });
    await sink.stream({ status: response.status, headers: headersOf(response) }, response.body ?? []);
  }
  report('request:end');
}

function passedOn(sink: ResponseSink, send: () => void): void {
  if (sink.leave()) send();
}

/** msw would send the request: its strategy allows it. */
function refuseStrategyCheck(handler: Dispatcher.DispatchHandler): boolean {
  const refusal = () => new Error('This request was only a check of the strategy of msw.');
  const sink = responseSink(handler, refusal);
  if (sink.begin()) sink.fail(refusal());
  return true;
}

/** A body that can be read once is read here, and once more if the request is passed on. */
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

/** Those for WebSockets stand in the same list; a resolver is what only the others have. */
function isRequestHandler(handler: unknown): handler is RequestHandler {
  return typeof handler === 'object' && handler !== null && 'resolver' in handler;
}

function headersOf({ headers }: Response): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) };
}
