import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { promisify } from 'node:util';
import {
  Agent,
  Dispatcher,
  EnvHttpProxyAgent,
  getGlobalDispatcher,
  MockAgent,
  Pool,
  ProxyAgent,
  setGlobalDispatcher,
} from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError, FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { proxyTransport } from '../../../src/client/transport/default-transport.ts';
import { environmentProxy, proxyDispatcher } from '../../../src/environment-proxy.ts';
import { probeService } from '../../../src/probe/index.ts';
import { bundledProgram } from '../../helpers/child-program.ts';
import { type ConnectProxy, startConnectProxy } from '../../helpers/connect-proxy.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
import { close, listen } from '../../helpers/listen.ts';
import { type RawServerOptions, startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY, success } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

const run = promisify(execFile);
const fixture = (name: string) => new URL(`../../fixtures/tls/${name}`, import.meta.url).pathname;
const child = await bundledProgram(new URL('./proxy.child.ts', import.meta.url));
const NAMES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];
const SERVICE = 'http://rates.fxrates.test';
const { env } = process;

const service = createHttpServer((_, response) => response.end(JSON.stringify(success({ EUR: 1 }).body)));
let servicePort = 0;
let proxy: ConnectProxy;
const clients: FxRates[] = [];

beforeAll(async () => {
  servicePort = await listen(service);
});

afterAll(() => close(service));

beforeEach(async () => {
  proxy = await startConnectProxy({ port: servicePort });
  process.env = { ...env };
  for (const name of NAMES) {
    delete process.env[name];
    delete process.env[name.toUpperCase()];
  }
});

afterEach(async () => {
  process.env = env;
  await Promise.all(clients.splice(0).map((fx) => fx.close())); // the next one does not wait for the failures of this one
  await proxy.close();
});

/** A client of a service whose name only the proxy can resolve. */
function client(options: FxRatesOptions = {}): FxRates {
  const fx = new FxRates({ baseUrl: SERVICE, allowInsecureHttp: true, apiKey: API_KEY, maxRetries: 0, ...options });
  clients.push(fx);
  return fx;
}

/** Responds to the requests that do not go through a proxy, although no name server knows the service. */
function respondDirectly(): void {
  restoreDispatcher();
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent
    .get(SERVICE)
    .intercept({ path: '/api/v1/latest' })
    .reply(200, JSON.stringify(success({ EUR: 3 }).body));
  setGlobalDispatcher(agent);
}

/** After the test. */
function restoreDispatcher(): void {
  const before = getGlobalDispatcher();
  onTestFinished(() => setGlobalDispatcher(before));
}

test.each([
  ['HTTP_PROXY', {}],
  ['http_proxy', { HTTP_PROXY: 'http://127.0.0.1:1' }],
  ['ALL_PROXY', {}],
  ['all_proxy', {}],
])('sends through the proxy of %s, with its user and password, beside %j', async (name, others) => {
  Object.assign(process.env, others, { [name]: proxy.url.replace('http://', 'http://user:p%40ss@') });

  await client({ proxy: 'env' }).latest();

  expect(proxy.requests).toEqual([expect.stringContaining('rates.fxrates.test')]);
  expect(proxy.credentials.at(-1)).toBe('user:p@ss');
});

test.each<[FxRatesOptions, string]>([
  [{}, ''],
  [{ proxy: undefined }, ''],
  [{ proxy: false }, ''],
  [{ proxy: 'env' }, 'rates.fxrates.test'],
  [{ proxy: 'env' }, '.fxrates.test'],
  [{ proxy: 'env' }, '*'],
])('sends to no proxy with %j and NO_PROXY=%s', async (options, noProxy) => {
  Object.assign(process.env, { HTTP_PROXY: proxy.url, NO_PROXY: noProxy });
  respondDirectly();

  expect(await client(options).latest()).toEqual({ EUR: 3 });
  expect(proxy.requests).toEqual([]);
});

/** Gives undici 7 a dispatcher that passes each request to the one of undici 8. */
function wrapGlobalDispatcher(): void {
  const [one, two] = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`)) as [symbol, symbol];
  class Dispatcher1Wrapper extends Dispatcher {
    readonly #inner: Dispatcher;
    constructor(inner: Dispatcher) {
      super();
      this.#inner = inner;
    }
    override dispatch(...request: Parameters<Dispatcher['dispatch']>): boolean {
      return this.#inner.dispatch(...request);
    }
  }
  const inner = Reflect.get(globalThis, one) as Dispatcher;
  Reflect.set(globalThis, two, inner);
  Reflect.set(globalThis, one, new Dispatcher1Wrapper(inner));
}

const nodeFetch = globalThis.fetch;
const around: typeof fetch = (url, init) => nodeFetch(url, init);
const probeEnd = ({ code }: { readonly code: unknown }) => code === 'probe_failed' && { EUR: 1 }; // it expects a quota record
const latestByClient = (options: FxRatesOptions) => async (baseUrl: string) => client({ baseUrl, ...options }).latest();

test.each<[string, (baseUrl: string) => Promise<unknown>, typeof fetch?]>([
  ['no option', latestByClient({})],
  ["proxy: 'env'", latestByClient({ proxy: 'env' })],
  ['proxy: false', latestByClient({ proxy: false })],
  ['the fetch of Node.js', latestByClient({ fetch: nodeFetch })],
  ['a function around that fetch', latestByClient({ fetch: around })],
  ['a function that replaces the global fetch', latestByClient({}), around],
  ['probeService()', (baseUrl) => probeService(baseUrl, { apiKey: API_KEY }).catch(probeEnd)],
])(
  'reaches a service on this machine without a proxy with %s, also if Node sends through one',
  async (_, call, fetch) => {
    restoreDispatcher();
    if (fetch !== undefined) vi.stubGlobal('fetch', fetch);
    onTestFinished(() => void vi.unstubAllGlobals());
    process.env['HTTP_PROXY'] = proxy.url;
    const baseUrl = `http://127.0.0.1:${servicePort}`;

    expect(await call(baseUrl)).toEqual({ EUR: 1 });
    setGlobalDispatcher(new EnvHttpProxyAgent()); // as Node does with NODE_USE_ENV_PROXY
    expect(await call(baseUrl)).toEqual({ EUR: 1 });
    wrapGlobalDispatcher(); // as Node 26 does
    expect(await call(baseUrl)).toEqual({ EUR: 1 });
    expect(proxy.requests).toEqual([]);
  },
);

test('the fetch of Node.js sends to other hosts through the proxy that it uses', async () => {
  restoreDispatcher();
  process.env['HTTP_PROXY'] = proxy.url;
  setGlobalDispatcher(new EnvHttpProxyAgent());

  expect(await client({ fetch: nodeFetch }).latest()).toEqual({ EUR: 1 });
  expect(proxy.requests).toHaveLength(1);
});

test('sends https through a CONNECT tunnel, and lets the process end', async () => {
  const [key, cert] = ['key.pem', 'cert.pem'].map(fixture);
  const secure = createServer({ key: readFileSync(key ?? ''), cert: readFileSync(cert ?? '') }, (_, response) =>
    response.end(JSON.stringify(success({ EUR: 1 }).body)),
  );
  const tunnels = await startConnectProxy({ port: await listen(secure) });
  onTestFinished(async () => void (await Promise.all([tunnels.close(), close(secure)])));
  const childEnv = { ...process.env, NODE_EXTRA_CA_CERTS: cert, HTTPS_PROXY: tunnels.url };

  const { stdout } = await run(process.execPath, [child, 'https://rates.fxrates.test'], { env: childEnv });

  expect(JSON.parse(stdout)).toEqual({ EUR: 1 });
  expect(new Set(tunnels.requests)).toEqual(new Set(['CONNECT rates.fxrates.test:443']));
});

test('clients made by withOptions share the connections to the proxy', async () => {
  process.env['HTTP_PROXY'] = proxy.url;
  const fx = client({ proxy: 'env' });

  for (let n = 0; n < 8; n += 1) await fx.withOptions({ timeoutMs: 5_000 + n }).latest({ n });

  expect(proxy.requests.length).toBeLessThan(4);
});

test('a retry uses none of the open tunnels, which may be broken as well', async () => {
  process.env['HTTP_PROXY'] = proxy.url;
  const through = environmentProxy(process.env, SERVICE);
  const transport = proxyTransport(through!);
  const request = { url: `${SERVICE}/a`, headers: {}, cancellation: new Cancellation(), maxBytes: 1_000 };
  await transport(request);
  await transport(request);
  const usual = proxy.requests.length;

  for (let retry = 0; retry < 3; retry += 1) await transport({ ...request, isRetry: true });

  expect(proxy.requests.length - usual).toBe(3);
});

const CLOSED = /closed the connection; check HTTP_PROXY/;

test.each<[string, RawServerOptions, RegExp]>([
  ['closes the connection', { onConnection: (socket) => socket.destroy() }, CLOSED],
  ['ends the connection', { onRequest: ({ socket }) => socket.end() }, CLOSED],
  ['resets it', { onRequest: ({ socket }) => socket.resetAndDestroy() }, CLOSED],
  ['sends half a status line', { onRequest: ({ socket }) => socket.end('HTTP/1.1 200 O') }, CLOSED],
  [
    'is no HTTP server',
    { onRequest: ({ socket }) => socket.end('SSH-2.0\r\n') },
    /did not respond as a proxy \(.+\); check HTTP_PROXY/,
  ],
])('a proxy that %s is named, and fails the attempt once', async (_, options, message) => {
  const rude = await startRawServer(options);
  process.env['HTTP_PROXY'] = rude.url;

  const error = await errorOf(client({ proxy: 'env' }).latest());
  await rude.close();

  expect(error).toMatchObject({ kind: 'network', code: 'PROXY_FAILED', isProxyFailure: true });
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
  expect(rude.connections()).toBe(1);
});

test('a proxy of two variables is named with that of the client', async () => {
  Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' });
  const failureOf = async (baseUrl: string) => String(await errorOf(client({ proxy: 'env', baseUrl }).latest()));

  expect(await failureOf(SERVICE)).toContain('(HTTP_PROXY)');
  expect(await failureOf(SERVICE.replace('http:', 'https:'))).toContain('(HTTPS_PROXY)');
});

test('a proxy that never responds is named', async () => {
  const silent = await startRawServer({ onRequest: () => undefined });
  const through = environmentProxy({ HTTP_PROXY: silent.url }, SERVICE);
  const dispatcher = proxyDispatcher({ Pool, ProxyAgent }, through!, { tunnelTimeoutMs: 20 });

  const error = await errorOf(client({ dispatcher }).latest());
  await dispatcher.destroy();
  await silent.close();

  const message = expect.stringContaining('(HTTP_PROXY) did not respond; check HTTP_PROXY');
  expect(error).toMatchObject({ code: 'PROXY_FAILED', isProxyFailure: true, message });
});

test('a proxy that cannot be used is a ConfigError of the constructor', async () => {
  process.env['HTTP_PROXY'] = 'http://us@er:sec/ret@proxy.test:3128';

  const error = await errorOf(() => client({ proxy: 'env' }));

  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({
    message:
      "proxy: HTTP_PROXY 'http://***@proxy.test:3128' is not the URL of a proxy; in a user or password, write / as %2F, ? as %3F, # as %23 and \\ as %5C; expected a URL such as http://proxy.example:3128",
  });
});

test.each([
  ['fetch', { fetch: fakeFetch({}) }],
  ['dispatcher', { dispatcher: new Agent() }],
] as const)(
  'proxy and %s exclude each other, except in withOptions, which replaces the inherited one',
  (name, other) => {
    process.env['HTTP_PROXY'] = proxy.url;

    expect(() => client({ proxy: 'env', ...other })).toThrow(`${name} and proxy: cannot be combined`);
    expect(() => client({ proxy: 'env' }).withOptions(other)).not.toThrow();
    expect(() => client(other).withOptions({ proxy: 'env' })).not.toThrow();
  },
);

test('withOptions can turn the proxy off, and proxy: false keeps an inherited fetch', async () => {
  process.env['HTTP_PROXY'] = proxy.url;
  respondDirectly();
  const fetch = fakeFetch(success({ EUR: 2 }));

  expect(await client({ proxy: 'env' }).withOptions({ proxy: false }).latest()).toEqual({ EUR: 3 });
  expect(await client({ fetch }).withOptions({ proxy: false }).latest()).toEqual({ EUR: 2 });
  expect(proxy.requests).toEqual([]);
});
