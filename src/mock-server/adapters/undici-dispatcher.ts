import { stringify } from 'node:querystring';
import type { Dispatcher } from 'undici';
import type { HandleRequest } from '../handle-request.ts';
import { headersWithCookies, type MockRequest, type MockResponse, piecesOf } from '../http/mock-message.ts';
import { load } from './load-packages.ts';
import { ResponseSink } from './undici-sink.ts';
import { brokenConnection } from './web-messages.ts';

/** Finds the mock of an origin; `undefined` for any other origin. */
type FindHandler = (origin: string) => HandleRequest | undefined;

/** Sends the requests for a mock to it, and all others to `next`. msw does not intercept undici. */
export function createDispatcher(findHandler: FindHandler, next: Dispatcher): Dispatcher {
  return createInterceptingDispatcher((options) => {
    const handleRequest = findHandler(options.origin === undefined ? '' : new URL(options.origin).origin);
    if (handleRequest === undefined) return undefined;
    return async (sink) => {
      const request = await readDispatch(options);
      await deliver(await handleRequest(request, { adapter: 'undici', getSignal: () => sink.signal }), sink);
    };
  }, next);
}

/** Sends the response to `sink`, or the request to the next dispatcher. */
type Respond = (sink: ResponseSink, forward: (options: Dispatcher.DispatchOptions) => void) => Promise<void>;

/** A dispatcher that handles the requests for which `findResponder` returns a function, and sends all others to `next`. */
export function createInterceptingDispatcher(
  findResponder: (options: Dispatcher.DispatchOptions) => Respond | undefined,
  next: Dispatcher,
): Dispatcher {
  const { Dispatcher } = load('undici');
  return new (class InterceptingDispatcher extends Dispatcher {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const respond = findResponder(options);
      if (respond === undefined) return next.dispatch(options, handler);
      const sink = new ResponseSink(handler, options);
      if (!sink.begin()) return true;
      const forward = (passed: Dispatcher.DispatchOptions) => sink.leave() && next.dispatch(passed, handler);
      respond(sink, forward).catch((error: unknown) =>
        sink.fail(error instanceof Error ? error : new Error(String(error))),
      );
      return true;
    }

    /** Does nothing: the caller closes the dispatcher that sends the other requests. */
    override async close(): Promise<void> {}
    override async destroy(): Promise<void> {}
  })();
}

async function deliver(response: MockResponse | undefined, sink: ResponseSink): Promise<void> {
  if (response === undefined) return sink.fail(brokenConnection('close'));
  const { status, body, delivery } = response;
  if (delivery?.sendsHead === false) return sink.fail(brokenConnection(delivery.ending));
  const whole = body.length > 0 ? [Buffer.from(body)] : [];
  const pieces = delivery === undefined ? whole : piecesOf(response, delivery, sink.signal);
  await sink.send({ status, headers: headersWithCookies(response), pieces, ending: delivery?.ending });
}

/** Converts a request of undici, and reads its body. */
export async function readDispatch(options: Dispatcher.DispatchOptions): Promise<MockRequest> {
  const { method, path, query, headers, body } = options;
  const search = query === undefined ? '' : stringify(query);
  const target = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
  const head = { method: method.toUpperCase(), target, headers: joined(pairsOf(headers)) };
  return body === undefined || body === null ? head : { ...head, body: await bytesOf(body) };
}

type Pair = readonly [name: string, value: unknown];

/** Headers are an object, a list of pairs, or a flat list of names and values. */
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

/** Streams are read here. `Response` reads all other types of a body. */
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
