import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ClientEvents } from '../../../src/client/call/events.ts';
import { fileStore } from '../../../src/client/file-store/index.ts';
import { FxRates, type FxRatesError, type FxRatesOptions, type WaitEvent } from '../../../src/client/index.ts';
import { ApiKey } from '../../../src/client/key/api-key.ts';
import { resolveOptions } from '../../../src/client/options/resolve-options.ts';
import { redisStore } from '../../../src/client/redis/index.ts';
import { ignoredOptionsWarning, KeyState, KeyStates } from '../../../src/client/state/key-state.ts';
import { Lifetime } from '../../../src/client/state/lifetime.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failedFetch, failure, quotaRecord, success } from '../../helpers/service-replies.ts';
import { BASE_URL, errorOf, testClient } from '../../helpers/test-client.ts';

const KEY = ApiKey.from(API_KEY);

function stateWith(options: FxRatesOptions = {}): KeyState {
  const settings = resolveOptions({ clock: new FakeClock(), ...options });
  return new KeyState(KEY, { ...settings, baseUrl: BASE_URL });
}

/** A client, with the waits and warnings that its program receives. */
function client() {
  const waits: WaitEvent[] = [];
  const warnings: string[] = [];
  const logger = { warn: (message: string) => warnings.push(message) };
  const hooks = { logger, onWait: (event: WaitEvent) => waits.push(event) };
  return { events: new ClientEvents(hooks, new Map()), waits, warnings };
}

test.each<[FxRatesOptions, number, number | undefined]>([
  [{}, 1, 1],
  [{}, 30, 30],
  [{}, 0, undefined],
  [{}, -1, undefined],
  [{}, 2.5, undefined],
  [{}, 2 ** 53, undefined],
  [{ rateLimit: { perMinute: 60 } }, 30, 60],
  [{ rateLimit: false }, 30, undefined],
])('with %j, a quota record with a limit of %d per minute sets the limit to %s', (options, perMinute, expected) => {
  const state = stateWith(options);

  state.sawQuota(quotaRecord({ rate_limit_per_minute: perMinute }), 0);

  expect(state.limits()?.perMinute).toBe(expected);
  expect(state.limits() === undefined).toBe(options.rateLimit === false);
  expect(state.quota.estimate()?.quota.rate_limit_per_minute).toBe(perMinute);
});

test('a warning goes to the clients with waiting calls, or to the last one that waited', () => {
  const state = stateWith();
  const [one, other] = [client(), client()];
  state.warn('before all calls');
  for (const { events } of [one, other]) state.join(events);
  state.warn('the store failed');
  for (const { events } of [one, other]) state.leave(events);
  state.warn('the store failed again');

  expect([one, other].map(({ warnings }) => warnings)).toEqual([
    ['the store failed'],
    ['the store failed', 'the store failed again'],
  ]);
});

const perMinute = (limit: number | 'learn') => ({ rateLimit: { perMinute: limit } });

const WHY =
  'ignored, because all clients of key fx_live_…cdef in this process share one limit, with the options of the first client; pass the same options to each, and the same store';

const OTHER_URL = 'https://other.test';
const redis = { eval: async () => ['0', '', '', '0'], evalSha: () => undefined };

/** The warnings of the last of these clients of one key. */
function warningsOfLast(...clients: FxRatesOptions[]) {
  const clock = new FakeClock();
  return clients.map((options) => testClient([], { clock, ...options }).warnings).at(-1);
}

test.each<[FxRatesOptions, FxRatesOptions, string]>([
  [{}, perMinute(60), "rateLimit.perMinute: 60 (in use: 'learn')"],
  [perMinute(30), perMinute('learn'), "rateLimit.perMinute: 'learn' (in use: 30)"],
  [{}, { rateLimit: { maxConcurrent: 4 } }, 'rateLimit.maxConcurrent: 4 (in use: 16)'],
  [{}, { maxRetryAfterMs: 5000 }, 'maxRetryAfterMs: 5000 (in use: 600000)'],
  [{}, { retryAfterUnit: 'milliseconds' }, "retryAfterUnit: 'milliseconds' (in use: 'auto')"],
  [{ rateLimit: false }, { rateLimit: false, retryAfterUnit: 'seconds' }, "retryAfterUnit: 'seconds' (in use: 'auto')"],
  [
    { retryAfterUnit: 'seconds' },
    { ...perMinute(60), retryAfterUnit: 'milliseconds' },
    "rateLimit.perMinute: 60 (in use: 'learn'), retryAfterUnit: 'milliseconds' (in use: 'seconds')",
  ],
  ...[redisStore(redis, { prefix: 'staging' }), redisStore({ ...redis })].map(
    (store): [FxRatesOptions, FxRatesOptions, string] => [
      { rateLimit: { store: redisStore(redis) } },
      { rateLimit: { store } },
      'rateLimit.store: [Object] (in use: [Object])',
    ],
  ),
])('after a client with %j, one with %j warns of options without effect', (first, second, what) => {
  expect(warningsOfLast(first, second)).toEqual([`${what}: ${WHY}`]);
});

test.each<[FxRatesOptions, FxRatesOptions]>([
  [{}, {}],
  [{ rateLimit: { perMinute: 30 }, maxRetryAfterMs: 5000 }, {}],
  [{ rateLimit: { perMinute: 30 } }, { rateLimit: { perMinute: 30 } }],
  [{ rateLimit: { store: fileStore('limits') } }, { rateLimit: { store: fileStore('./limits') } }],
  [{ rateLimit: { store: redisStore(redis) } }, { rateLimit: { store: redisStore(redis, { prefix: 'fxrates' }) } }],
  [{}, { timeoutMs: 5, onLimit: 'throw', maxRetries: 0 }],
  [{ rateLimit: { perMinute: 30 } }, { rateLimit: false, retryAfterUnit: 'seconds' }],
  [{ rateLimit: false }, { rateLimit: false, maxRetryAfterMs: 5000 }],
  [{}, { rateLimit: { perMinute: 60 }, apiKey: `fx_live_${'f'.repeat(48)}` }],
  [{}, { rateLimit: { perMinute: 60 }, baseUrl: 'https://other.test' }],
])('after a client with %j, one with %j does not warn', (first, second) => {
  expect(warningsOfLast(first, second)).toEqual([]);
});

test('a derived client warns of options without effect when its key is known', async () => {
  const { fx, warnings } = testClient(success(), { apiKey: async () => API_KEY });

  await fx.withOptions(perMinute(60)).latest();

  expect(warnings).toEqual([`rateLimit.perMinute: 60 (in use: 'learn'): ${WHY}`]);
});

test('the warning does not show the contents of an option, such as the password of a store', () => {
  const store = { exchange: () => Promise.reject(new Error('not used')), url: 'redis://user:secret@redis.test' };

  expect(ignoredOptionsWarning({ 'rateLimit.store': store }, { key: 'fx_live_…cdef', options: {} })).toBe(
    `rateLimit.store: [Object] (in use: undefined): ${WHY}`,
  );
});

test('onKey is called once with the key of a provider', async () => {
  const clock = new FakeClock();
  testClient([], { clock });
  const { fx, warnings } = testClient({}, { clock, apiKey: () => API_KEY, rateLimit: { maxConcurrent: 4 } });
  expect(warnings).toEqual([]);

  await Promise.all([fx.latest({ call: 1 }), fx.latest({ call: 2 })]);

  expect(warnings).toHaveLength(1);
});

function statesOf(options: FxRatesOptions, lifetime = new Lifetime()): KeyStates {
  return new KeyStates(resolveOptions({ ...options, baseUrl: options.baseUrl ?? BASE_URL }), {
    lifetime,
    onState() {},
  });
}

function keyNumber(index: number): ApiKey {
  return ApiKey.from(`fx_live_${String(index).padStart(48, '0')}`);
}

test.each<[string, boolean, FxRatesOptions, ApiKey?]>([
  ['another path and other options', true, { baseUrl: `${BASE_URL}/b`, timeoutMs: 5 }],
  ['another host', false, { baseUrl: 'https://other.test' }],
  ['another port', false, { baseUrl: 'https://fx.test:8443' }],
  ['another clock', false, { clock: new FakeClock() }],
  ['no queue', false, { rateLimit: false }],
  ['another key', false, {}, keyNumber(1)],
  ['the key in capitals', false, {}, ApiKey.from(API_KEY.toUpperCase())],
])('a client with %s shares the state of a key: %j', (_, isShared, options, key = ApiKey.from(API_KEY)) => {
  const clock = new FakeClock();

  const state = statesOf({ clock, ...options }).of(key);

  expect(state === statesOf({ clock }).of(ApiKey.from(API_KEY))).toBe(isShared);
});

test('two copies of the package in one process share the state of a key', async () => {
  const state = statesOf({}).of(keyNumber(0));
  vi.resetModules();
  const copy = await import('../../../src/client/state/key-state.ts');
  const { resolveOptions: resolve } = await import('../../../src/client/options/resolve-options.ts');
  const settings = { ...resolve({}), baseUrl: BASE_URL };

  expect(copy.KeyStates).not.toBe(KeyStates);
  expect(new copy.KeyStates(settings, { lifetime: new Lifetime(), onState() {} }).of(keyNumber(0))).toBe(state);
  expect(settings.time).toBe(state.time);
});

/** Two clients of one key, from two copies of the package. */
async function clientsOfTwoCopies(reply: Reply, options: FxRatesOptions = {}) {
  const client = testClient(reply, { quota: success(quotaRecord()), maxRetries: 0, ...options });
  const { clock, fetch } = client;
  vi.resetModules();
  const { FxRates: Copy } = await import('../../../src/client/index.ts');
  const other = new Copy({ baseUrl: BASE_URL, apiKey: API_KEY, clock, fetch, maxRetries: 0, ...options });
  return { ...client, other };
}

test.each([
  [failure(503, { headers: { 'retry-after': '30' } }), 'ServerError', 503, ': Some text. (HTTP 503, some_code)'],
  [{ status: 500, headers: { 'retry-after': '30' }, body: '' }, 'ServerError', 500, ' (HTTP 500)'],
  [failedFetch('ECONNREFUSED'), 'NetworkError', undefined, ' (ECONNREFUSED)'],
])(
  'a call knows from the calls of another copy of the package why the service is down (%#)',
  async (reply, name, status, said) => {
    const { fx, other, clock } = await clientsOfTwoCopies(reply, { onLimit: 'throw' });
    for (let call = 0; fx.limits()?.reason !== 'service'; call += 1) await errorOf(other.latest({ call }));

    const error = await clock.run(errorOf(fx.latest()));

    expect(error).toMatchObject({ name, status, attempts: [] });
    expect((error as FxRatesError).summary).toBe(`The service is down${said}`);
  },
);

test.each([
  [success(), 1],
  [failure(500), 1],
  [failure(401), 0],
  [failure(403), 0],
  [failedFetch('ECONNRESET'), 1],
  [failedFetch('ECONNREFUSED'), 0],
])('the quota counts the same requests of another copy of the package (%#)', async (reply, usedSince) => {
  const { fx, other } = await clientsOfTwoCopies(reply);
  await fx.quota();

  await other.latest().catch(() => undefined);

  expect(fx.quotaEstimate()).toMatchObject({ usedSince });
});

test('clients of two copies of the package do not warn of different stores for one folder or Redis client', async () => {
  const { clock, fetch } = testClient(success(), { rateLimit: { store: fileStore('limits') } });
  testClient(success(), { clock, baseUrl: OTHER_URL, rateLimit: { store: redisStore(redis) } });
  const warnings: string[] = [];
  vi.resetModules();
  const copyOf = {
    ...(await import('../../../src/client/file-store/index.ts')),
    ...(await import('../../../src/client/redis/index.ts')),
  };
  const options = { apiKey: API_KEY, clock, fetch, logger: { warn: (message: string) => void warnings.push(message) } };

  new FxRates({ ...options, baseUrl: BASE_URL, rateLimit: { store: copyOf.fileStore('limits') } });
  new FxRates({ ...options, baseUrl: OTHER_URL, rateLimit: { store: copyOf.redisStore(redis) } });

  expect(warnings).toEqual([]);
});

test('a client that is created while the state of its key is closed gets another state', async () => {
  const key = keyNumber(9);
  const state = statesOf({}).of(key);

  const closing = state.close();

  expect(statesOf({}).of(key)).not.toBe(state);
  await closing;
});

test('in a Cloudflare Worker, only a client and its withOptions() share the state of a key', () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const lifetime = new Lifetime();
  const key = keyNumber(3);

  const state = statesOf({}, lifetime).of(key);

  expect(statesOf({}, new Lifetime(lifetime)).of(key)).toBe(state);
  expect(statesOf({}).of(key)).not.toBe(state);
});

test('the shared states contain no full key, at any depth', () => {
  const key = keyNumber(5);
  statesOf({}).of(key);
  const shared = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
    description?.startsWith('fxrates.key-states'),
  )!;

  const shown = inspect(Reflect.get(globalThis, shared), { showHidden: true, depth: Number.POSITIVE_INFINITY });

  expect(Object.getOwnPropertyDescriptor(globalThis, shared)?.enumerable).toBe(false);
  expect(shown).toContain('KeyState');
  expect(shown).not.toContain(key.reveal());
});

test('the state of a key is removed with the last of its clients', async () => {
  const clock = new FakeClock();
  const lifetimes = [new Lifetime(), new Lifetime()] as const;
  const [state] = lifetimes.map((lifetime) => {
    const states = statesOf({ clock }, lifetime);
    states.of(keyNumber(1)); // held once, however often it is used
    states.of(keyNumber(2));
    return states.of(keyNumber(1));
  });
  await lifetimes[0].close();
  const held = statesOf({ clock }, lifetimes[1]).of(keyNumber(1));
  await lifetimes[1].close();

  expect(held).toBe(state);
  expect(statesOf({ clock }).of(keyNumber(1))).not.toBe(state);
});

test('closing a client made from another one does not remove the state of their key', async () => {
  const [parent, clock] = [new Lifetime(), new FakeClock()];
  const child = new Lifetime(parent);
  const state = statesOf({ clock }, parent).of(keyNumber(1));
  expect(statesOf({ clock }, child).of(keyNumber(1))).toBe(state);

  await child.close();

  expect(statesOf({ clock }, parent).of(keyNumber(1))).toBe(state);
});
