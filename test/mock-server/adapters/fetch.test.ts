import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { hangingHandler } from '../../helpers/hanging-handler.ts';

const newMock = () => createMockServer({ clock: 'virtual' });

test('accepts a URL and a Request as well as text', async () => {
  const mock = newMock();
  const { key } = mock.createKey();
  const url = new URL(`/api/v1/quota?api_key=${key}`, mock.baseUrl);

  const responses = await Promise.all([
    mock.fetch(url.href),
    mock.fetch(url),
    mock.fetch(new Request(url)),
    mock.fetch(new Request(url, { method: 'POST', body: 'x' }), { method: 'PUT', body: 'y' }),
  ]);

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 405]);
  expect(responses[0]).toMatchObject({ url: url.href, ok: true, statusText: 'OK' });
  expect(mock.journal.list().at(-1)?.method).toBe('PUT');
});

test.each([
  ['https://api.example.com/latest?api_key=fx_live_canary', 'https://api.example.com'],
  ['http://fxrates.test/api/v1/latest', 'http://fxrates.test'],
  ['https://fxrates.test:8443/api/v1/latest', 'https://fxrates.test:8443'],
])('rejects %s like a host that does not exist, and shows only its origin', async (url, origin) => {
  const error: TypeError & { cause: Error & { code?: string } } = await newMock()
    .fetch(url)
    .then(
      () => undefined,
      (thrown) => thrown,
    );

  expect(error).toBeInstanceOf(TypeError);
  expect(error.cause.code).toBe('ENOTFOUND');
  expect(error.cause.message).toBe(`mock.fetch serves only https://fxrates.test, not ${origin}`);
});

test('mock.fetch rejects what fetch rejects: an invalid header, a GET with a body, an invalid URL', async () => {
  const mock = newMock();

  await expect(mock.fetch(mock.baseUrl, { headers: { authorization: 'ключ' } })).rejects.toThrow(TypeError);
  await expect(mock.fetch(mock.baseUrl, { method: 'GET', body: 'x' })).rejects.toThrow(TypeError);
  await expect(mock.fetch('/api/v1/latest')).rejects.toThrow(TypeError);
  expect(mock.journal.list()).toEqual([]);
});

test('an aborted signal sends nothing', async () => {
  const mock = newMock();
  const { key } = mock.createKey();

  const sent = mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`, {
    signal: AbortSignal.abort(new Error('no')),
  });

  await expect(sent).rejects.toThrow('no');
  expect(mock.journal.list()).toEqual([]);
});

test('an abort right after sending rejects, although the service has counted the request', async () => {
  const mock = newMock();
  const { id, key } = mock.createKey();
  const controller = new AbortController();

  const sent = mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`, { signal: controller.signal });
  controller.abort();

  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  expect(mock.keys.get(id).month.used).toBe(1);
});

test('an abort ends the wait for a handler of mock.use()', async () => {
  const mock = newMock();
  const { handler, release } = hangingHandler();
  mock.use(handler);
  const controller = new AbortController();

  const sent = mock.fetch(`${mock.baseUrl}/hang`, { signal: controller.signal });
  controller.abort(new Error('enough'));

  await expect(sent).rejects.toThrow('enough');
  release();
});

test('keeps no listener on the signal of a call that has ended', async () => {
  const mock = newMock();
  mock.faults.add({ kind: 'latency', latencyMs: 5 });
  const { signal } = new AbortController();

  await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { signal });

  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('clientOptions returns base URL, fetch and clock of the mock', () => {
  const mock = newMock();

  expect(mock.clientOptions()).toEqual({ baseUrl: 'https://fxrates.test', fetch: mock.fetch, clock: mock.clock });
});

test('the mock responds at another base URL', async () => {
  const mock = createMockServer({ baseUrl: 'http://localhost:9999/' });

  expect((await mock.fetch('http://localhost:9999/api/v1/quota')).status).toBe(401);
});

/** Sends a request that a stub redirects, and returns the method, content type and body of the request after it. */
async function redirect(status: number, init: RequestInit) {
  const mock = newMock();
  const { key } = mock.createKey();
  const headers = { authorization: key, 'content-type': 'text/plain' };
  mock.stubs.add({ match: { path: '/old', method: init.method ?? 'GET' }, status, headers: { location: '/new?a=1' } });
  mock.stubs.add({ match: { path: '/new' }, data: 'found' });
  mock.stubs.add({ match: { path: '/new', method: 'POST' }, data: 'posted' });
  const response = await mock.fetch(new Request(`${mock.baseUrl}/old`, { headers, ...init }));
  return { response, last: mock.journal.list().at(-1) };
}

test.each<[number, RequestInit, object]>([
  [302, {}, { method: 'GET', headers: { 'content-type': 'text/plain' } }],
  [301, { method: 'POST', body: 'x' }, { method: 'GET', body: undefined }],
  [303, { method: 'PUT', body: 'x' }, { method: 'GET', body: undefined }],
  [303, { method: 'HEAD' }, { method: 'HEAD' }],
  [307, { method: 'POST', body: 'x' }, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }],
  [308, { method: 'POST', body: 'x' }, { method: 'POST', body: 'x' }],
])('follows a redirect with status %i of %j as fetch does', async (status, init, expected) => {
  const { response, last } = await redirect(status, init);

  expect(response).toMatchObject({ url: 'https://fxrates.test/new?a=1', redirected: true, status: 200 });
  expect(last).toMatchObject({ path: '/new', query: { a: '1' }, ...expected });
  if (last?.method === 'GET' && last.body === undefined && status !== 302) {
    expect(last.headers['content-type']).toBeUndefined();
  }
});

test('returns a redirect that is not to be followed, and rejects one that is an error', async () => {
  const { response, last } = await redirect(302, { redirect: 'manual' });

  expect(response).toMatchObject({ status: 302, redirected: false, url: 'https://fxrates.test/old' });
  expect(last?.path).toBe('/old');
  await expect(redirect(302, { redirect: 'error' })).rejects.toMatchObject({
    cause: { message: 'unexpected redirect' },
  });
});

test.each([
  ['another host', 'https://elsewhere.test/x', /serves only https:\/\/fxrates\.test, not https:\/\/elsewhere\.test/],
  ['itself', '/old', /redirect count exceeded/],
])('rejects a redirect to %s', async (_, location, message) => {
  const mock = newMock();
  const headers = { authorization: mock.createKey({ plan: 'developer' }).key };
  mock.stubs.add({ match: { path: '/old' }, status: 302, headers: { location } });

  await expect(mock.fetch(`${mock.baseUrl}/old`, { headers })).rejects.toMatchObject({
    cause: { message: expect.stringMatching(message) },
  });
});
