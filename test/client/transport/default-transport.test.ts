import { Agent, type Dispatcher, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError, FxRates } from '../../../src/client/index.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import {
  defaultTransport,
  headerList,
  proxyTransport,
  type Runtime,
  undiciTransport,
} from '../../../src/client/transport/default-transport.ts';
import { type HeaderList, headerIn, headersOf, type Transport } from '../../../src/client/transport/transport.ts';
import { environmentProxy } from '../../../src/environment-proxy.ts';
import { deferred } from '../../helpers/deferred.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

const request = { url: 'https://fx.test/a', headers: {}, cancellation: new Cancellation(), maxBytes: 1000 };
const usual = getGlobalDispatcher();

afterEach(() => setGlobalDispatcher(usual));

function runtime(changes: Partial<Runtime> = {}): Runtime {
  const fetch = fakeFetch({ body: 'by fetch' });
  const node = { hasNodeSockets: true, hasProxyFetch: false, fetch, replacedFetch: undefined };
  return { ...node, loadUndici: () => import('undici'), ...changes };
}

/** A global dispatcher that responds to every request. */
function respondWith(text: string): void {
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent.get('https://fx.test').intercept({ path: '/a' }).reply(200, text).persist();
  setGlobalDispatcher(agent);
}

test('sends through the global dispatcher of undici, also if it is replaced later', async () => {
  const transport = defaultTransport(runtime());

  respondWith('first');
  const first = await transport(request);
  respondWith('second');
  const second = await transport(request);

  expect([first.rawBody, second.rawBody]).toEqual(['first', 'second']);
});

const undici = await import('undici');
const load = async () => ({ ...undici, getGlobalDispatcher: () => new Agent() });
test.each([
  ['on another runtime', { hasNodeSockets: false, loadUndici: load }],
  ['when undici cannot be loaded', { loadUndici: () => Promise.reject(new Error('Dynamic require of "node:assert"')) }],
  ['when undici is not undici', { loadUndici: async () => ({ ...undici, getGlobalDispatcher: () => ({}) as Agent }) }],
  ['when undici is empty', { loadUndici: async () => ({}) as typeof import('undici') }],
] as const)("sends with the runtime's fetch %s", async (_, changes) => {
  const response = await defaultTransport(runtime(changes))(request);

  expect(response.rawBody).toBe('by fetch');
});

test('loads undici once, with the first request', async () => {
  let loads = 0;
  const loadUndici = async () => {
    loads += 1;
    return load();
  };
  respondWith('x');

  const transport = defaultTransport(runtime({ loadUndici, hasNodeSockets: true, fetch: undefined }));
  expect(loads).toBe(0);
  await transport({ ...request, url: 'http://127.0.0.1:1/' }).catch(() => undefined);
  await transport({ ...request, url: 'http://127.0.0.1:1/' }).catch(() => undefined);

  expect(loads).toBe(1);
});

test('a request that is cancelled while undici loads rejects immediately, and is not sent', async () => {
  const cancellation = new Cancellation();
  const loading = deferred<typeof undici>();
  respondWith('sent');
  const transport = defaultTransport(runtime({ loadUndici: () => loading.promise }));

  const response = transport({ ...request, cancellation });
  cancellation.cancel(new Error('enough'));
  await expect(response).rejects.toThrow('enough');

  setGlobalDispatcher(new Agent({ connect: () => expect.unreachable('the request was sent') }));
  loading.resolve(undici);
  await quiet();
});

test('the time limit of an attempt begins when undici is loaded', async () => {
  const loading = deferred<typeof undici>();
  vi.doMock('undici', () => loading.promise);
  onTestFinished(() => void vi.doUnmock('undici'));
  const agent = new MockAgent();
  agent.get('https://fx.test').intercept({ path: '/api/v1/latest' }).reply(200, { success: true, data: {} });
  setGlobalDispatcher(agent);
  const clock = new FakeClock();
  const fx = new FxRates({ baseUrl: 'https://fx.test', apiKey: API_KEY, clock, timeoutMs: 1_000, maxRetries: 0 });

  const rates = fx.latest();
  await clock.advance(5_000);
  loading.resolve(undici);

  await expect(rates).resolves.toEqual({});
});

/** Sends on a runtime with these globals and its own `fetch`. That of workerd rejects calls that are not those of a method. */
async function sendOn(globals: Record<string, unknown>, transport: () => Transport) {
  const fetch = fakeFetch({ body: 'by fetch' });
  const asMethod = function (this: unknown, ...parameters: Parameters<typeof fetch>) {
    if (this !== globalThis) throw new TypeError('Illegal invocation');
    return fetch(...parameters);
  };
  for (const [name, value] of Object.entries({ fetch: asMethod, ...globals })) vi.stubGlobal(name, value);
  try {
    return await transport()(request);
  } finally {
    vi.unstubAllGlobals();
  }
}

const through = environmentProxy({ HTTPS_PROXY: 'http://127.0.0.1:1' }, 'https://fx.test')!;
const onWorkerd = { navigator: { userAgent: 'Cloudflare-Workers' } };
const bundled = runtime({ loadUndici: () => Promise.reject(new Error('no require')) });

const nodeFetch = { fetch: globalThis.fetch };

test.each([
  ['Node', nodeFetch, 'by undici'],
  ['Node 20, which has no navigator,', { ...nodeFetch, navigator: undefined }, 'by undici'],
  ['a sandbox without fetch', { fetch: undefined }, 'by undici'],
  ['Bun', { Bun: {} }, 'by fetch'],
  ['Deno', { Deno: {} }, 'by fetch'],
  ['workerd', onWorkerd, 'by fetch'],
])('%s sends with the transport that works there', async (_, globals, text) => {
  respondWith('by undici');

  expect(await sendOn(globals, defaultTransport)).toMatchObject({ rawBody: text });
});

test.each([
  ['Bun', { Bun: {} }],
  ['Deno', { Deno: {} }],
])('%s sends with its own fetch if the environment names a proxy', async (_, globals) => {
  expect(await sendOn(globals, () => proxyTransport(through))).toMatchObject({ rawBody: 'by fetch' });
});

test.each<[string, Record<string, unknown>, Runtime | undefined, string]>([
  ['workerd', onWorkerd, undefined, 'not on this runtime'],
  ['a runtime without fetch', { Bun: {}, fetch: undefined }, undefined, 'not on this runtime'],
  ['a bundle that breaks undici', {}, bundled, 'no require'],
])('%s cannot send through a proxy of the environment, and does not bypass it', async (_, globals, on, why) => {
  const error = await errorOf(sendOn(globals, () => proxyTransport(through, on)));

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toBe(
    `proxy: HTTPS_PROXY cannot be used, because undici cannot be loaded (${why}); pass a fetch that uses the proxy, or proxy: false`,
  );
});

test.each([
  ['a runtime without fetch', () => sendOn({ Bun: {}, fetch: undefined }, defaultTransport), /no global fetch; pass/],
  [
    'a runtime without fetch, where undici cannot be loaded,',
    () =>
      defaultTransport(runtime({ loadUndici: () => Promise.reject(new Error('no such module')), fetch: undefined }))(
        request,
      ),
    /undici cannot be loaded \(no such module\).*pass the option fetch/,
  ],
])('%s is a ConfigError of the first request, with the next step', async (_, send, message) => {
  const error = await errorOf(send());

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(message);
});

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

function send({ url = 'https://fx.test/a', maxBytes = 1000 } = {}) {
  const dispatcher = new ManualDispatcher();
  const cancellation = new Cancellation();
  const headers = { accept: 'application/json' };
  const response = undiciTransport(() => dispatcher)({ url, headers, cancellation, maxBytes });
  return { dispatcher, cancellation, response };
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
  });
});

test('the response has the last status and headers, without those of informational responses', async () => {
  const { dispatcher, response } = send();

  dispatcher.open().respond(103, 'link', '</x>').respond(200, 'date', 'today');
  dispatcher.handler.onData?.(Buffer.from('bo'));
  dispatcher.handler.onData?.(Buffer.from('dy'));
  dispatcher.handler.onComplete?.([]);

  const { headers, ...rest } = await response;
  expect(rest).toEqual({ status: 200, rawBody: 'body', problem: undefined });
  expect([headerIn(headers, 'date'), headerIn(headers, 'link')]).toEqual(['today', undefined]);
  expect(dispatcher.aborts).toEqual([]);
});

test('a dispatcher that never reports its connection can send a body beyond the maximum', async () => {
  const { dispatcher, response } = send({ maxBytes: 3 });

  dispatcher.respond(200).handler.onData?.(Buffer.from('abcd'));

  expect(await response).toMatchObject({ problem: expect.stringContaining('longer than 3 bytes') });
});

test.each([
  [new Error('enough'), new Error('enough')],
  ['enough', new Error('cancelled', { cause: 'enough' })],
])(
  'a request cancelled with %j in the middle of its response ends the connection with an Error',
  async (reason, error) => {
    const { dispatcher, cancellation, response } = send();
    dispatcher.open().respond(200);

    cancellation.cancel(reason);

    await expect(response).rejects.toBe(reason);
    expect(dispatcher.aborts).toEqual([error]);
  },
);

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
  ['an error that is not about the request', new Error('destroyed'), 'destroyed'],
  ['an error with another code', Object.assign(new Error('closed'), { code: 'UND_ERR_CLOSED' }), 'closed'],
  [
    'a refusal of the request',
    Object.assign(new Error('invalid handler'), { code: 'UND_ERR_INVALID_ARG' }),
    'dispatcher: cannot send the request (invalid handler); pass a dispatcher of undici 7',
  ],
  ['a value that is not an error', 'no', 'no'],
])('a dispatcher that throws %s rejects the request', async (_, thrown, message) => {
  class Throwing extends Agent {
    override dispatch(): boolean {
      throw thrown;
    }
  }
  const cancellation = new Cancellation();

  const error = await errorOf(
    undiciTransport(() => new Throwing())({ url: 'https://fx.test/a', headers: {}, cancellation, maxBytes: 1000 }),
  );

  expect(error instanceof Error ? error.message : error).toBe(message);
  expect(error instanceof ConfigError).toBe(message.startsWith('dispatcher:'));
  expect(error === thrown).toBe(!(error instanceof ConfigError));
});
