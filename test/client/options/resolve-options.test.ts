import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import {
  ConfigError,
  FxRates,
  type FxRatesOptions,
  type RequestEvent,
  type RetryEvent,
} from '../../../src/client/index.ts';
import { MemoryStore, readClientOptions } from '../../../src/client/options/option-table.ts';
import { checkBaseUrl, resolveCall, resolveOptions } from '../../../src/client/options/resolve-options.ts';
import { API_KEY, failure, success } from '../../helpers/service-replies.ts';
import { BASE_URL, errorOf, testClient } from '../../helpers/test-client.ts';

const given = { baseUrl: BASE_URL, apiKey: API_KEY };

test('an option that is undefined has its default', () => {
  const options = Object.fromEntries(
    ['timeoutMs', 'deadlineMs', 'rateLimit', 'fetch', 'dispatcher', 'clock', 'onWait'].map((name) => [name, undefined]),
  );

  expect(readClientOptions(options)).toEqual(readClientOptions({}));
});

const DOCUMENTED = ['client-options.ts', 'call-options.ts'].flatMap((file) => {
  const source = readFileSync(new URL(`../../../src/client/options/${file}`, import.meta.url), 'utf8');
  const options = source.slice(source.search(/export interface (?:FxRatesOptions|CallOptions)/));
  const fields = options
    .split('export interface BatchOptions')[0]
    ?.matchAll(/@default ([^\n]+)\n(?: +\* @example[^\n]*\n)? +\*\/\n +readonly (\w+)\?:/g);
  return Array.from(fields ?? [], ([, text = '', name = '']) => [name, text] as const);
});

const known = DOCUMENTED.filter(([, text]) => !/^(?:undefined|process)/.test(text));

test.each(known)('the default of %s is %s, as documented', (name, text) => {
  const call = resolveCall({}, resolveOptions(given));
  const byDefault = { ...call, ...readClientOptions({}) }[name];

  expect(JSON.stringify(byDefault)).toBe(JSON.stringify(runInNewContext(`(${text})`)));
});

const numbers = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '10', null, {}, 10n];
const counts = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '16', null];
const wrong: Record<keyof FxRatesOptions, readonly unknown[]> = {
  baseUrl: ['nowhere', null, 42, {}],
  apiKey: ['two words', null, 42, {}],
  auth: ['Bearer', '', null, true],
  timeoutMs: [...numbers, false],
  deadlineMs: [...numbers, true],
  maxRetries: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null, false],
  onLimit: ['sleep', null, false],
  maxRetryAfterMs: [...numbers, 1.5],
  retryAfterUnit: ['ms', null],
  rateLimit: [
    ...[true, null, 'learn', 60],
    ...counts.flatMap((count) => [{ perMinute: count }, { maxConcurrent: count }]),
  ],
  cache: [
    ...[true, null, 'hour', {}],
    ...[-1, Number.NaN, '5min', null].map((maxAgeMs) => ({ maxAgeMs })),
    ...[{ store: {} }, { staleIfLimitedMs: -1 }, { ttl: 1 }].map((other) => ({ maxAgeMs: 1, ...other })),
    ...[{ staleIfErrorMs: '1h' }, { staleWhileRevalidateMs: -1 }].map((other) => ({ maxAgeMs: 1, ...other })),
  ],
  quotaGuard: [true, null, {}, ...[-1, 1.5, '200', null].map((reserve) => ({ reserve })), { reserve: 1, onLow: 'log' }],
  middleware: [null, {}, () => undefined, ['log']],
  fetch: [null, {}, 'fetch'],
  dispatcher: [null, {}, 'http://proxy.test', { dispatch: true }],
  proxy: ['http://proxy.test:3128', true, null, {}],
  numbers: [null, 'bigint', 1, {}],
  maxResponseBytes: [...numbers, 999, 1000.5],
  allowInsecureHttp: [null, 'true', 1],
  coalesce: [null, 'no', 1],
  headers: [
    ...[null, 'a: b', [['a', 'b']], { a: 1 }, { 'a b': 'c' }],
    ...[{ Authorization: 'x' }, { 'Keep-Alive': '5' }, { 'Proxy-Authorization': 'Basic x' }, { a: 'b\nc' }],
  ],
  clock: [
    ...[null, {}, { now: () => 0 }, { now: 0, sleep: () => undefined }],
    ...[Number.NaN, Number.POSITIVE_INFINITY, new Date(), '0', 0n].map((now) => ({ now: () => now, sleep() {} })),
  ],
  logger: [null, {}, 'console', () => undefined, { warn: true }],
  logLevel: ['verbose', null, 1],
  onCall: [null, {}, 'log'],
  onRequest: [null, {}, 'log'],
  onRetry: [null, {}, 'log'],
  onWait: [null, {}, 'log'],
  onQuota: [null, {}, 'log'],
};
const wrongOptions = Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const));

test.each(wrong.apiKey)('the key %o is refused at once, also without a base URL', async (apiKey) => {
  expect(await errorOf(() => new FxRates({ apiKey } as object))).toMatchObject({ kind: 'config' });
});

test.each(wrongOptions)('the option %s cannot be %o', async (name, value) => {
  const error = await errorOf(() => new FxRates({ ...given, [name]: value }));

  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}[ .:]`)) });
});

test.each([
  [{ tunnel: 5 }, "FxRates options: unknown option 'tunnel'; valid options: baseUrl, apiKey"],
  [
    { signal: AbortSignal.abort() },
    "'signal' is an option of a call; pass it with the call: fx.latest(query, { signal })",
  ],
  [{ constructor: 1 }, "unknown option 'constructor'"],
  [{ logger: { info() {} } }, 'logger: expected an object with warn(message), got an object without warn()'],
  [{ cache: { maxAgeMs: 1, store: { get() {} } } }, 'got an object without set()'],
  [{ apikey: API_KEY }, "FxRates options: unknown option 'apikey'; did you mean 'apiKey'?"],
  [{ ['timeoutMs'.repeat(12)]: 1 }, '; valid options: baseUrl, apiKey'],
  [{ timeout: 1 }, /unknown option 'timeout'; did you mean 'timeoutMs'\?$/],
  [{ rateLimit: { perMinutes: 5 } }, "unknown option 'perMinutes'; did you mean 'perMinute'?"],
  [
    { fetch: async () => new Response(), dispatcher: new Agent() },
    'fetch and dispatcher: cannot be combined, because each decides how a request is sent',
  ],
])('rejects what is wrong in %j', (options, message) => {
  expect(() => new FxRates({ ...given, ...options } as never)).toThrow(ConfigError);
  expect(() => new FxRates({ ...given, ...options } as never)).toThrow(message);
});

test.each([API_KEY, 'a-key-of-another-form-3f9c2d', null, 42])('rejects %j as options', async (value) => {
  const errors = [
    await errorOf(() => new FxRates(value as never)),
    await errorOf(() => new FxRates(given).withOptions(value as never)),
  ];

  for (const error of errors) {
    expect(error).toMatchObject({
      kind: 'config',
      message: expect.stringMatching(/^FxRates options: expected an object/),
    });
    expect(String(error)).not.toContain('89abcdef');
    expect(String(error)).not.toContain('3f9c2d');
  }
});

test.each([
  ['latest', (fx: FxRates) => fx.latest({}, null as never)],
  ['get', (fx: FxRates) => fx.get('/api/v1/latest', null as never)],
])('%s rejects null as options', async (_, call) => {
  await expect(call(new FxRates(given))).rejects.toThrow(' options: expected an object of options, got null');
});

test.each([
  ['signal', { signal: new AbortController() }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['deadlineMs', { deadlineMs: Number.POSITIVE_INFINITY }],
  ['deadlineMs', { deadlineMs: true }],
  ['maxRetries', { maxRetries: 0.5 }],
  ['onLimit', { onLimit: 'ignore' }],
  ['headers', { headers: { Authorization: 'Bearer secret' } }],
  ['schema', { schema: {} }],
  ['schema', { schema: { parse: () => 1 } }],
  ['schema', { schema: null }],
  ['(?:call|get) options', { timeout: 5 }],
  ['(?:call|get) options', 'EUR'],
  ['(?:call|get) options', 'EUR'.split('')],
  ['(?:call|get) options', 5],
])('a call with a wrong %s rejects without a request', async (name, options) => {
  const { fx, fetch } = testClient({});

  const errors = [await errorOf(fx.latest({}, options as never)), await errorOf(fx.get('/p', options as never))];

  for (const error of errors) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}: `)) });
    expect(String(error)).not.toContain('secret');
  }
  expect(fetch.requests).toEqual([]);
});

test('options of a call take precedence over those of the client', () => {
  const ofClient = { timeoutMs: 1, deadlineMs: 2, maxRetries: 3, onLimit: 'throw' } as const;
  const ofCall = { timeoutMs: 9, deadlineMs: 8, maxRetries: 0, onLimit: 'wait' } as const;
  const client = resolveOptions({ ...given, ...ofClient });

  expect(resolveCall({}, client)).toMatchObject(ofClient);
  expect(resolveCall(ofCall, client)).toMatchObject(ofCall);
  expect(resolveCall({ deadlineMs: false }, client).deadlineMs).toBe(Number.POSITIVE_INFINITY);
});

test('options that a class inherits or computes are read', async () => {
  class OfClient {
    get apiKey() {
      return API_KEY;
    }
    get headers() {
      return { 'x-team': 'fx' };
    }
    get cache() {
      return Object.create({ maxAgeMs: 1_000 });
    }
  }
  class OfCall {
    get query() {
      return { base: 'EUR' };
    }
    get maxRetries() {
      return 0;
    }
  }
  const { fetch, clock } = testClient([failure(503), success(), failure(503), success()]);
  const fx = new FxRates(Object.assign(new OfClient(), { baseUrl: BASE_URL, fetch, clock }));
  const derived = fx.withOptions(Object.create({ auth: 'header' }));
  await fx.close();
  const own = new FxRates({ baseUrl: BASE_URL, fetch, clock }).withOptions(new OfClient());

  expect(derived.toJSON()).toEqual(new FxRates(given).toJSON());
  expect(await errorOf(own.get('/api/v1/latest', new OfCall()))).toMatchObject({ status: 503 });
  await own.get('/api/v1/latest', new OfCall());
  await own.get('/api/v1/latest', new OfCall());

  expect(fetch.requests).toHaveLength(2);
  expect(fetch.requests[0]?.url).toMatch(/\?base=EUR$/);
  expect(fetch.requests[0]?.headers).toMatchObject({ 'x-team': 'fx', authorization: `Bearer ${API_KEY}` });
});

class WithGetter {
  get base() {
    return 'EUR';
  }
}

test.each([
  new WithGetter(),
  new (class extends WithGetter {})(),
  Object.create({ base: 'EUR' }),
  Object.create(Object.create(null, { base: { value: 'EUR', enumerable: true } })),
  runInNewContext("Object.create({ base: 'EUR' })"),
])('a query and headers with a property that is inherited, and not sent, are rejected', async (value) => {
  const { fx, fetch } = testClient(success());
  const calls = [() => fx.latest(value), () => fx.get('/p', { query: value }), () => fx.latest({}, { headers: value })];

  for (const call of calls)
    expect(await errorOf(call())).toMatchObject({
      message: expect.stringMatching(/^(query|headers): 'base' is inherited/),
    });
  expect(fetch.requests).toEqual([]);
});

test.each([
  Object.create(null),
  new (class {
    base = 'EUR';
    method() {}
  })(),
  runInNewContext('({ base: 1 })'),
  Object.create({ method() {}, constructor: Object, base: undefined }), // a class in ES5
])('a query and headers of own properties are sent, whatever their class', async (value) => {
  const { fx } = testClient(success());
  const headers = Object.assign(Object.create(Object.getPrototypeOf(value)), { base: 'EUR' });

  await expect(fx.latest(value, { headers })).resolves.toBeDefined();
});

test('a property of Object.prototype is not an option', () => {
  const [client, call] = [resolveOptions(given), resolveCall({}, resolveOptions(given))];
  const added = { maxRetries: 7, deadlineMs: 'long', coalesce: false, headers: { base: 'EUR' }, cache: 'snapshot' };
  const read = () => [resolveOptions(given), resolveCall({}, client)];

  Object.assign(Object.prototype, added);
  let results: ReturnType<typeof read>;
  try {
    results = read();
  } finally {
    for (const name of Object.keys(added)) Reflect.deleteProperty(Object.prototype, name);
  }

  expect(results).toMatchObject([
    { maxRetries: 2, deadlineMs: false, coalesce: true, headers: {}, cache: undefined },
    call,
  ]);
});

const secure = { name: 'baseUrl', allowInsecureHttp: false };

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['https://API.example.com:443//', 'https://api.example.com'],
  ['https://example.com/fx/', 'https://example.com/fx'],
  ['https://example.com/fx?', 'https://example.com/fx'],
  ['https://example.com/a/../b', 'https://example.com/b'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://fx.localhost', 'http://fx.localhost'],
  ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
  ['http://127.8.9.10', 'http://127.8.9.10'],
  ['http://2130706433', 'http://127.0.0.1'],
  ['http://[::1]:3000/', 'http://[::1]:3000'],
  ['http://[::ffff:127.0.0.1]:4010', 'http://[::ffff:7f00:1]:4010'], // the localAddress of a socket that is open to IPv4 and IPv6
  ['http://[::ffff:127.8.9.10]', 'http://[::ffff:7f08:90a]'],
  ['http://localhost.:4010', 'http://localhost.:4010'],
])('%s becomes %s', (given, base) => {
  expect(checkBaseUrl(given, secure)).toBe(base);
  expect(checkBaseUrl(new URL(given), secure)).toBe(base);
});

test.each([
  [null, 'got null'],
  [42, 'got 42 (number)'],
  ['api.example.com', "got 'api.example.com'"],
  ['//api.example.com', "got '//api.example.com'"],
  ['ftp://api.example.com', "got 'ftp://api.example.com'"],
  ['javascript:alert(1)', 'an http or https URL'],
  ['postgres://user:p@ss/word@host/x', "got 'postgres://***@host/x'"],
  ['user:word@api.example.com', "got '***@api.example.com'"],
  ['https://user@api.example.com', 'user name or password'],
  ['https://:word@api.example.com', 'user name or password'],
  ['https://api.example.com?base=EUR', 'contains a query or fragment'],
  ['https://api.example.com/#x', 'contains a query or fragment'],
  ['https://api.example.com/api/v1', "expected a URL without '/api/v1'"],
  ['https://api.example.com/x/api/v1/quota/', "expected a URL without '/api/v1/quota'"],
  ['https://api.example.com/fx/api/v2/', "expected a URL without '/api/v2'"],
])('rejects %s: %s', (given, reason) => {
  expect(() => checkBaseUrl(given, secure)).toThrow(ConfigError);
  expect(() => checkBaseUrl(given, secure)).toThrow(/^baseUrl: /);
  expect(() => checkBaseUrl(given, secure)).toThrow(reason);
});

test.each([
  'http://api.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://notlocalhost',
  'http://10.0.0.1',
  'http://[::2]',
  'http://0.0.0.0',
])('plain http to %s requires allowInsecureHttp', (given) => {
  expect(() => checkBaseUrl(given, secure)).toThrow('plain http');
  expect(checkBaseUrl(given, { ...secure, allowInsecureHttp: true })).toBe(given);
});

test('sends the headers of the client, and those of the call in their place', async () => {
  const headers = { 'X-Team': 'fx', 'Accept-Language': 'en', 'User-Agent': 'my-app/2.0 (https://my.app)' };
  const { fx, fetch } = testClient(success(), { headers });

  await fx.latest({}, { headers: new Headers({ 'accept-language': 'de', 'x-trace': '1' }) });
  await fx.latest({ n: 1 }, { headers: { 'x-team': undefined } });

  const [first, second] = fetch.requests.map(({ headers }) => headers);
  expect(first).toMatchObject({ 'x-team': 'fx', 'accept-language': 'de', 'x-trace': '1', accept: 'application/json' });
  expect(second).toMatchObject({ 'x-team': 'fx', 'accept-language': 'en' });
  for (const sent of [first, second]) {
    expect(sent?.['authorization']).toMatch(/^Bearer /);
    expect(sent?.['user-agent']).toMatch(/^fxrates\/\S+ node\/\S+ my-app\/2\.0 \(https:\/\/my\.app\)$/);
  }
});

test('the events, the meta and the error of a call have one callId', async () => {
  const events: (RequestEvent | RetryEvent)[] = [];
  const note = (event: RequestEvent | RetryEvent) => events.push(event);
  const replies = [
    failure(503, { headers: { 'x-request-id': 'r1' } }),
    { ...success(), headers: { 'request-id': 'r2' } },
    success(),
    failure(418, { headers: { 'cf-ray': 'r4' } }),
  ];
  const { fx, clock } = testClient(replies, { onRequest: note, onRetry: note });

  const { meta } = await clock.run(fx.latest().withMeta());
  const other = await clock.run(fx.latest().withMeta());
  const error = await errorOf(fx.latest());

  expect(meta.callId).toMatch(/^[\da-f-]{36}$/);
  expect(events.slice(0, 3).map(({ callId }) => callId)).toEqual([meta.callId, meta.callId, meta.callId]);
  const requestIds = events.flatMap((event) => ('requestId' in event ? [event.requestId] : []));
  expect(requestIds).toEqual(['r1', 'r2', undefined, 'r4']);
  expect([meta.requestId, other.meta.requestId]).toEqual(['r2', undefined]);
  expect(other.meta.callId).not.toBe(meta.callId);
  const { callId } = events.at(-1) ?? {};
  expect(error).toMatchObject({ requestId: 'r4', callId });
  expect(inspect(error)).toContain(`callId: '${callId}'`);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ requestId: 'r4', callId });
});

/** The same, as slow and as simple as can be: a list, the oldest first. */
class SimpleStore {
  #entries: [string, string][] = [];

  get(key: string): string | undefined {
    return this.#entries.find(([other]) => other === key)?.[1];
  }

  set(key: string, value: string): void {
    this.#entries = [...this.#entries.filter(([other]) => other !== key), [key, value]];
    while (this.#entries.flat().join('').length > CAPACITY) this.#entries.shift();
  }
}

const CAPACITY = 30;

type Action = readonly [name: 'get' | 'set', key: string, value: string];

/** The results of all actions, then the value of each key. */
function trace(store: MemoryStore | SimpleStore, actions: readonly Action[]): unknown[] {
  const given = actions.map(([name, key, value]) => (name === 'get' ? store.get(key) : store.set(key, value)));
  return [...given, ...KEYS.map((key) => store.get(key))];
}

const KEYS = [...'abcdef'];

test('contains the newest entries that fit', () => {
  const action = fc.tuple(fc.constantFrom('get', 'set'), fc.constantFrom(...KEYS), fc.string({ maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
      expect(trace(new MemoryStore(CAPACITY), actions)).toEqual(trace(new SimpleStore(), actions));
    }),
  );
});
