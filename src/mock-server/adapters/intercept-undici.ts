import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { RequestHandler } from 'msw';
import type { Dispatcher } from 'undici';
import { brokenConnection } from './broken-connection.ts';
import { isPassthrough, loadMsw, loadUndici } from './load-packages.ts';
import { isAsyncIterable, readDispatch } from './undici-request.ts';
import { type ResponseSink, responseSink } from './undici-sink.ts';
import { toRequest } from './web-messages.ts';

/** What `setupServer(...)` of msw gives, as far as it is needed here. */
export interface MswServer {
  listHandlers(): readonly unknown[];
}

/** undici, intercepted; `close()` puts back the dispatcher that was there before. */
export interface InterceptedUndici extends Disposable {
  close(): void;
}

/**
 * Lets undici (its `request`, `fetch`, `stream` and so on, by the global dispatcher) ask the handlers of any msw server,
 * which msw itself does not: `interceptUndici(server)` beside `server.listen()`. Handlers added or reset later count.
 * What no handler answers, and what is `passthrough()` or `bypass()`, goes on its way. An error that a handler throws
 * fails the request. msw's life-cycle events tell nothing of these requests. Needs msw 2.15 or 3.
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
    // If somebody has set another one since, theirs stays: ours passes everything on.
    if (getGlobalDispatcher() === dispatcher) setGlobalDispatcher(previous);
    else dispatcher.stop();
  };
  return { close, [Symbol.dispose]: close };
}

/** Runs in whatever a call of global `fetch` does. */
const globalFetch = new AsyncLocalStorage<true>();

/**
 * Node's own `fetch` goes through undici's global dispatcher too. msw has asked the handlers about such a call already;
 * asked again, `once` handlers and those that count would answer differently.
 */
function markGlobalFetch(): () => void {
  const previous = globalThis.fetch;
  const marked: typeof fetch = (...call) => globalFetch.run(true, () => previous(...call));
  globalThis.fetch = marked;
  return () => {
    if (globalThis.fetch === marked) globalThis.fetch = previous;
  };
}

function createMswDispatcher(server: MswServer, next: Dispatcher): Dispatcher & { stop(): void } {
  const { Dispatcher, errors } = loadUndici();
  return new (class MswDispatcher extends Dispatcher {
    #isStopped = false;

    stop(): void {
      this.#isStopped = true;
    }

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if (this.#isStopped || !isForMsw(options)) return next.dispatch(options, handler);
      const sink = responseSink(handler, () => new errors.RequestAbortedError());
      if (!sink.begin()) return true;
      const passOn = (passed: Dispatcher.DispatchOptions) => void next.dispatch(passed, handler);
      answer(server, options, { sink, passOn }).catch((error: unknown) =>
        sink.fail(error instanceof Error ? error : new Error(String(error))),
      );
      return true;
    }

    /** Nothing of its own to close; what requests are passed on to belongs to somebody else. */
    override async close(): Promise<void> {}
    override async destroy(): Promise<void> {}
  })();
}

function isForMsw({ method, origin, upgrade }: Dispatcher.DispatchOptions): boolean {
  return globalFetch.getStore() === undefined && origin !== undefined && !upgrade && method !== 'CONNECT';
}

interface DispatchOutcome {
  readonly sink: ResponseSink;
  readonly passOn: (options: Dispatcher.DispatchOptions) => void;
}

async function answer(
  server: MswServer,
  options: Dispatcher.DispatchOptions,
  { sink, passOn }: DispatchOutcome,
): Promise<void> {
  const [asked, passed] = forTwo(options);
  const neutral = toRequest(await readDispatch(asked), new URL(options.origin ?? '').origin);
  const request = new Request(neutral, { signal: sink.gone });
  const isBypassed = request.headers.get('accept')?.includes('msw/passthrough') === true;
  const handlers = server.listHandlers().filter(isRequestHandler);
  const response = isBypassed ? undefined : await loadMsw().getResponse(handlers, request);
  if (response === undefined || isPassthrough(response)) {
    if (sink.leave()) passOn(passed);
    return;
  }
  if (response.type === 'error') sink.fail(brokenConnection('close'));
  else await sink.stream({ status: response.status, headers: headersOf(response) }, response.body ?? []);
}

/** A body that can be read once is read here, and once more if the request is passed on. */
function forTwo(options: Dispatcher.DispatchOptions): [Dispatcher.DispatchOptions, Dispatcher.DispatchOptions] {
  // A generator, as from undici's fetch, is among what undici takes but not among its types.
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
