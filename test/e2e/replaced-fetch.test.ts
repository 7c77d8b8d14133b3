import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { Agent, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { startConnectProxy } from '../helpers/connect-proxy.ts';
import { fakeFetch } from '../helpers/fake-fetch.ts';
import { type RawServer, respond, startRawServer } from '../helpers/raw-server.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { errorOf } from '../helpers/test-client.ts';

/** The real service, and the target of redirects. */
let service: RawServer;

beforeEach(async () => {
  service = await startRawServer({
    onRequest: ({ socket }) => respond(socket, success({ from: 'service' })),
  });
});
afterEach(async () => {
  await service.close();
  vi.unstubAllGlobals();
  setGlobalDispatcher(new Agent());
});

function client(options: FxRatesOptions = {}): FxRates {
  return new FxRates({ baseUrl: service.url, apiKey: API_KEY, maxRetries: 0, ...options });
}

const ok = () => HttpResponse.json(success({ from: 'msw' }).body);

test('msw responds to a client created before listen(), and to one created after', async () => {
  const before = client();
  await before.latest(); // over undici
  const server = setupServer(http.get(`${service.url}/api/v1/latest`, ok));

  server.listen({ onUnhandledRequest: 'error' });
  const answers = await Promise.all([before.latest({ n: 1 }), client().latest({ n: 2 })]);
  server.close();

  expect(answers).toEqual([{ from: 'msw' }, { from: 'msw' }]);
  expect(service.requests).toHaveLength(1);
  await expect(before.latest()).resolves.toEqual({ from: 'service' }); // restored
});

test("msw's onUnhandledRequest: 'error' keeps a request, with its key, from the network", async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const server = setupServer();
  server.listen({ onUnhandledRequest: 'error' });

  const error = await errorOf(client().latest());
  server.close();

  expect(error).toMatchObject({ kind: 'network' });
  expect(service.requests).toEqual([]);
});

test('the target of a redirect that msw responds with receives nothing', async () => {
  const server = setupServer(
    http.get('https://fx.test/api/v1/latest', () => HttpResponse.redirect(`${service.url}/api/v1/latest`, 302)),
  );
  server.listen();

  const error = await errorOf(client({ baseUrl: 'https://fx.test' }).latest());
  server.close();

  expect(error).toMatchObject({ kind: 'response', status: 302 });
  expect(service.requests).toEqual([]);
});

test('nock responds, and disableNetConnect() keeps a request from the network', async () => {
  const { default: nock } = await import('nock'); // intercepts from its import on
  nock.disableNetConnect();
  nock(service.url)
    .get('/api/v1/latest')
    .reply(200, success({ from: 'nock' }).body);
  const fx = client();

  const answer = await fx.latest();
  const error = await errorOf(fx.latest({ base: 'USD' }));
  nock.restore();

  expect(answer).toEqual({ from: 'nock' });
  expect(error).toMatchObject({ kind: 'network' });
  expect(service.requests).toEqual([]);
  await expect(fx.latest()).resolves.toEqual({ from: 'service' });
});

test('a stub of the global fetch receives requests that are neither followed, cached nor shared', async () => {
  const fx = client();
  const fetch = fakeFetch({ body: success({ from: 'stub' }).body });
  vi.stubGlobal('fetch', fetch);

  const answer = await fx.latest();
  vi.unstubAllGlobals();

  expect(answer).toEqual({ from: 'stub' });
  expect(fetch.requests).toMatchObject([
    { url: `${service.url}/api/v1/latest`, redirect: 'manual', cache: 'no-store', signal: expect.any(AbortSignal) },
  ]);
  await expect(fx.latest()).resolves.toEqual({ from: 'service' });
});

test('an error with which a framework ends the rendering of a page passes unchanged', async () => {
  const signal = Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC_SERVER_USAGE' });
  const fetch = fakeFetch(signal);
  vi.stubGlobal('fetch', fetch);

  expect(await errorOf(client({ maxRetries: 2 }).latest())).toBe(signal);
  expect(fetch.requests).toHaveLength(1);
});

test.each<[string, FxRatesOptions, string]>([
  ['fetch', { fetch: fakeFetch({ body: success({ from: 'option' }).body }) }, 'option'],
  ['dispatcher', { dispatcher: new Agent() }, 'service'],
  ['proxy', { proxy: 'env', baseUrl: 'http://fx.test', allowInsecureHttp: true }, 'service'],
])('the option %s takes precedence over a stub', async (_, options, from) => {
  const proxy = await startConnectProxy({ port: Number(new URL(service.url).port) });
  vi.stubEnv('HTTP_PROXY', proxy.url);
  vi.stubGlobal('fetch', () => expect.unreachable('the stub was called'));

  await using fx = client(options);

  await expect(fx.latest()).resolves.toEqual({ from });
  await proxy.close();
});
