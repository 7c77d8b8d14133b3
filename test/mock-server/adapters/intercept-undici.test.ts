import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { bypass, HttpResponse, http, passthrough, type RequestHandler, ws } from 'msw';
import { type SetupServer, setupServer } from 'msw/node';
import * as undici from 'undici';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createMockServer, type InterceptedUndici, interceptUndici } from '../../../src/mock-server/index.ts';

const HOST = 'https://other.test';
const server = setupServer();
let intercepted: InterceptedUndici;
let before: undici.Dispatcher;
let real: Server;
let url: string;

beforeEach(async () => {
  before = undici.getGlobalDispatcher();
  intercepted = interceptUndici(server);
  real = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    outgoing.end(`real ${incoming.method} ${incoming.url} ${Buffer.concat(chunks)}`);
  });
  real.listen(0, '127.0.0.1');
  await once(real, 'listening');
  url = `http://127.0.0.1:${(real.address() as AddressInfo).port}`;
});

afterEach(() => {
  intercepted.close();
  server.resetHandlers();
  real.closeAllConnections();
  real.close();
});

async function ask(target: string, options: Parameters<typeof undici.request>[1] = {}) {
  const { statusCode, headers, body } = await undici.request(target, options);
  return { status: statusCode, headers, text: await body.text() };
}

test("undici.request calls the handlers of the user's server, added before or after", async () => {
  server.use(http.get(`${HOST}/user/:id`, ({ params }) => HttpResponse.json({ id: params['id'] }, { status: 201 })));

  expect(await ask(`${HOST}/user/7?x=1`)).toMatchObject({
    status: 201,
    headers: { 'content-type': 'application/json' },
    text: '{"id":"7"}',
  });
});

test.each([
  ['a mock', createMockServer()],
  ['an empty object', {}],
  ['undefined', undefined],
])('rejects %s instead of a server of msw', (_, value) => {
  const dispatcher = undici.getGlobalDispatcher();

  expect(() => interceptUndici(value as never)).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringContaining(
        'expected the result of setupServer() of msw/node; for a mock, call mock.listen().',
      ),
    }),
  );
  expect(undici.getGlobalDispatcher()).toBe(dispatcher);
});

test('undici.fetch, undici.stream and a client with retries also call them', async () => {
  server.use(http.get(`${HOST}/`, () => HttpResponse.text('mocked')));

  expect(await (await undici.fetch(`${HOST}/`)).text()).toBe('mocked');
  const retrying = new undici.RetryAgent(undici.getGlobalDispatcher());
  expect((await ask(`${HOST}/`, { dispatcher: retrying })).text).toBe('mocked');
});

test('method, headers, query and body arrive, and every cookie is returned', async () => {
  server.use(
    http.post(`${HOST}/echo`, async ({ request }) => {
      const headers = new Headers([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ]);
      const text = `${new URL(request.url).search} ${request.headers.get('x-name')} ${await request.text()}`;
      return new HttpResponse(text, { headers });
    }),
  );

  const response = await ask(`${HOST}/echo`, {
    method: 'POST',
    query: { base: 'EUR' },
    headers: { 'x-name': 'ada' },
    body: Readable.from(['one ', 'two']),
  });

  expect(response.text).toBe('?base=EUR ada one two');
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
});

test('a request without a handler is sent with its body, even if that can be read only once', async () => {
  server.use(http.post(`${url}/other`, () => HttpResponse.text('mocked')));

  expect((await ask(`${url}/get`)).text).toBe('real GET /get ');
  expect((await ask(`${url}/post`, { method: 'POST', body: 'text' })).text).toBe('real POST /post text');
  const fetched = await undici.fetch(`${url}/post`, { method: 'POST', body: 'fetched' });
  expect(await fetched.text()).toBe('real POST /post fetched');
  const stream = Readable.from(['one ', 'two']);
  expect((await ask(`${url}/post`, { method: 'POST', body: stream })).text).toBe('real POST /post one two');
});

test('passthrough() and bypass() skip the handlers', async () => {
  let asked = 0;
  server.use(
    http.get(`${url}/a`, () => {
      asked += 1;
      return passthrough();
    }),
    http.get(`${url}/b`, () => HttpResponse.text('mocked')),
  );

  expect((await ask(`${url}/a`)).text).toBe('real GET /a ');
  const { headers } = bypass(`${url}/b`);
  expect((await ask(`${url}/b`, { headers: Object.fromEntries(headers) })).text).toBe('real GET /b ');
  expect(asked).toBe(1);
});

test('streams a body', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  server.use(http.get(`${HOST}/stream`, () => new HttpResponse(readable)));

  const { body } = await undici.request(`${HOST}/stream`);
  const chunks = body[Symbol.asyncIterator]();
  void writer.write(Buffer.from('one'));
  expect(String((await chunks.next()).value)).toBe('one');
  void writer.write(Buffer.from('two'));
  expect(String((await chunks.next()).value)).toBe('two');
  void writer.close();

  expect((await chunks.next()).done).toBe(true);
});

test('an incomplete body is an error of the reader', async () => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new Error('cut'));
    },
  });
  server.use(http.get(`${HOST}/stream`, () => new HttpResponse(broken)));

  await expect(ask(`${HOST}/stream`)).rejects.toThrow('cut');
});

test.each([
  ['before the handler responds', false],
  ['while the body comes', true],
])("an abort %s ends the request with its reason, and aborts the handler's signal", async (_, hasHead) => {
  const controller = new AbortController();
  let seen: AbortSignal | undefined;
  server.use(
    http.get(`${HOST}/slow`, ({ request }) => {
      seen = request.signal;
      return hasHead ? new HttpResponse(new ReadableStream()) : new Promise<never>(() => undefined);
    }),
  );

  const asking = ask(`${HOST}/slow`, { signal: controller.signal });
  const failed = asking.catch((error: unknown) => error);
  while (seen === undefined) await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error('enough'));

  expect(await failed).toMatchObject({ message: 'enough' });
  expect(seen.aborted).toBe(true);
});

test('HttpResponse.error() and an error in a handler reject the request; a thrown response is returned', async () => {
  server.use(
    http.get(`${HOST}/error`, () => HttpResponse.error()),
    http.get(`${HOST}/bug`, () => {
      throw new Error('a bug in a handler');
    }),
    http.get(`${HOST}/thrown`, () => {
      throw HttpResponse.text('thrown', { status: 418 });
    }),
  );

  await expect(ask(`${HOST}/error`)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  await expect(ask(`${HOST}/bug`)).rejects.toThrow('a bug in a handler');
  expect(await ask(`${HOST}/thrown`)).toMatchObject({ status: 418, text: 'thrown' });
});

test('only msw intercepts global fetch: its handlers are called once', async () => {
  let asked = 0;
  listenWith(server, 'bypass');
  onTestFinished(() => server.close());
  server.use(
    http.get(`${url}/once`, () => {
      asked += 1;
    }),
    http.get(`${HOST}/mocked`, () => HttpResponse.text('mocked')),
  );

  expect(await (await fetch(`${url}/once`)).text()).toBe('real GET /once ');
  expect(asked).toBe(1);
  expect(await (await fetch(`${HOST}/mocked`)).text()).toBe('mocked');
  expect((await ask(`${HOST}/mocked`)).text).toBe('mocked');
});

test('a handler for one request handles one of ten at once; WebSocket handlers are not affected', async () => {
  server.use(
    ws.link('wss://other.test/chat').addEventListener('connection', () => undefined),
    http.get(`${url}/one`, () => HttpResponse.text('mocked'), { once: true }),
  );

  const responses = await Promise.all(Array.from({ length: 10 }, () => ask(`${url}/one`)));

  expect(responses.filter(({ text }) => text === 'mocked')).toHaveLength(1);
});

test('closing restores the previous dispatcher and fetch', () => {
  intercepted.close();
  const { fetch } = globalThis;

  {
    using _ = interceptUndici(server);
    expect(undici.getGlobalDispatcher()).not.toBe(before);
  }

  expect(undici.getGlobalDispatcher()).toBe(before);
  expect(globalThis.fetch).toBe(fetch);
});

test('closing does not replace a dispatcher that was set since, and ends its interception', async () => {
  server.use(http.get(`${url}/x`, () => HttpResponse.text('mocked')));
  const ours = undici.getGlobalDispatcher();
  const theirs = ours.compose((dispatch) => dispatch);
  undici.setGlobalDispatcher(theirs);

  intercepted.close();

  expect(undici.getGlobalDispatcher()).toBe(theirs);
  expect((await ask(`${url}/x`)).text).toBe('real GET /x ');
  undici.setGlobalDispatcher(before);
});

/** msw 3 calls the option `onUnhandledFrame`. */
function listenWith(server: SetupServer, strategy: 'bypass' | 'error' | ((request: Request) => void)) {
  const inMsw3 =
    typeof strategy === 'string'
      ? strategy
      : ({ frame }: { readonly frame: { readonly data: { readonly request: Request } } }) =>
          strategy(frame.data.request);
  server.listen({ onUnhandledRequest: strategy, onUnhandledFrame: inMsw3 } as object);
}

/** A separate server that listens with a strategy, and is also intercepted for undici. */
function listening(
  onUnhandledRequest: 'bypass' | 'error' | ((request: Request) => void),
  ...handlers: RequestHandler[]
) {
  intercepted.close();
  const strict = setupServer(...handlers);
  listenWith(strict, onUnhandledRequest);
  const undiciToo = interceptUndici(strict);
  onTestFinished(() => {
    undiciToo.close();
    strict.close();
  });
  return strict;
}

test('onUnhandledRequest of the server applies to undici: with "error" nothing is sent', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  listening(
    'error',
    http.get(`${HOST}/`, () => HttpResponse.text('mocked')),
  );
  let received = 0;
  real.on('request', () => {
    received += 1;
  });

  expect((await ask(`${HOST}/`)).text).toBe('mocked');
  await expect(ask(`${url}/x`)).rejects.toThrow();
  expect(received).toBe(0);
});

test('a function as onUnhandledRequest is called once per request of undici, which is then sent', async () => {
  const seen: string[] = [];
  listening((request) => seen.push(request.url));

  expect((await ask(`${url}/x?a=1`, { method: 'POST', body: 'text' })).text).toBe('real POST /x?a=1 text');
  expect(seen).toEqual([`${url}/x?a=1`]);
});

test('emits life-cycle events for the requests of undici', async () => {
  const strict = listening(
    'bypass',
    http.get(`${HOST}/`, () => HttpResponse.text('mocked')),
  );
  const events: string[] = [];
  for (const type of ['request:start', 'request:match', 'request:unhandled', 'request:end'] as const) {
    strict.events.on(type, ({ request }) => void events.push(`${type} ${request.url}`));
  }
  strict.events.on('response:mocked', async ({ response }) => void events.push(`mocked ${await response.text()}`));

  await ask(`${HOST}/`);
  await ask(`${url}/`);

  expect(events.sort()).toEqual(
    [
      'mocked mocked',
      ...[`${HOST}/`, `${url}/`].flatMap((at) => [`request:end ${at}`, `request:start ${at}`]),
      `request:match ${HOST}/`,
      `request:unhandled ${url}/`,
    ].sort(),
  );
});

test('emits unhandledException for a request of undici whose handler throws', async () => {
  const strict = listening(
    'bypass',
    http.get(`${HOST}/`, () => {
      throw new Error('a bug');
    }),
  );
  const events: string[] = [];
  for (const type of ['request:start', 'request:match', 'request:unhandled', 'request:end'] as const) {
    strict.events.on(type, ({ request }) => void events.push(`${type} ${request.url}`));
  }
  strict.events.on('unhandledException', ({ error, request }) => void events.push(`${error.message} ${request.url}`));

  await expect(ask(`${HOST}/`)).rejects.toThrow('a bug');

  expect(events).toEqual([`request:start ${HOST}/`, `a bug ${HOST}/`]);
});

test('mock.listen() bypasses other origins, and rejects them for fetch and undici if configured', async () => {
  intercepted.close();
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await using lenient = createMockServer({ baseUrl: 'https://one.test' });
  lenient.listen();
  expect((await ask(`${url}/`)).status).toBe(200);
  await lenient.close();

  await using strict = createMockServer({ baseUrl: 'https://two.test' });
  strict.listen({ onUnhandledRequest: 'error' });

  expect((await ask('https://two.test/api/v1/quota')).status).toBe(401);
  expect(() => createMockServer({ baseUrl: 'https://three.test' }).listen()).toThrow(/another onUnhandledRequest/);
  await expect(ask(`${url}/`)).rejects.toThrow();
  await expect(fetch(`${url}/`)).rejects.toThrow();
});
