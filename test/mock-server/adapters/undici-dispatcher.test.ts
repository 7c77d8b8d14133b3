import { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpResponse, http } from 'msw';
import * as undici from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { hangingHandler } from '../../helpers/hanging-handler.ts';

const newMock = () => createMockServer({ clock: 'virtual' });

/** A mock whose responses contain the request. */
function echoing() {
  const mock = newMock();
  mock.use(
    http.all('/echo', async ({ request }) =>
      HttpResponse.json({
        method: request.method,
        query: new URL(request.url).search,
        type: request.headers.get('content-type'),
        many: request.headers.get('x-many'),
        body: await request.text(),
      }),
    ),
  );
  return mock;
}

test.each([
  ['text', 'péché'],
  ['bytes', Buffer.from('péché')],
  ['a stream', () => Readable.from(['pé', 'ché'])],
  [
    'an async iterable',
    async function* () {
      yield Buffer.from('pé');
      yield Buffer.from('ché');
    },
  ],
])('a body of %s arrives', async (_, body) => {
  const mock = echoing();

  const response = await undici.request(`${mock.baseUrl}/echo`, {
    method: 'POST',
    dispatcher: mock.dispatcher,
    body: (typeof body === 'function' ? body() : body) as Buffer,
  });

  expect(await response.body.json()).toMatchObject({ method: 'POST', body: 'péché' });
});

test.each([
  ['an object', { 'X-Many': ['a', 'b'], 'content-type': 'text/x' }],
  ['a flat list', ['x-many', 'a', 'x-many', 'b', 'content-type', 'text/x']],
  [
    'pairs',
    new Map([
      ['x-many', 'a, b'],
      ['content-type', 'text/x'],
    ]),
  ],
])('headers arrive from %s', async (_, headers) => {
  const mock = echoing();

  const response = await undici.request(`${mock.baseUrl}/echo`, {
    dispatcher: mock.dispatcher,
    headers: headers as unknown as Record<string, string>,
    query: { a: 1, b: ['x y', 'z'] },
  });

  expect(await response.body.json()).toMatchObject({ many: 'a, b', type: 'text/x', query: '?a=1&b=x%20y&b=z' });
});

test('requests to other origins use the dispatcher that was global when the mock created its own', async () => {
  const previous = undici.getGlobalDispatcher();
  const agent = new undici.MockAgent();
  agent.disableNetConnect();
  agent.get('https://elsewhere.test').intercept({ path: '/' }).reply(200, 'elsewhere');
  undici.setGlobalDispatcher(agent);
  const { dispatcher } = newMock();
  undici.setGlobalDispatcher(dispatcher);

  const response = await undici.request('https://elsewhere.test/').finally(() => undici.setGlobalDispatcher(previous));

  expect(await response.body.text()).toBe('elsewhere');
});

test('an abort ends a request that waits', async () => {
  const mock = newMock();
  const { handler, release } = hangingHandler();
  mock.use(handler);
  const controller = new AbortController();
  const { dispatcher } = mock;

  const requests = [
    undici.request(`${mock.baseUrl}/hang`, { dispatcher, signal: controller.signal }),
    undici.fetch(`${mock.baseUrl}/hang`, { dispatcher, signal: controller.signal }),
  ];
  controller.abort(new Error('enough'));

  for (const request of requests) await expect(request).rejects.toThrow('enough');
  release();
});

test('an aborted signal sends nothing', async () => {
  const mock = newMock();

  const sent = undici.request(mock.baseUrl, {
    dispatcher: mock.dispatcher,
    signal: AbortSignal.abort(new Error('no')),
  });

  await expect(sent).rejects.toThrow('no');
  expect(mock.journal.list()).toEqual([]);
});

test('a reader that pauses receives the complete body', async () => {
  const mock = newMock();
  const { key } = mock.createKey();
  const chunks: string[] = [];

  await undici.stream(
    `${mock.baseUrl}/api/v1/latest?api_key=${key}`,
    { method: 'GET', dispatcher: mock.dispatcher },
    () =>
      new Writable({
        highWaterMark: 1,
        write(chunk, _encoding, done) {
          setImmediate(() => {
            chunks.push(String(chunk));
            done();
          });
        },
      }),
  );

  expect(JSON.parse(chunks.join(''))).toMatchObject({ success: true, data: { base: 'USD' } });
});

test('interceptors of undici work on it, and closing it is harmless', async () => {
  const mock = newMock();
  const { key } = mock.createKey();
  const composed = mock.dispatcher.compose(undici.interceptors.dump(), undici.interceptors.retry({ maxRetries: 0 }));

  const response = await undici.request(`${mock.baseUrl}/api/v1/quota?api_key=${key}`, { dispatcher: composed });
  await composed.close();
  await mock.dispatcher.destroy();

  expect(response.statusCode).toBe(200);
});

test('a body left unread does not disturb the next request', async () => {
  const mock = newMock();
  const { key } = mock.createKey();
  const { dispatcher } = mock;
  const url = `${mock.baseUrl}/api/v1/latest?api_key=${key}`;

  for (let request = 0; request < 31; request += 1) await undici.request(url, { dispatcher });
  const refused = await undici.request(url, { dispatcher });
  refused.body.destroy();
  refused.body.on('error', () => undefined);

  await mock.clock.advance(60_000);
  expect((await undici.request(url, { dispatcher })).statusCode).toBe(200);
});

test.each([
  ['RetryAgent', (dispatcher: undici.Dispatcher) => new undici.RetryAgent(dispatcher, { minTimeout: 1 })],
  [
    'interceptors.retry()',
    (dispatcher: undici.Dispatcher) => dispatcher.compose(undici.interceptors.retry({ minTimeout: 1 })),
  ],
])('%s repeats a request after a status fault', async (_, retrying) => {
  const mock = newMock();
  const { key } = mock.createKey();
  mock.faults.add({ kind: 'status', status: 503, times: 2 });

  const response = await undici.request(`${mock.baseUrl}/api/v1/quota?api_key=${key}`, {
    dispatcher: retrying(mock.dispatcher),
  });

  expect(response.statusCode).toBe(200);
  expect(mock.journal.list().map(({ status }) => status)).toEqual([503, 503, 200]);
});

test.each(['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd'] as const)(
  'a handler that throws in %s receives its error, as from a client of undici',
  async (method) => {
    const mock = newMock();
    const throwing = {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => {},
      [method]: () => {
        throw new Error('thrown by the handler');
      },
    };

    const error = await new Promise((resolve) => {
      mock.dispatcher.dispatch(
        { origin: mock.baseUrl, path: '/api/v1/quota', method: 'GET' },
        { ...throwing, onResponseError: (_, reason) => resolve(reason) },
      );
    });

    expect(error).toEqual(new Error('thrown by the handler'));
  },
);

test('headersTimeout ends a request that gets no response', async () => {
  const mock = newMock();
  mock.faults.add({ kind: 'hang' });
  const { dispatcher } = mock;

  const sent = undici.request(`${mock.baseUrl}/api/v1/quota`, { dispatcher, headersTimeout: 1 });

  await expect(sent).rejects.toMatchObject({ name: 'HeadersTimeoutError', code: 'UND_ERR_HEADERS_TIMEOUT' });
});

test('bodyTimeout limits the time between two parts of the body', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  mock.faults.add({ kind: 'dribble', chunkBytes: 20, intervalMs: 1000 });
  const { dispatcher } = mock;
  const { body } = await undici.request(`${mock.baseUrl}/api/v1/quota`, { dispatcher, bodyTimeout: 100 });
  const text = body.text().catch((error) => error);

  await vi.advanceTimersByTimeAsync(99);
  await mock.clock.advance(1000);
  await vi.advanceTimersByTimeAsync(99);
  const waiting = vi.getTimerCount();
  await vi.advanceTimersByTimeAsync(1);

  expect(waiting).toBe(1);
  expect(await text).toMatchObject({ name: 'BodyTimeoutError', code: 'UND_ERR_BODY_TIMEOUT' });
});

/** Waits until all pending work of the event loop has run. */
const quiet = async () => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

test('a paused handler receives nothing until it resumes', async () => {
  const mock = newMock();
  const heard: string[] = [];
  let controller: undici.Dispatcher.DispatchController | undefined;

  mock.dispatcher.dispatch(
    { origin: mock.baseUrl, path: '/api/v1/quota', method: 'GET' },
    {
      onRequestStart: (given) => {
        controller = given;
      },
      onResponseStart: (given, status) => {
        heard.push(`status ${status}`);
        given.pause();
      },
      onResponseData: (given, chunk) => {
        heard.push(`${JSON.parse(chunk.toString()).error.code}`);
        given.pause();
      },
      onResponseEnd: () => heard.push('end'),
      onResponseError: () => heard.push('error'),
    },
  );
  await quiet();
  expect([heard, controller?.paused]).toEqual([['status 401'], true]);
  controller?.resume();
  await quiet();
  expect(heard).toEqual(['status 401', 'unauthorized']);
  controller?.resume();
  await quiet();

  expect([heard.at(-1), controller?.aborted, controller?.reason]).toEqual(['end', false, null]);
});

test('bodyTimeout does not count while the handler pauses', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  mock.faults.add({ kind: 'dribble', chunkBytes: 20, intervalMs: 1000 });
  const heard: string[] = [];
  let controller: undici.Dispatcher.DispatchController | undefined;
  mock.dispatcher.dispatch(
    { origin: mock.baseUrl, path: '/api/v1/quota', method: 'GET', bodyTimeout: 100 },
    {
      onRequestStart: (given) => {
        controller = given;
      },
      onResponseData: () => heard.push('data'),
      onResponseError: (_, error) => heard.push(error.name),
    },
  );
  await quiet();

  controller?.pause();
  await vi.advanceTimersByTimeAsync(1000);
  controller?.resume();
  await vi.advanceTimersByTimeAsync(99);
  expect(heard).toEqual(['data']);
  await vi.advanceTimersByTimeAsync(1);

  expect(heard).toEqual(['data', 'BodyTimeoutError']);
});

test('a response that arrives in time leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const mock = newMock();

  const { body } = await undici.request(`${mock.baseUrl}/api/v1/quota`, {
    dispatcher: mock.dispatcher,
    headersTimeout: 100,
    bodyTimeout: 100,
  });
  await body.text();

  expect(vi.getTimerCount()).toBe(0);
});

test('a handler that aborts while it is paused receives only the abort', async () => {
  const mock = newMock();
  const heard: string[] = [];
  let controller: undici.Dispatcher.DispatchController | undefined;
  mock.dispatcher.dispatch(
    { origin: new URL(mock.baseUrl), path: '/api/v1/quota', method: 'GET' },
    {
      onRequestStart: (given) => {
        controller = given;
      },
      onResponseStart: (given) => given.pause(),
      onResponseData: () => heard.push('data'),
      onResponseEnd: () => heard.push('end'),
      onResponseError: (_, error) => heard.push(error.message),
    },
  );
  await quiet();

  controller?.abort(new Error('enough'));
  controller?.abort(new Error('once more'));
  await quiet();

  expect(heard).toEqual(['enough']);
  expect(controller?.aborted).toBe(true);
});

test('a handler of the older kind receives raw headers, and can pause the body', async () => {
  const mock = newMock();
  const heard: string[] = [];
  let resume = () => {};

  mock.dispatcher.dispatch(
    { origin: mock.baseUrl, path: '/api/v1/quota', method: 'GET' },
    {
      onConnect: () => heard.push('connect'),
      onHeaders: (status, raw, resumeBody, statusText) => {
        resume = resumeBody;
        heard.push(`${status} ${statusText} ${raw[0]}`);
        return false;
      },
      onData: () => heard.push('data') > 0,
      onComplete: () => heard.push('complete'),
      onError: () => heard.push('error'),
    },
  );
  await quiet();
  expect(heard).toEqual(['connect', '401 Unauthorized content-type']);
  resume();
  await quiet();

  expect(heard.slice(2)).toEqual(['data', 'complete']);
});
