import { createServer, globalAgent, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { httpFetch } from '../../../src/cli/io/http-fetch.ts';
import { runCli } from '../../helpers/cli-io.ts';
import { close, listen } from '../../helpers/listen.ts';

let server = createServer();

afterEach(() => close(server));

/** Sends one request to a server with this response. */
async function get(listener: RequestListener, { signal = new AbortController().signal } = {}) {
  server = createServer(listener);
  const url = `http://127.0.0.1:${await listen(server)}/a?b=c`;
  return httpFetch(url, { method: 'GET', headers: { 'x-one': '1' }, signal, redirect: 'manual' });
}

test('sends the method, the path and the headers; reads status, headers and body', async () => {
  const response = await get(({ method, url, headers }, response) => {
    response.writeHead(201, 'Made', [
      ...['x-b', '1'],
      ...['x-b', '2'],
      ...['X-A', '0'],
      ...['date', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ]);
    response.end(`${method} ${url} ${headers['x-one']} …`);
  });

  // Through the global agent, it would reach the proxy of NODE_USE_ENV_PROXY.
  expect(Object.keys(globalAgent.sockets)).not.toContain(`127.0.0.1:${(server.address() as AddressInfo).port}:`);
  expect([response.status, response.statusText]).toEqual([201, 'Made']);
  expect([response.headers.get('X-B'), response.headers.get('x-c')]).toEqual(['1, 2', null]);
  expect(['X-B', 'x-c', 'constructor'].map((name) => response.headers.has(name))).toEqual([true, false, false]);
  expect([...response.headers].slice(-2)).toEqual([
    ['x-a', '0'],
    ['x-b', '1, 2'],
  ]);
  expect(await response.text()).toBe('GET /a?b=c 1 …');
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['BR', brotliCompressSync],
  ['identity', (text: string) => text],
])('decodes a body in %s', async (encoding, encode) => {
  const response = await get((_, response) => {
    response.setHeader('content-encoding', encoding).end(encode('{"rates":1}'));
  });

  expect(await response.text()).toBe('{"rates":1}');
});

test.each(['zstd', 'constructor', '__proto__'])('rejects a body in the unknown encoding %s', async (encoding) => {
  const response = await get((_, response) => void response.setHeader('content-encoding', encoding).end('{}'));

  await expect(response.text()).rejects.toThrow(`unknown content encoding '${encoding}'`);
});

test('the error of a body in an unknown encoding names the encoding, without a retry', async () => {
  let requests = 0;
  server = createServer((_, response) => {
    requests += 1;
    response.setHeader('content-encoding', 'zstd').end('…');
  });
  const env = { FXRATES_BASE_URL: `http://127.0.0.1:${await listen(server)}` };

  const { code, stderr } = await runCli('latest', { env, fetch: httpFetch, horizonMs: 0 });

  expect([code, requests]).toEqual([10, 1]);
  expect(stderr).toContain("the body cannot be decoded: unknown content encoding 'zstd'");
});

test('does not follow a redirect', async () => {
  const response = await get((_, response) => void response.writeHead(302, { location: '/other' }).end());

  expect([response.status, response.headers.get('location')]).toEqual([302, '/other']);
});

test.each(['', 'gzip'])('rejects if the connection breaks in a body with the encoding "%s"', async (encoding) => {
  const response = await get((_, response) => {
    response.writeHead(200, { 'content-length': 100, 'content-encoding': encoding });
    response.write(gzipSync('abc'), () => response.destroy());
  });

  await expect(response.text()).rejects.toThrow(/aborted/);
});

test('rejects with the code of the system if nothing listens', async () => {
  const refused = httpFetch('http://127.0.0.1:1/', {
    method: 'GET',
    headers: {},
    signal: new AbortController().signal,
    redirect: 'manual',
  });

  await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('an abort ends the request, also while the body arrives', async () => {
  const controller = new AbortController();
  const response = await get((_, response) => void response.writeHead(200).write('{'), controller);
  controller.abort(new Error('enough'));

  await expect(response.text()).rejects.toThrow();
});
