import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, type Dispatcher, interceptors } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { type HeaderList, headerIn, headersOf } from '../../../src/client/transport/transport.ts';
import { headerList, undiciTransport } from '../../../src/client/transport/undici-transport.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { seededRandom } from '../../helpers/limits-random.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';
import { servedMock } from '../../helpers/served-mock.ts';
import { API_KEY, failure } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf } from '../../helpers/test-client.ts';

function headers(...raw: (string | string[])[]): HeaderList {
  return headerList(
    raw.map((value) =>
      Array.isArray(value) ? value.map((one) => Buffer.from(one, 'latin1')) : Buffer.from(value, 'latin1'),
    ),
  );
}

test.each([
  ['in any case', headers('Retry-After', '7', 'X', 'y'), '7'],
  ['as text instead of bytes', headerList(['Retry-After', '7']), '7'],
  ['beyond ASCII', headers('retry-after', 'Grüße'), 'Grüße'],
  ['on several lines', headers('retry-after', '30', 'x', 'y', 'Retry-After', '60'), '30, 60'],
  ['with a list of values, as interceptors make it', headers('x', 'y', 'retry-after', ['30', '60']), '30, 60'],
  ['without a value', headers('x', 'y', 'retry-after'), undefined],
  ['that is only a value', headers('x', 'retry-after', '__proto__', 'retry-after'), undefined],
  ['that is missing', headers('constructor', 'x', 'retry-afte', '7'), undefined],
])('reads a header %s', (_, list, value) => {
  expect(headerIn(list, 'retry-after')).toBe(value);
  expect(headersOf(list).get('retry-after')).toBe(value ?? null);
});

type Handler = Dispatcher.DispatchHandler;

/** A dispatcher that leaves the response to the test. */
class ManualDispatcher extends Agent {
  options: Dispatcher.DispatchOptions | undefined;
  handler: Handler = {};
  readonly aborts: (Error | undefined)[] = [];

  override dispatch(options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    this.options = options;
    this.handler = handler;
    return true;
  }

  open(): this {
    this.handler.onConnect?.((error?: Error) => void this.aborts.push(error));
    return this;
  }

  respond(status: number, ...raw: string[]): this {
    const bytes = raw.map((value) => Buffer.from(value));
    const wantsBody = this.handler.onHeaders?.(status, bytes, () => undefined, '');
    expect(wantsBody).toBe(true); // false would pause the connection
    return this;
  }
}

/** Sends a request through a dispatcher. */
function sendThrough<Through extends Dispatcher>(
  dispatcher: Through,
  { url = 'https://fx.test/a', maxBytes = 1000 } = {},
) {
  const cancellation = new Cancellation();
  const headers = { accept: 'application/json' };
  const response = undiciTransport(() => dispatcher)({ url, headers, cancellation, maxBytes });
  return { dispatcher, cancellation, response };
}

function send(request = {}) {
  return sendThrough(new ManualDispatcher(), request);
}

test.each([
  ['https://fx.test/a', 'https://fx.test', '/a'],
  ['http://127.0.0.1:8080/api/v1/latest?base=EUR', 'http://127.0.0.1:8080', '/api/v1/latest?base=EUR'],
  ['https://fx.test/a?next=https://other.test/b', 'https://fx.test', '/a?next=https://other.test/b'],
])('sends a GET for %s, without the timeouts of undici', (url, origin, path) => {
  const { dispatcher } = send({ url });

  expect(dispatcher.options).toEqual({
    origin,
    path,
    method: 'GET',
    headers: { accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' },
    headersTimeout: 0,
    bodyTimeout: 0,
    retryOptions: { statusCodes: [] },
  });
});

test('a dispatcher that never reports its connection can send a body beyond the maximum', async () => {
  const { dispatcher, response } = send({ maxBytes: 3 });

  dispatcher.respond(200).handler.onData?.(Buffer.from('abcd'));

  expect(await response).toMatchObject({ problem: expect.stringContaining('longer than 3 bytes') });
});

test.each([
  [new Error('enough'), new Error('enough')],
  ['enough', new Error('cancelled', { cause: 'enough' })],
])('a request cancelled with %j amid its response ends the connection with an Error', async (reason, error) => {
  const { dispatcher, cancellation, response } = send();
  dispatcher.open().respond(200);

  cancellation.cancel(reason);

  await expect(response).rejects.toBe(reason);
  expect(dispatcher.aborts).toEqual([error]);
});

test.each<[string, (handler: Handler) => void]>([
  ['complete', (handler) => handler.onComplete?.([])],
  ['failed', (handler) => handler.onError?.(new Error('lost'))],
])('cancelling a %s request does not end the connection, which another request may use', async (_, end) => {
  const { dispatcher, cancellation, response } = send();
  dispatcher.open().respond(200);
  end(dispatcher.handler);
  await response.catch(() => undefined);

  cancellation.cancel(new Error('late'));

  expect(dispatcher.aborts).toEqual([]);
});

test.each([
  ['an error', new Error('destroyed')],
  ['a value that is not an error', 'no'],
])('a dispatcher that throws %s rejects the request', async (_, thrown) => {
  class Throwing extends Agent {
    override dispatch(): boolean {
      throw thrown;
    }
  }

  expect(await errorOf(sendThrough(new Throwing()).response)).toBe(thrown);
});

/** Calls the methods of undici 8 alone. `rawHeaders` are absent with a MockAgent and HTTP/2. */
class NewerDispatcher extends Agent {
  readonly aborts: unknown[] = [];
  handler: Handler = {};
  readonly #rawHeaders: string[] | undefined;

  constructor(rawHeaders?: string[]) {
    super();
    this.#rawHeaders = rawHeaders;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Handler): boolean {
    this.handler = handler;
    return true;
  }

  get controller(): Dispatcher.DispatchController {
    const rawHeaders = this.#rawHeaders?.map((value) => Buffer.from(value));
    return { rawHeaders, abort: (reason: unknown) => this.aborts.push(reason) } as never;
  }

  respond(body: string): void {
    this.handler.onRequestStart?.(this.controller, undefined);
    this.handler.onResponseStart?.(this.controller, 200, { 'x-a': ['1', '2'], 'x-b': '3' }, 'OK');
    this.handler.onResponseData?.(this.controller, Buffer.from(body));
  }
}

function sendNewer(dispatcher: NewerDispatcher) {
  return sendThrough(dispatcher, { maxBytes: 10 });
}

test.each([
  ['raw headers that an interceptor has replaced', ['X-A', '0', 'Content-Encoding', 'gzip']],
  ['headers as an object alone', undefined],
])('reads a response of a dispatcher like that of undici 8, with %s', async (_, rawHeaders) => {
  const dispatcher = new NewerDispatcher(rawHeaders);
  const { response } = sendNewer(dispatcher);

  dispatcher.respond('body');
  dispatcher.handler.onResponseEnd?.(dispatcher.controller, {});

  const { headers, ...rest } = await response;
  expect(rest).toEqual({ status: 200, rawBody: 'body', problem: undefined });
  expect([headerIn(headers, 'x-a'), headerIn(headers, 'x-b')]).toEqual(['1, 2', '3']);
});

test('ends the request of an undici 8 dispatcher that fails, is cancelled or sends too much', async () => {
  const [failing, waiting, talkative] = [new NewerDispatcher(), new NewerDispatcher(), new NewerDispatcher()];
  const failed = sendNewer(failing);
  const cancelled = sendNewer(waiting);
  const long = sendNewer(talkative);

  failing.handler.onResponseError?.(failing.controller, new Error('lost'));
  waiting.handler.onRequestStart?.(waiting.controller, undefined);
  cancelled.cancellation.cancel(new Error('enough'));
  talkative.respond('longer than that');

  await expect(failed.response).rejects.toThrow('lost');
  await expect(cancelled.response).rejects.toThrow('enough');
  expect(await long.response).toMatchObject({ problem: expect.stringContaining('longer than 10 bytes') });
  expect([waiting.aborts, talkative.aborts]).toEqual([[new Error('enough')], [expect.any(Error)]]);
});

test('the interceptor retry() does not wait for Retry-After', async () => {
  const refusal = failure(429, { message: 'slow down', headers: { 'retry-after': '7' } });
  const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, refusal) });
  onTestFinished(() => server.close());
  const dispatcher = new Agent().compose(interceptors.retry());
  await using fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, dispatcher, onLimit: 'throw' });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({ kind: 'rate_limited', status: 429, retryAfterMs: expect.any(Number) });
  expect((error as Error).message).toContain(': slow down');
});

test('instrumentation of undici sees each request in the context of its call, also after a wait', async () => {
  await using served = await servedMock();
  const { key } = served.mock.createKey({ plan: 'developer' });
  await using fx = new FxRates({ baseUrl: served.server.url, apiKey: key, rateLimit: { maxConcurrent: 1 } });
  const context = new AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const created = channel('undici:request:create');
  const note = (message: unknown) => {
    const { origin, path } = (message as { request: { origin: unknown; path: string } }).request;
    // The channel has the requests of the whole process, as those that an earlier test has left.
    if (String(origin) === served.server.url) seen.push([path.split('=')[1], context.getStore()]);
  };
  created.subscribe(note);

  await Promise.all([1, 2, 3].map((n) => context.run(n, () => fx.latest({ n }))));
  created.unsubscribe(note);

  expect(seen).toEqual([
    ['1', 1],
    ['2', 2],
    ['3', 3],
  ]);
});

const REUSED = [
  ['as a whole', {}, () => vi.useFakeTimers()],
  ['in part', {}, () => vi.useFakeTimers({ toFake: ['setImmediate', 'clearImmediate'] })],
  ['and the program has its dispatcher', { dispatcher: new Agent() }, () => vi.useFakeTimers()],
] as const;

test.each(REUSED)('uses an open connection again while timers are faked %s', async (_, options, fake) => {
  const body = '{"success":true,"data":{"EUR":1}}';
  const response = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const server = await startRawServer({ onRequest: ({ socket }) => void socket.write(response) });
  onTestFinished(() => server.close());
  const fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, maxRetries: 0, ...options });
  await fx.latest({ call: 1 });
  await nextTurn(); // the connection is free
  fake();
  onTestFinished(() => void vi.useRealTimers());
  const faked = globalThis.setImmediate;

  for (const call of [2, 3]) {
    await expect(fx.latest({ call })).resolves.toEqual({ EUR: 1 });
    expect(globalThis.setImmediate).toBe(faked);
    await nextTurn();
  }

  expect(server.connections()).toBe(1);
});

/** Requests that the server answers together, so that so many connections open. */
const OPENED = 16;

/** Opens connections, each of which breaks in the way of `breakIt` at its next request. New ones work. */
async function brokenConnections(breakIt: (socket: Socket) => void, options: FxRatesOptions) {
  const body = '{"success":true,"data":{"EUR":1}}';
  const response = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const kept = new Set<Socket>();
  const server = await startRawServer({
    onRequest: ({ socket, index }) => {
      if (index >= OPENED) return kept.has(socket) ? breakIt(socket) : void socket.write(response);
      if (kept.add(socket).size === OPENED) for (const one of kept) one.write(response);
    },
  });
  onTestFinished(() => server.close());
  const clock = Object.assign(new FakeClock(), { random: seededRandom(1) });
  const fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, rateLimit: { perMinute: 600 }, clock, ...options });
  await Promise.all(differentCalls(fx, OPENED));
  await nextTurn(); // the connections are free
  return { fx, clock, server };
}

const reset = (socket: Socket) => void socket.resetAndDestroy();

test.each<[string, number, (socket: Socket) => void, FxRatesOptions?]>([
  ['reset', 6, reset],
  ['ended', 6, (socket) => void socket.end()],
  ['with a 502', 6, (socket) => respond(socket, { status: 502 })],
  ['reset, through a dispatcher of the program', OPENED, reset, { dispatcher: new Agent() }],
])('connections that break together are no outage: %s', async (_, calls, breakIt, options = {}) => {
  const { fx, clock, server } = await brokenConnections(breakIt, { ...options, onLimit: 'throw' });

  const results = await clock.run(Promise.allSettled(differentCalls(fx, calls)), { horizonMs: 2_000 });

  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(server.requests).toHaveLength(OPENED + 2 * calls);
});
