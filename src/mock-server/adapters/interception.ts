import type { Dispatcher } from 'undici';
import type { HandleRequest } from '../handle-request.ts';
import { MockServerError } from '../mock-server-error.ts';
import { loadMswNode, loadUndici } from './load-packages.ts';
import { everythingHandler } from './msw-handlers.ts';
import { createDispatcher } from './undici-dispatcher.ts';

/**
 * The mocks that intercept this process, by origin. There is one list for all of them, because two interceptors of
 * msw in one process get in each other's way: the second takes all requests, and closing the first ends both.
 */
const listening = new Map<string, HandleRequest>();
let stop: (() => void) | undefined;

/** Sends what this process requests of `origin` to the mock; gives a function that ends it. Needs msw. */
export function intercept(origin: string, handleRequest: HandleRequest): () => void {
  if (listening.has(origin)) {
    throw new MockServerError(`Another mock listens at ${origin}; give this one a baseUrl of its own.`, {
      code: 'origin_in_use',
    });
  }
  stop ??= interceptProcess();
  listening.set(origin, handleRequest);
  return () => {
    if (listening.get(origin) !== handleRequest) return;
    listening.delete(origin);
    if (listening.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

const findHandler = (origin: string) => listening.get(origin);

/** Global fetch and node:http by msw; undici, which msw does not see, by its global dispatcher. */
function interceptProcess(): () => void {
  const server = loadMswNode().setupServer(...everythingHandler(/^https?:/, findHandler));
  const { getGlobalDispatcher, setGlobalDispatcher } = loadUndici();
  const previous: Dispatcher = getGlobalDispatcher();
  const dispatcher = createDispatcher(findHandler, previous);
  server.listen({ onUnhandledRequest: 'bypass' });
  setGlobalDispatcher(dispatcher);
  return () => {
    server.close();
    // If somebody has set another one since, theirs stays: ours passes everything on.
    if (getGlobalDispatcher() === dispatcher) setGlobalDispatcher(previous);
  };
}
