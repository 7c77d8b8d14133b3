import http, { get } from 'node:http';
import * as https from 'node:https';
import * as msw from 'msw';
import { setupServer } from 'msw/node';
import { getGlobalDispatcher } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import { mockHandlers } from '../../../src/mock-server/msw/index.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';

const globals = () => ({
  fetch: globalThis.fetch,
  httpGet: http.get,
  httpRequest: http.request,
  httpsGet: https.get,
  httpsRequest: https.request,
  dispatcher: getGlobalDispatcher(),
});
const ORIGINAL = globals();

test('close restores everything and can be called again', async () => {
  const mock = createMockServer();

  mock.listen();
  mock.listen();
  expect(globals().fetch).not.toBe(ORIGINAL.fetch);
  expect(globals().dispatcher).toBe(ORIGINAL.dispatcher);
  await mock.close();
  await mock.close();

  expect(globals()).toEqual(ORIGINAL);
});

test('all forms of imports of node:http are intercepted until the mock is closed', async () => {
  const before = [get, https.get];
  await using mock = createMockServer({ baseUrl: 'http://fxrates.test' });
  await using secure = createMockServer();
  const statusOf = (send: typeof get, baseUrl: string) =>
    new Promise((resolve, reject) => {
      send(`${baseUrl}/api/v1/latest`, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });

  mock.listen();
  secure.listen();
  expect([await statusOf(get, mock.baseUrl), await statusOf(https.get, secure.baseUrl)]).toEqual([401, 401]);
  await mock.close();
  await secure.close();

  expect([get, https.get]).toEqual(before);
});

test('other origins are reachable as without the mock', async () => {
  const foreign = await startRawServer({ onRequest: ({ socket }) => respond(socket, { body: 'the real one' }) });
  onTestFinished(() => foreign.close());
  await using mock = createMockServer();
  mock.listen();

  const byFetch = await (await fetch(foreign.url)).text();
  const byHttp = await new Promise((resolve) => {
    http.get(foreign.url, (response) => response.setEncoding('utf8').on('data', resolve));
  });

  expect([byFetch, byHttp]).toEqual(['the real one', 'the real one']);
  expect(mock.journal.list()).toEqual([]);
});

test('a client with the proxy of the environment reaches a mock whose host needs none', async () => {
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');
  vi.stubEnv('NO_PROXY', 'fxrates.test');
  await using mock = createMockServer();
  mock.listen();

  await using fx = new FxRates({ apiKey: mock.createKey().key, baseUrl: mock.baseUrl, proxy: 'env' });

  expect((await fx.quota()).plan).toBe('free');
});

test.each([
  [{ onUnhandledRequest: 'nope' }, "onUnhandledRequest is \"nope\"; expected 'bypass', 'warn', 'error' or a function."],
  [{ onUnhandled: 'error' }, 'onUnhandled is not an option of listen(); valid names: onUnhandledRequest.'],
  ['error', 'options is "error"; expected an object.'],
])('listen(%j) is refused at once', (options, message) => {
  expect(() => createMockServer().listen(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) }),
  );
  expect(globals()).toEqual(ORIGINAL);
});

test.each(['bypass', 'error'] as const)('listen() rejects if an msw server with %j listens', async (strategy) => {
  await using mock = createMockServer();
  const server = setupServer(msw.http.get('https://mail.test/', () => msw.HttpResponse.text('sent')));
  server.listen({ onUnhandledRequest: strategy, onUnhandledFrame: strategy } as object);

  const message = expect.stringMatching(/such as nock.*mock\.serve\(\).*setupServer\(\.\.\.mockHandlers\(mock\)\)/);
  expect(() => mock.listen()).toThrow(expect.objectContaining({ code: 'msw_in_use', message }));
  expect(await (await fetch('https://mail.test/')).text()).toBe('sent');
  server.close();

  expect(globals()).toEqual(ORIGINAL);
  mock.listen();
  expect((await fetch(`${mock.baseUrl}/api/v1/latest`)).status).toBe(401);
});

test.each([
  ['the mock, then an msw server', [0, 1]],
  ['an msw server, then the mock', [1, 0]],
])('after both listened, closing %s ends all interception, and another mock can listen', async (_, order) => {
  const ways = [createMockServer(), setupServer()] as const;
  for (const way of ways) way.listen();

  for (const index of order) await ways[index]?.close();

  expect(globals()).toEqual(ORIGINAL);
  await using mock = createMockServer();
  mock.listen();
  expect((await fetch(`${mock.baseUrl}/api/v1/latest`)).status).toBe(401);
});

test('listen() leaves the interceptors of msw 3 as they are if it refuses', () => {
  const ofMsw3 = new Map([[Symbol.for('node-http-request-source'), { readyState: 'ACTIVE' }]]);
  vi.stubGlobal('__MSW_INTERCEPTORS_REGISTRY', ofMsw3);

  expect(() => createMockServer().listen()).toThrow(expect.objectContaining({ code: 'msw_in_use' }));
  expect(globals()).toEqual(ORIGINAL);
});

test('two mocks listen at their own addresses, and can close in any order', async () => {
  await using one = createMockServer({ baseUrl: 'https://one.test' });
  await using two = createMockServer({ baseUrl: 'https://two.test' });
  one.listen();
  two.listen();

  await fetch('https://one.test/a');
  await fetch('https://two.test/b');
  await one.close();
  await fetch('https://two.test/c');
  await fetch('https://two.test/d');

  expect(one.journal.list().map(({ path }) => path)).toEqual(['/a']);
  expect(two.journal.list().map(({ path }) => path)).toEqual(['/b', '/c', '/d']);
  await two.close();
  expect(globals()).toEqual(ORIGINAL);
});

test('another strategy than that in use is refused, also for the same mock', async () => {
  await using one = createMockServer();
  await using two = createMockServer({ baseUrl: 'https://two.test' });
  one.listen({ onUnhandledRequest: 'warn' });

  one.listen();
  one.listen({ onUnhandledRequest: 'warn' });
  for (const mock of [one, two]) {
    expect(() => mock.listen({ onUnhandledRequest: 'error' })).toThrow(
      expect.objectContaining({ code: 'strategy_in_use' }),
    );
  }
});

test('two mocks at one address are refused', async () => {
  await using one = createMockServer();
  one.listen();

  expect(() => createMockServer().listen()).toThrow(
    'Another mock listens at https://fxrates.test; create this one with another baseUrl.',
  );
});

test('interception stops when close is called, before it resolves', async () => {
  const one = createMockServer();
  await using two = createMockServer();
  one.space();
  one.listen();

  const closing = one.close();
  expect(globals()).toEqual(ORIGINAL);
  two.listen();
  await fetch(`${two.baseUrl}/a`);
  await closing;
  await fetch(`${two.baseUrl}/b`);

  expect(two.journal.list().map(({ path }) => path)).toEqual(['/a', '/b']);
});

test('listen rejects a rule, added before, that msw cannot reproduce', async () => {
  await using mock = createMockServer();
  const space = mock.space();
  const { id } = space.rules.add({ fail: { kind: 'reset' } });
  const impossible = expect.objectContaining({
    code: 'rule_not_possible',
    message: expect.stringContaining("fail: { kind: 'reset' } is not possible through msw"),
  });

  expect(() => mock.listen()).toThrow(impossible);
  expect(globals()).toEqual(ORIGINAL);

  space.rules.remove(id);
  mock.listen();
});

test('a mock of a second copy of the package listens beside one of the first', async () => {
  await using mock = createMockServer({ baseUrl: 'https://first.test' });
  vi.resetModules();
  const copy = await import('../../../src/mock-server/index.ts');
  await using other = copy.createMockServer({ baseUrl: 'https://second.test' });

  mock.listen();
  other.listen();
  const statuses = await Promise.all([mock, other].map(async ({ baseUrl }) => (await fetch(baseUrl)).status));
  await mock.close();
  const afterwards = (await fetch(other.baseUrl)).status;
  await other.close();

  expect([...statuses, afterwards]).toEqual([404, 404, 404]);
  expect(globals()).toEqual(ORIGINAL);
});

test('reading the handlers of an open mock has no effect; from their first request until close(), msw is in use', async () => {
  const mock = createMockServer({ baseUrl: 'https://handlers.test' });
  const server = setupServer(...mockHandlers(mock));
  server.listen({ onUnhandledRequest: 'error', onUnhandledFrame: 'error' } as object); // msw 2 and 3
  onTestFinished(() => server.close());

  mock.rules.remove(mock.rules.add({ fail: { kind: 'reset' } }).id);
  expect((await fetch('https://handlers.test/api/v1/quota')).status).toBe(401);
  expect(() => mock.rules.add({ fail: { kind: 'reset' } })).toThrow('is not possible through msw');
  await mock.close();
  mock.rules.add({ fail: { kind: 'reset' } });
  expect(mock.rules.list()).toHaveLength(1);
});

test.each([
  ['reading its handlers', async (mock: MockServer) => void mock.handlers],
  ['reset()', async (mock: MockServer) => mock.reset()],
])('after close(), %s opens the mock again', async (_, open) => {
  const mock = createMockServer({ baseUrl: 'https://again.test' });
  const server = setupServer(...mockHandlers(mock));
  server.listen();
  onTestFinished(() => server.close());
  await mock.close();

  await open(mock);

  await expect(mock.journal.waitFor({ status: 429 }, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'wait_timeout' });
  mock.rules.add({ delayMs: 1 });
  expect((await fetch(`${mock.baseUrl}/api/v1/quota`)).status).toBe(401);
});

test('a request through handlers does not open a closed mock, and does not hang', async () => {
  const mock = createMockServer({ baseUrl: 'https://closed.test' });
  const server = setupServer(...mockHandlers(mock));
  server.listen();
  onTestFinished(() => server.close());
  mock.rules.add({ fail: { kind: 'hang' } });
  await mock.close();

  await expect(fetch(`${mock.baseUrl}/api/v1/quota`)).rejects.toThrow();

  await expect(mock.journal.waitFor({ status: 429 })).rejects.toMatchObject({ code: 'mock_closed' });
  expect(() => mock.rules.add({ fail: { kind: 'reset' } })).not.toThrow(); // msw is not in use
});

test('a rule that msw cannot reproduce is an error in the response and in the journal', async () => {
  const mock = createMockServer({ baseUrl: 'https://impossible.test' });
  const { key } = mock.createKey();
  mock.rules.add({ fail: { kind: 'reset' } });
  const server = setupServer(...mockHandlers(mock));
  server.listen();
  onTestFinished(() => server.close());

  const response = await fetch('https://impossible.test/api/v1/quota', { headers: { authorization: key } });

  expect(response.status).toBe(500);
  const message = expect.stringMatching(/^fail: \{ kind: 'reset' \} is not possible through msw /);
  expect(await response.json()).toEqual({ success: false, error: { code: 'internal_error', message, status: 500 } });
  expect(mock.journal.list()).toMatchObject([{ status: 500, why: message }]);
});

test.each([
  ['http://[::1]:81', 'http://[::1]:8'],
  ['https://a.b.test', 'https://a-b.test'],
])('only requests to the origin %s reach its mock', async (baseUrl, other) => {
  await using mock = createMockServer({ baseUrl });
  await using near = createMockServer({ baseUrl: other });
  for (const one of [near, mock]) one.listen();

  const statuses = [baseUrl, other].map(async (origin) => (await fetch(`${origin}/any/path?x=1`)).status);

  expect(await Promise.all(statuses)).toEqual([404, 404]);
  expect([mock.journal.list().length, near.journal.list().length]).toEqual([1, 1]);
});
