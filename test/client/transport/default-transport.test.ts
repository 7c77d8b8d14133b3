import { Agent, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { ConfigError } from '../../../src/client/index.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { defaultTransport, proxyTransport, type Runtime } from '../../../src/client/transport/default-transport.ts';
import type { Transport } from '../../../src/client/transport/transport.ts';
import { environmentProxy } from '../../../src/environment-proxy.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
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

  expect([first.text, second.text]).toEqual(['first', 'second']);
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

  expect(response.text).toBe('by fetch');
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

test('a runtime with neither undici nor fetch is a ConfigError with the next step', async () => {
  const loadUndici = () => Promise.reject(new Error('no such module'));

  const error = await errorOf(defaultTransport(runtime({ loadUndici, fetch: undefined }))(request));

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(/undici cannot be loaded \(no such module\).*pass the option fetch/);
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

const proxy = environmentProxy({ HTTPS_PROXY: 'http://127.0.0.1:1' }, 'https://fx.test');

const nodeFetch = { fetch: globalThis.fetch };

test.each([
  ['Node', nodeFetch, 'by undici'],
  ['Node 20, which has no navigator,', { ...nodeFetch, navigator: undefined }, 'by undici'],
  ['a sandbox without fetch', { fetch: undefined }, 'by undici'],
  ['Bun', { Bun: {} }, 'by fetch'],
  ['Deno', { Deno: {} }, 'by fetch'],
  ['workerd', { navigator: { userAgent: 'Cloudflare-Workers' } }, 'by fetch'],
])('%s sends with the transport that works there', async (_, globals, text) => {
  respondWith('by undici');

  expect(await sendOn(globals, defaultTransport)).toMatchObject({ text });
});

test.each([
  ['Bun', { Bun: {} }],
  ['Deno', { Deno: {} }],
])('%s sends with its own fetch if the environment names a proxy', async (_, globals) => {
  expect(await sendOn(globals, () => proxyTransport(proxy!))).toMatchObject({ text: 'by fetch' });
});

test.each<[string, Record<string, unknown>, string]>([
  ['workerd', { navigator: { userAgent: 'Cloudflare-Workers' } }, 'undici cannot be loaded (not on this runtime)'],
  ['a runtime without fetch', { Bun: {}, fetch: undefined }, 'undici cannot be loaded (not on this runtime)'],
])('%s cannot send through a proxy of the environment', async (_, globals, why) => {
  const error = await errorOf(sendOn(globals, () => proxyTransport(proxy!)));

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toContain(why);
});

test('a runtime without a global fetch is a ConfigError of the first request', async () => {
  const error = await errorOf(sendOn({ Bun: {}, fetch: undefined }, defaultTransport));

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toContain('there is no global fetch; pass the option fetch');
});
