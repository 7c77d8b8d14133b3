import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { setupServer } from 'msw/node';
import * as undici from 'undici';
import type { AdapterName, MockServer } from '../../src/mock-server/index.ts';

/** A request in a form that every adapter can send. */
export interface PlainRequest {
  readonly method?: string;
  /** Path and query. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A response, without the headers of one connection (RFC 9110 §7.6.1). */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Send = (request: PlainRequest) => Promise<PlainResponse>;

/** An adapter of the mock. `open` returns a function that sends requests through it, and one that closes it. */
export interface MockAdapter {
  readonly name: string;
  readonly adapter: AdapterName;
  /** For a URL without scheme, msw reads the path `//a/b` of node:http as the host `a`. */
  readonly losesDoubleSlash?: boolean;
  readonly open: (mock: MockServer) => Promise<{ readonly send: Send; readonly close: () => Promise<void> }>;
}

export const mockAdapters: readonly MockAdapter[] = [
  {
    name: 'mock.fetch',
    adapter: 'fetch',
    open: async (mock) => ({ send: byFetch(mock.fetch, mock.baseUrl), close: async () => {} }),
  },
  {
    name: 'global fetch, intercepted by mock.listen()',
    adapter: 'msw',
    open: (mock) => listening(mock, byFetch(fetch, mock.baseUrl)),
  },
  {
    name: 'node:http, intercepted by mock.listen()',
    adapter: 'msw',
    losesDoubleSlash: true,
    open: (mock) => listening(mock, byNodeHttp(mock.baseUrl)),
  },
  {
    name: "a test suite's own msw with mock.handlers",
    adapter: 'msw',
    open: async (mock) => {
      const server = setupServer(...mock.handlers);
      server.listen({ onUnhandledRequest: 'error', onUnhandledFrame: 'error' } as object); // msw 2 and 3
      return { send: byFetch(globalThis.fetch, mock.baseUrl), close: async () => server.close() };
    },
  },
  { name: 'a real socket, by node:http', adapter: 'socket', open: (mock) => serving(mock, byNodeHttp) },
  { name: 'a real socket, by undici', adapter: 'socket', open: (mock) => serving(mock, byUndici) },
  { name: 'a real socket, by fetch', adapter: 'socket', open: (mock) => serving(mock, (url) => byFetch(fetch, url)) },
];

async function listening(mock: MockServer, send: Send) {
  mock.listen();
  return { send, close: () => mock.close() };
}

async function serving(mock: MockServer, sendTo: (url: string) => Send) {
  const server = await mock.serve();
  return { send: sendTo(server.url), close: () => server.close() };
}

function byFetch(fetchOf: typeof fetch, origin: string): Send {
  // Read at each call, because interception replaces the global one.
  const fetchNow: typeof fetch = (...call) => (fetchOf === originalFetch ? globalThis.fetch : fetchOf)(...call);
  return async ({ method = 'GET', target, headers = {}, body }) => {
    const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body }) };
    const response = await fetchNow(origin + target, init);
    return plain(response.status, Object.fromEntries(response.headers), await response.text());
  };
}

const originalFetch = globalThis.fetch;

/** With node:http, which leaves the target as it is. */
export function byNodeHttp(origin: string): Send {
  return ({ method = 'GET', target, headers = {}, body }) =>
    new Promise((resolve, reject) => {
      // Without keep-alive: an agent of an intercepted process must not reuse a socket of another test.
      const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` };
      const { request } = origin.startsWith('https:') ? https : http;
      const options = { path: target, method, headers: { ...length, ...headers }, agent: false };
      const sending = request(origin, options, (response) => {
        text(response).then((body) => {
          resolve(plain(response.statusCode ?? 0, response.headers as Record<string, string>, body));
        }, reject);
      });
      sending.on('error', reject);
      sending.end(body);
    });
}

function byUndici(origin: string): Send {
  return async ({ method = 'GET', target, headers = {}, body }) => {
    const response = await undici.request(origin + target, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return plain(response.statusCode, response.headers as Record<string, string>, await response.body.text());
  };
}

const OF_ONE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function plain(status: number, headers: Readonly<Record<string, string>>, body: string): PlainResponse {
  const kept = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name));
  return { status, headers: Object.fromEntries(kept.sort()), body };
}
