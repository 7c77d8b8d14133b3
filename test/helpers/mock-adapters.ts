import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import * as undici from 'undici';
import type { AdapterName } from '../../src/mock-server/http/message.ts';
import type { MockServer } from '../../src/mock-server/index.ts';

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
  { name: 'a real socket, by node:http', adapter: 'socket', open: (mock) => serving(mock, byNodeHttp) },
  { name: 'a real socket, by undici', adapter: 'socket', open: (mock) => serving(mock, byUndici) },
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
