import { stringify } from 'node:querystring';
import type { Dispatcher } from 'undici';
import type { HandleRequest } from '../handle-request.ts';
import type { MockRequest, MockResponse } from '../http/mock-message.ts';
import { loadUndici } from './load-packages.ts';
import { type ResponseSink, responseSink } from './undici-sink.ts';
import { brokenConnection } from './web-messages.ts';

/** Finds the mock that answers an origin; `undefined` for any other origin. */
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

    /** Owns nothing to close: the dispatcher that receives the other requests belongs to the caller. */
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

/** A request as undici dispatches it, as a neutral one; its body is read. */
export async function readDispatch(options: Dispatcher.DispatchOptions): Promise<MockRequest> {
  const { method, path, query, headers, body } = options;
  const search = query === undefined ? '' : stringify(query);
  const target = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
  const head = { method: method.toUpperCase(), target, headers: joined(pairsOf(headers)) };
  return body === undefined || body === null ? head : { ...head, body: await bytesOf(body) };
}

type Pair = readonly [name: string, value: unknown];

/** Headers come as an object, as pairs, or as one flat list of names and values. */
function pairsOf(headers: Dispatcher.DispatchOptions['headers']): readonly Pair[] {
  if (headers === undefined || headers === null) return [];
  if (isIterable(headers)) {
    const items: unknown[] = Array.from<unknown>(headers);
    return items.every(isPair) ? items : flatPairs(items);
  }
  return Object.entries(headers);
}

function isPair(item: unknown): item is Pair {
  return Array.isArray(item) && typeof item[0] === 'string';
}

function flatPairs(items: readonly unknown[]): readonly Pair[] {
  return items.flatMap((name, index) => (index % 2 === 0 ? [[String(name), items[index + 1]] as const] : []));
}

function joined(pairs: readonly Pair[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? text : `${headers[key]}, ${text}`;
  }
  return headers;
}

/** Streams are read here; Response knows how to read everything else that can be a body, text or not. */
async function bytesOf(body: unknown): Promise<Uint8Array> {
  if (!isAsyncIterable(body)) return new Uint8Array(await new Response(body as string).arrayBuffer());
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
