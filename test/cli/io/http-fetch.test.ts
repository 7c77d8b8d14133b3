import { createServer, globalAgent, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { httpFetch } from '../../../src/cli/io/http-fetch.ts';
import { close, listen } from '../../helpers/listen.ts';

test('sends the method, the path and the headers; reads status, headers and body', async () => {
  const answer: RequestListener = ({ method, url, headers }, response) => {
    response.writeHead(201, 'Made', [
      ...['x-b', '1'],
      ...['x-b', '2'],
      ...['X-A', '0'],
      ...['date', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ]);
    response.end(`${method} ${url} ${headers['x-one']} …`);
  };
  const server = createServer(answer);
  onTestFinished(() => close(server));
  const origin = `127.0.0.1:${await listen(server)}`;
  const { signal } = new AbortController();

  const response = await httpFetch(`http://${origin}/a?b=c`, {
    ...{ method: 'GET', headers: { 'x-one': '1' }, signal, redirect: 'manual' },
  });

  // Through the global agent, it would reach the proxy of NODE_USE_ENV_PROXY.
  expect(Object.keys(globalAgent.sockets)).not.toContain(`${origin}:`);
  expect([response.status, response.statusText]).toEqual([201, 'Made']);
  expect([response.headers.get('X-B'), response.headers.get('x-c')]).toEqual(['1, 2', null]);
  expect(['X-B', 'x-c', 'constructor'].map((name) => response.headers.has(name))).toEqual([true, false, false]);
  expect([...response.headers].slice(-2)).toEqual([
    ['x-a', '0'],
    ['x-b', '1, 2'],
  ]);
  expect(await response.text()).toBe('GET /a?b=c 1 …');
});
