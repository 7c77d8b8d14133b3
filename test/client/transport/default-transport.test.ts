import { Agent, Dispatcher, getGlobalDispatcher, interceptors, MockAgent, Pool, setGlobalDispatcher } from 'undici';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError, FxRates } from '../../../src/client/index.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { defaultTransport, proxyTransport, type Runtime } from '../../../src/client/transport/default-transport.ts';
import type { Transport } from '../../../src/client/transport/transport.ts';
import { environmentProxy } from '../../../src/environment-proxy.ts';
import { probeService } from '../../../src/probe/index.ts';
import { runScript } from '../../helpers/child-program.ts';
import { deferred } from '../../helpers/deferred.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

const request = {
  url: 'https://fx.test/a',
  headers: {},
  cancellation: new Cancellation(),
  maxBytes: 1000,
};
const usual = getGlobalDispatcher();

afterEach(() => setGlobalDispatcher(usual));

function runtime(changes: Partial<Runtime> = {}): Runtime {
  const fetch = fakeFetch({ body: 'by fetch' });
  const node = { hasNodeSockets: true, hasProxyFetch: false, fetch, replacedFetch: undefined };
  return {
    ...node,
    loadUndici: () => import('undici'),
    newConnection: () => ({}),
    ...changes,
  };
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

function refuse(): never {
  throw new Error('not sent');
}

/** The Agent that receives a request while `dispatcher` is the global one. */
async function receiverOf(dispatcher: Dispatcher): Promise<unknown> {
  setGlobalDispatcher(dispatcher);
  const dispatch = vi.spyOn(Agent.prototype, 'dispatch').mockImplementation(refuse);
  await defaultTransport(runtime())(request).catch(() => undefined);
  const [receiver] = dispatch.mock.contexts;
  dispatch.mockRestore();
  return receiver;
}

class OtherAgent extends Dispatcher {
  static override readonly name = 'Agent';
  override readonly dispatch = refuse;
}

test.each<[string, boolean, () => Dispatcher]>([
  ['no options', false, () => new Agent()],
  ['connect', true, () => new Agent({ connect: { timeout: 5 } })],
  ['connections', true, () => new Agent({ connections: 1 })],
  ['factory', true, () => new Agent({ factory: (origin) => new Pool(origin) })],
  ['a method of its own', true, () => Object.assign(new Agent(), { dispatch: refuse })],
  ['an interceptor', true, () => new Agent().compose(interceptors.redirect())], // retry() would wait for real
  ['the name of an Agent', true, () => new OtherAgent()],
])('a global dispatcher with %s is used, and not the Agent of the client: %j', async (_, isUsed, create) => {
  const own = await receiverOf(new Agent());
  const receiver = await receiverOf(create());

  expect(receiver !== own).toBe(isUsed);
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

test.each([
  ['http://127.0.0.1:4010', { HTTP_PROXY: 'http://squid.test:3128' }, 'HTTP_PROXY'],
  ['http://mock.localhost:4010', { all_proxy: 'squid.test:3128' }, 'all_proxy'],
  ['https://[::1]:4010', { https_proxy: 'http://user:secret@squid.test:3128' }, 'https_proxy'],
  ['http://127.0.0.1:4010', { HTTP_PROXY: 'http://squid.test:3128', NO_PROXY: '127.0.0.1' }, undefined],
  ['http://127.0.0.1:4010', {}, undefined],
  ['https://fx.test', { HTTPS_PROXY: 'http://squid.test:3128' }, undefined],
])('the fetch of Bun and Deno sends nothing to %s through a proxy of %j', async (origin, variables, named) => {
  const { env } = process;
  onTestFinished(() => {
    process.env = env;
  });
  process.env = variables;
  vi.stubGlobal('Bun', {});
  onTestFinished(() => void vi.unstubAllGlobals());
  const { hostname } = new URL(origin);
  const message = `baseUrl: ${hostname} is this machine, but the fetch of this runtime sends through the proxy squid.test:3128 (${named}); set NO_PROXY=${hostname}`;
  const transport = defaultTransport(runtime({ hasNodeSockets: false, hasProxyFetch: true }));
  const send = () => transport({ ...request, url: `${origin}/a` }).then(({ rawBody }) => rawBody);

  expect(await send().catch((error: unknown) => error)).toEqual(
    named === undefined ? 'by fetch' : new ConfigError(message),
  );
  if (named !== undefined) {
    const options = { apiKey: API_KEY, fetch: globalThis.fetch };
    expect(await errorOf(new FxRates({ baseUrl: origin, ...options }).latest())).toMatchObject({
      kind: 'config',
      message,
    });
    expect(await errorOf(probeService(origin, options))).toMatchObject({ code: 'invalid_option', message });
  }
  vi.stubGlobal('fetch', fakeFetch({})); // as msw does
  expect(await send()).toBe('by fetch');
});

test('the clients of a process import undici once, because a loader can make each import slow', async () => {
  const { stdout } = await runScript(`
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(\`
      import { writeSync } from 'node:fs';
      export async function resolve(specifier, context, next) {
        if (specifier === 'undici') writeSync(1, 'undici ');
        return next(specifier, context);
      }
    \`));
    const { FxRates } = await import('./src/client/index.ts');
    for (const n of [1, 2, 3]) {
      const fx = new FxRates({ baseUrl: 'http://127.0.0.1:1', apiKey: '${API_KEY}', maxRetries: 0 });
      await fx.latest({ n }).catch(() => undefined);
      await fx.withOptions({ timeoutMs: 1_000 }).latest({ n: -n }).catch(() => undefined);
    }
  `);

  expect(stdout).toBe('undici ');
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

const proxied = () => proxyTransport(through);

test.each<[string, Record<string, unknown>, string, (() => Transport)?]>([
  ['Node', nodeFetch, 'by undici'],
  ['Node 20, which has no navigator,', { ...nodeFetch, navigator: undefined }, 'by undici'],
  ['a sandbox without fetch', { fetch: undefined }, 'by undici'],
  ['Bun', { Bun: {} }, 'by fetch'],
  ['Deno', { Deno: {} }, 'by fetch'],
  ['workerd', onWorkerd, 'by fetch'],
  ['Bun, whose fetch uses the proxy of the environment,', { Bun: {} }, 'by fetch', proxied],
  ['Deno, whose fetch does too,', { Deno: {} }, 'by fetch', proxied],
])('%s sends with the transport that works there', async (_, globals, text, transport = defaultTransport) => {
  respondWith('by undici');

  expect(await sendOn(globals, transport)).toMatchObject({ rawBody: text });
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

const neither = runtime({ ...bundled, fetch: undefined });
test.each([
  ['a runtime without fetch', () => sendOn({ Bun: {}, fetch: undefined }, defaultTransport), /no global fetch; pass/],
  [
    'a runtime without fetch, where undici cannot be loaded,',
    () => defaultTransport(neither)(request),
    /undici cannot be loaded \(no require\).*pass the option fetch/,
  ],
])('%s is a ConfigError of the first request, with the next step', async (_, send, message) => {
  const error = await errorOf(send());

  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(message);
});
