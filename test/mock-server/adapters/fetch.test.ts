import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';
import { errorOf } from '../../helpers/test-client.ts';

const newMock = () => createMockServer({ clock: 'virtual' });

test('accepts a URL and a Request as well as text', async () => {
  const { mock, key } = mockWithKey({ clock: 'virtual' });
  const url = new URL(`/api/v1/quota?api_key=${key}`, mock.baseUrl);

  const responses = await Promise.all([
    mock.fetch(`${url.href}#top`),
    mock.fetch(url),
    mock.fetch(new Request(url)),
    mock.fetch(new Request(url, { method: 'POST', body: 'x' }), { method: 'PUT', body: 'y' }),
    mock.fetch(url, new Request(url, { method: 'PATCH', body: 'z' })),
  ]);

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 405, 405]);
  expect(responses[0]).toMatchObject({ url: url.href, ok: true, statusText: 'OK' });
  expect(responses[0]?.clone().clone()).toMatchObject({ url: url.href, ok: true });
  const sent = mock.journal.list().map(({ method, body }) => [method, body]);
  expect(sent.slice(-2)).toEqual([
    ['PUT', 'y'],
    ['PATCH', 'z'],
  ]);
});

test.each([
  ['https://api.example.com/latest?api_key=fx_live_canary', 'https://api.example.com'],
  ['http://fxrates.test/api/v1/latest', 'http://fxrates.test'],
  ['https://fxrates.test:8443/api/v1/latest', 'https://fxrates.test:8443'],
])('rejects %s like a host that does not exist, and shows only its origin', async (url, origin) => {
  const error = await errorOf(newMock().fetch(url));

  expect(error).toBeInstanceOf(TypeError);
  const message = `mock.fetch serves only https://fxrates.test, not ${origin}`;
  expect(error).toMatchObject({ cause: { code: 'ENOTFOUND', message } });
});

test('mock.fetch rejects what fetch rejects: invalid headers and URLs, a GET with a body', async () => {
  const mock = newMock();

  await expect(mock.fetch(mock.baseUrl, { headers: { authorization: 'ключ' } })).rejects.toThrow(TypeError);
  await expect(mock.fetch(mock.baseUrl, { method: 'GET', body: 'x' })).rejects.toThrow(TypeError);
  await expect(mock.fetch('/api/v1/latest')).rejects.toThrow(TypeError);
  expect(mock.journal.list()).toEqual([]);
});

test('an aborted signal sends nothing', async () => {
  const { mock, send } = mockWithKey();

  const sent = send('/api/v1/latest', { signal: AbortSignal.abort(new Error('no')) });

  await expect(sent).rejects.toThrow('no');
  expect(mock.journal.list()).toEqual([]);
});

test('an abort right after sending rejects, although the service has counted the request', async () => {
  const { mock, id, key } = mockWithKey({ clock: 'virtual' });
  const controller = new AbortController();

  const sent = mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`, { signal: controller.signal });
  controller.abort();

  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  expect(mock.keys.get(id).month.used).toBe(1);
});

test('an abort ends the wait for a body that does not end', async () => {
  const controller = new AbortController();
  const body = new ReadableStream({ pull: () => new Promise(() => undefined) });
  const init = { method: 'POST', body, duplex: 'half', signal: controller.signal } as const;

  const response = newMock().fetch('https://fxrates.test/api/v1/latest', init);
  controller.abort(new Error('enough'));

  await expect(response).rejects.toThrow('enough');
});

test('a damaged content coding is an error of the body, as with fetch', async () => {
  const mock = newMock();
  mock.rules.add({ encoding: 'gzip', fail: { kind: 'bad-json' } });

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(response.headers.get('content-encoding')).toBe('gzip');
  await expect(response.text()).rejects.toMatchObject({ message: 'terminated', cause: { code: 'Z_BUF_ERROR' } });
});

test.each(['gzip', 'deflate', 'br'] as const)('no time passes while a body in %s is decoded', async (encoding) => {
  const mock = createMockServer({ clock: 'virtual', rules: [{ encoding }] });
  const start = mock.clock.now();
  const waiting = new AbortController();
  const timeLimit = mock.clock.sleep(10_000, waiting.signal).catch(() => undefined);

  for (let count = 0; count < 20; count += 1) await (await mock.fetch(`${mock.baseUrl}/api/v1/quota`)).text();

  expect(mock.clock.now()).toBe(start);
  waiting.abort();
  await timeLimit;
});

test('twenty calls with one signal add one listener, and keep none', async () => {
  const mock = newMock();
  mock.rules.add({ delayMs: 5 });
  const { signal } = new AbortController();

  const calls = Array.from({ length: 20 }, () => mock.fetch(`${mock.baseUrl}/api/v1/quota`, { signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await Promise.all(calls);

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('returns a redirect as it is, and rejects it if redirects are errors', async () => {
  const mock = newMock();
  const headers = { authorization: mock.createKey().key };
  mock.rules.add({ match: { path: '/old' }, respond: { status: 302, headers: { location: '/new' } } });

  const response = await mock.fetch(`${mock.baseUrl}/old`, { headers });

  expect(response).toMatchObject({ status: 302, redirected: false, url: 'https://fxrates.test/old' });
  expect(mock.journal.list()).toHaveLength(1);
  const init = { headers, redirect: 'error' } as const;
  const refused = expect.objectContaining({ cause: new Error('unexpected redirect') });
  await expect(mock.fetch(`${mock.baseUrl}/old`, init)).rejects.toThrow(refused);
  await expect(mock.fetch(new Request(`${mock.baseUrl}/old`, init))).rejects.toThrow(refused);
});
