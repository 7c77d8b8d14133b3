import type { Dispatcher } from 'undici';
import type { HandleRequest } from '../handle-request.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { brokenConnection } from './broken-connection.ts';
import { loadUndici } from './load-packages.ts';
import { readDispatch } from './undici-request.ts';
import { type ResponseSink, responseSink } from './undici-sink.ts';

/** Finds the mock that answers an origin; `undefined` for an origin that is nobody's. */
export type FindHandler = (origin: string) => HandleRequest | undefined;

/** Answers what is sent to a mock, and passes every other origin on to `next`. msw does not see undici; this does. */
export function createDispatcher(findHandler: FindHandler, next: Dispatcher): Dispatcher {
  const { Dispatcher, errors } = loadUndici();
  return new (class MockDispatcher extends Dispatcher {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const handleRequest = findHandler(originOf(options));
      if (handleRequest === undefined) return next.dispatch(options, handler);
      const sink = responseSink(handler, () => new errors.RequestAbortedError());
      if (!sink.begin()) return true;
      readDispatch(options)
        .then((request) => handleRequest(request, { adapter: 'undici', gone: () => sink.gone }))
        .then((answer) => deliver(answer, sink))
        .catch((error: unknown) => sink.fail(error instanceof Error ? error : new Error(String(error))));
      return true;
    }

    /** Nothing of its own to close; what requests are passed on to belongs to somebody else. */
    override async close(): Promise<void> {}
    override async destroy(): Promise<void> {}
  })();
}

function originOf({ origin }: Dispatcher.DispatchOptions): string {
  return origin === undefined ? '' : new URL(origin).origin;
}

async function deliver(answer: MockResponse | undefined, sink: ResponseSink): Promise<void> {
  const ending = answer?.delivery?.ending ?? 'whole';
  if (answer === undefined) sink.fail(brokenConnection('close'));
  else if (answer.delivery?.sendsHead === false) sink.fail(brokenConnection(ending));
  else await sink.send(answer);
}
