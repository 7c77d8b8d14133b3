import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import {
  type CacheOptions,
  type CacheStore,
  type CallOptions,
  FxRatesError,
  type FxRatesOptions,
} from '../../../src/client/index.ts';
import { decodeEntry, encodeEntry } from '../../../src/client/steps/cache.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { FakeStore, type Misbehaviour } from '../../helpers/fake-store.ts';
import {
  API_KEY,
  exhaustedQuota,
  failedFetch,
  failure,
  quotaRecord,
  rateLimited,
  success,
} from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, schemaOf, testClient } from '../../helpers/test-client.ts';

const OTHER_KEY = `${API_KEY.slice(0, -1)}0`;

/** Responses with increasing numbers, which distinguish them. */
function counting(): Reply {
  let count = 0;
  return () => {
    count += 1;
    return { body: `{"success":true,"data":{"EUR":1.10,"n":${count}}}`, headers: { 'x-request-id': `r${count}` } };
  };
}

const everyFiveMinutes = success(quotaRecord({ snapshot_granularity: '5min' }));
const everyDay = success(quotaRecord({ snapshot_granularity: '24h' }));
const everyMinute = success(quotaRecord({ snapshot_granularity: '1min' }));

type Options = FxRatesOptions & { readonly quota?: Reply; readonly keep?: Partial<CacheOptions> };
type Query = Record<string, string | number>;

function cached(replies: Reply | readonly Reply[] = counting(), { keep = {}, ...options }: Options = {}) {
  const store = new FakeStore();
  const client = testClient(replies, { cache: { maxAgeMs: 60_000, store, ...keep }, ...options });
  const metaOf = async (query: Query = {}, callOptions: CallOptions = {}) => {
    const { data, meta } = await client.fx.latest(query, callOptions).withMeta();
    return { data, source: meta.source, ageMs: meta.ageMs, rawBody: meta.rawBody, headers: meta.headers, meta };
  };
  return { ...client, store, metaOf };
}

test('a cached response has the digits, headers and status as received, until its maximum age', async () => {
  const { metaOf, fetch, clock } = cached();
  const first = await metaOf();
  await clock.advance(59_999);

  const second = await metaOf();

  expect(first).toMatchObject({ source: 'network', ageMs: 0 });
  expect(second).toMatchObject({ source: 'cache', ageMs: 59_999, data: { EUR: 1.1, n: 1 } });
  expect(second.rawBody).toBe('{"success":true,"data":{"EUR":1.10,"n":1}}');
  expect([...second.headers]).toEqual([...first.headers]);
  expect(second.headers.get('x-request-id')).toBe('r1');
  expect(second.meta).toMatchObject({ status: 200, attempts: [], durationMs: 0 });
  expect(fetch.requests).toHaveLength(1);
  await clock.advance(1);
  expect(await metaOf()).toMatchObject({ source: 'network', ageMs: 0, data: { n: 2 } });
  expect(await metaOf()).toMatchObject({ source: 'cache', ageMs: 0, data: { n: 2 } });
});

test('a cached response needs no global Headers (--no-experimental-fetch)', async () => {
  const { fx, fetch } = cached();
  vi.stubGlobal('Headers', undefined);

  for (const _ of [1, 2]) await fx.latest();

  expect(fetch.requests).toHaveLength(1);
});

test.each([
  ['a lower', 30_001, 30_000, 'cache'],
  ['a lower', 30_000, 30_000, 'network'],
  ['a higher', 100_000, 90_000, 'cache'],
])('a call can set %s maximum age (%i ms; after %i ms: %s)', async (_, maxAgeMs, afterMs, source) => {
  const { metaOf, clock } = cached();
  await metaOf();
  await clock.advance(afterMs);

  expect(await metaOf({}, { maxAgeMs })).toMatchObject({ source });
});

test('maxAgeMs: 0 sends a request, and its response is cached for other calls', async () => {
  const { metaOf, store } = cached(counting(), { keep: { staleWhileRevalidateMs: 90_000 } });
  await metaOf();

  expect(await metaOf({}, { maxAgeMs: 0 })).toMatchObject({ source: 'network', data: { n: 2 } });

  expect(await metaOf()).toMatchObject({ source: 'cache', data: { n: 2 } });
  expect(store.ttls).toEqual([90_000, 90_000]);
});

test('the store receives the highest age that a call accepts, in whole milliseconds', async () => {
  const { metaOf, store } = cached(counting(), { keep: { maxAgeMs: 1000.5, staleIfLimitedMs: 5000.2 } });

  await metaOf({ a: 1 });
  await metaOf({ b: 1 }, { maxAgeMs: 9000 });

  expect(store.ttls).toEqual([5001, 9000]);
});

test('another query, path, service or key, but no other order, has a separate cache entry', async () => {
  const { fx, fetch, store } = cached();
  const cache = { maxAgeMs: 60_000, store };
  const elsewhere = testClient(counting(), { cache, baseUrl: 'https://other.test' });
  const other = testClient(counting(), { cache, apiKey: OTHER_KEY });

  await fx.latest({ base: 'EUR', symbols: 'USD' });
  await fx.latest({ symbols: 'USD', base: 'EUR' });
  await fx.latest({ base: 'EUR' });
  await fx.get('/api/v1/other');
  await elsewhere.fx.latest({ base: 'EUR' });
  await other.fx.latest({ base: 'EUR' });

  expect([fetch, elsewhere.fetch, other.fetch].map(({ requests }) => requests.length)).toEqual([3, 1, 1]);
  expect(store.entries.size).toBe(5);
});

test('after a rotation, cached responses belong to the key that requested them', async () => {
  let isRevoked = false;
  const bearer = (key: string) => `Bearer ${key}`;
  const { fx, store, metaOf } = cached(
    ({ headers }) => (isRevoked && headers['authorization'] === bearer(API_KEY) ? failure(401) : success()),
    { apiKey: () => (isRevoked ? OTHER_KEY : API_KEY) },
  );
  await fx.latest({ a: 1 });

  isRevoked = true;
  await fx.latest({ b: 1 });

  const names = [...store.entries.keys()].map((name) => name.split(':').at(-2));
  expect(new Set(names).size).toBe(2);
  expect(await metaOf({ b: 1 })).toMatchObject({ source: 'cache' });
});

test('quota() is never cached, and with an age of 0 nothing is', async () => {
  const { fx, store } = cached(success(quotaRecord()));
  const young = cached(counting(), { keep: { maxAgeMs: 0 } });

  await fx.quota();
  await young.metaOf();

  expect([store.reads, store.writes, young.store.writes]).toEqual([0, 0, 0]);
});

test('a change of cached data by one caller does not affect the next', async () => {
  const { fx } = cached(success({ rates: { EUR: 1 } }));
  await fx.latest();

  Object(await fx.latest()).rates.EUR = 99;

  expect(await fx.latest()).toEqual({ rates: { EUR: 1 } });
});

test('identical calls in flight share one read, one request and one write of the cache', async () => {
  const { metaOf, store, fetch } = cached();

  const responses = await Promise.all(Array.from({ length: 50 }, () => metaOf()));
  expect(responses.map(({ source }) => source)).toEqual(['network', ...Array(49).fill('shared')]);
  expect([store.reads, store.writes, fetch.requests.length]).toEqual([1, 1, 1]);

  const kept = await Promise.all(Array.from({ length: 50 }, () => metaOf()));
  expect(new Set(kept.map(({ source }) => source))).toEqual(new Set(['cache']));
  expect([store.reads, store.writes, fetch.requests.length]).toEqual([2, 1, 1]);
});

/** A client with a response of 30 seconds ago, which is stale. The next reply is `reply`. */
async function stale(reply: Reply = rateLimited('30'), { keep, ...options }: Options = { onLimit: 'throw' }) {
  const client = cached([success(), reply], {
    keep: { maxAgeMs: 1000, staleIfLimitedMs: 60_000, ...keep },
    ...options,
  });
  await client.fx.latest();
  await client.clock.advance(30_000);
  return client;
}

test('with maxAgeMs: 0, a call and a poll reject instead of returning a stale response', async () => {
  const { fx } = await stale();

  expect(await errorOf(fx.latest({}, { maxAgeMs: 0 }))).toMatchObject({ kind: 'rate_limited' });
  const poll = fx.poll({}, { every: 1_000, onLimit: 'throw' })[Symbol.asyncIterator]();
  expect(await errorOf(poll.next())).toMatchObject({ kind: 'rate_limited' });
  await fx.close();
});

test.each<[string, Reply, Options]>([
  ['of a failing service, without staleIfErrorMs', failure(500), { maxRetries: 0 }],
  ['of a network that is down, without it', new Error('down'), { maxRetries: 0 }],
  ['of a failing service, if the response is older', failure(500), { maxRetries: 0, keep: { staleIfErrorMs: 30_000 } }],
  ['of a refused key, with it', failure(401), { keep: { staleIfErrorMs: 60_000 } }],
  ['of a bad request, with it', failure(422), { keep: { staleIfErrorMs: 60_000 } }],
  ['of a broken response, with it', { body: 'no json' }, { keep: { staleIfErrorMs: 60_000 } }],
  [
    'of a used-up month, without staleIfLimitedMs',
    failure(402),
    { quota: success(exhaustedQuota()), keep: { staleIfErrorMs: 60_000, staleIfLimitedMs: 0 } },
  ],
  [
    'of a limit that the call may not wait for, without staleIfLimitedMs',
    rateLimited('30'),
    { onLimit: 'throw', keep: { staleIfErrorMs: 60_000, staleIfLimitedMs: 0 } },
  ],
  ['of a limit, if the response is older', rateLimited('30'), { onLimit: 'throw', keep: { staleIfLimitedMs: 30_000 } }],
])('does not return a stale response instead of the error %s', async (_, reply, options) => {
  const { fx } = await stale(reply, options);

  await expect(fx.latest()).rejects.toThrow(FxRatesError);
});

test.each<[string, Reply, CallOptions, string]>([
  ['a failing service', failure(503), { maxRetries: 0 }, 'server'],
  ['a connection that fails', failedFetch('ECONNRESET'), { maxRetries: 0 }, 'network'],
  ['an attempt that takes too long', 'never', { maxRetries: 0, timeoutMs: 500 }, 'timeout'],
  ['a deadline during a request', 'never', { deadlineMs: 300 }, 'timeout'],
  ['a deadline with a schema', 'never', { deadlineMs: 300, ...({ schema: z.looseObject({}) } as object) }, 'timeout'],
  ['a deadline during the wait for the limit', rateLimited('30'), { deadlineMs: 300 }, 'rate_limited'],
])('staleIfErrorMs returns the response instead of the error of %s', async (_, reply, options, staleReason) => {
  const keep = { staleIfErrorMs: 60_000, staleIfLimitedMs: 0 };
  const { fx, clock } = await stale(reply, { keep });

  const { data, meta } = await clock.run(fx.latest({}, options).withMeta());

  expect(data).toEqual({ base: 'USD', rates: { EUR: 0.92 } });
  expect(meta).toMatchObject({ source: 'stale', staleReason });
  expect(meta.ageMs).toBe(30_000 + meta.durationMs);
  expect(meta.durationMs).toBe(options.deadlineMs && staleReason === 'timeout' ? 300 : (options.timeoutMs ?? 0));
});

test('staleIfErrorMs returns the response during an outage without a request', async () => {
  const { fx, metaOf, clock, fetch } = await stale(failure(503), { keep: { staleIfErrorMs: 3_600_000 } });
  for (const n of [1, 2, 3, 4]) await clock.run(errorOf(fx.latest({ n }, { maxRetries: 0 })));
  const before = fetch.requests.length;

  const { meta } = await clock.run(metaOf({}, { deadlineMs: 100 }));

  expect(meta).toMatchObject({ source: 'stale', staleReason: 'server', attempts: [] });
  expect(fetch.requests).toHaveLength(before);
});

test('each caller receives its own stale data, at its own deadline', async () => {
  const { fx, clock } = await stale('never', { keep: { staleIfErrorMs: 60_000 } });

  const first = fx.latest({}, { deadlineMs: 300 }).withMeta();
  await clock.advance(200);
  const second = fx.latest({}, { deadlineMs: 300 }).withMeta();
  const [one, two] = await clock.run(Promise.all([first, second]));

  expect([one.meta.durationMs, two.meta.durationMs]).toEqual([300, 300]);
  expect(one.data).toEqual(two.data);
  expect(one.data).not.toBe(two.data);
});

test('the meta of a stale response keeps its attempts while the shared call continues', async () => {
  const { fx, clock } = await stale('never', { keep: { staleIfErrorMs: 60_000 } });
  const options = { deadlineMs: 600, timeoutMs: 150 }; // the second attempt ends after the first deadline
  const first = fx.latest({}, options).withMeta();
  await clock.advance(100);
  const second = fx.latest({}, options).withMeta();

  const [one, two] = await clock.run(Promise.all([first, second]));

  expect([one.meta.attempts.length, two.meta.attempts.length]).toEqual([1, 2]);
});

test('a schema that does not end does not hold the stale response beyond timeoutMs', async () => {
  const { fx, clock } = await stale('never', { keep: { staleIfErrorMs: 60_000 } });
  const schema = schemaOf(() => new Promise(() => undefined));

  for (const deadlineMs of [300, false] as const) {
    const error = await clock.run(errorOf(fx.latest({}, { deadlineMs, timeoutMs: 1_000, schema })));
    expect(error).toMatchObject({ kind: 'timeout', scope: 'attempt', limitMs: 1_000 });
  }
});

/** Waits until the client has done what it does after a response. */
const renewed = async ({ clock }: ReturnType<typeof cached>) => clock.run(clock.sleep(1));

test('staleWhileRevalidateMs returns an older response at once, and one request renews it', async () => {
  const client = cached(counting(), { keep: { maxAgeMs: 1_000, staleWhileRevalidateMs: 60_000 } });
  const { metaOf, fetch, clock, fx, store } = client;
  await metaOf();
  await clock.advance(30_000);

  const perRequest = Array.from({ length: 5 }, () => fx.withOptions({ deadlineMs: 2_000 }).latest());
  const old = await Promise.all([metaOf(), metaOf({}, { coalesce: false })]);
  await Promise.all(perRequest);
  await renewed(client);

  expect(old.map(({ meta }) => meta)).toMatchObject([
    { source: 'stale', staleReason: 'revalidate', ageMs: 30_000, durationMs: 0, attempts: [] },
    { source: 'stale', staleReason: 'revalidate' },
  ]);
  expect(fetch.requests).toHaveLength(2);
  const { reads } = store;
  expect(await metaOf()).toMatchObject({ source: 'cache', data: { n: 2 }, meta: { staleReason: undefined } });
  await renewed(client);
  expect(store.reads).toBe(reads + 1); // a young response is not renewed
  await clock.advance(61_000);
  expect(await metaOf()).toMatchObject({ source: 'network', data: { n: 3 } });
});

test.each([
  ['a process, clients with one store renew a response once', undefined, 2],
  ['a Cloudflare Worker, a renewal of another request, which may never end, prevents none', 'Cloudflare-Workers', 3],
])('in %s', async (_, userAgent, requests) => {
  vi.stubGlobal('navigator', { userAgent });
  onTestFinished(() => void vi.unstubAllGlobals());
  const keep = { maxAgeMs: 1_000, staleWhileRevalidateMs: 600_000 };
  const { fx, clock, fetch, store, metaOf } = cached([success(), 'never'], { keep });
  await metaOf();
  await clock.advance(30_000);
  await Promise.all([metaOf(), metaOf({}, { coalesce: false }), fx.withOptions({}).latest()]);

  await testClient([], { cache: { store, ...keep }, clock, fetch }).fx.latest();
  await quiet();

  expect(fetch.requests).toHaveLength(requests);
});

test('a call at the limit receives an older response while its renewal waits', async () => {
  const client = cached(counting(), {
    rateLimit: { perMinute: 1 },
    onLimit: 'throw',
    keep: { maxAgeMs: 1_000, staleWhileRevalidateMs: 600_000 },
  });
  const { metaOf, clock } = client;
  await metaOf();
  await clock.advance(30_000);

  expect(await metaOf()).toMatchObject({ source: 'stale' });
  await clock.advance(30_000);
  await renewed(client);

  expect(await metaOf()).toMatchObject({ source: 'cache', data: { n: 2 } });
});

test('a renewal that is refused again and again ends after a minute, so that the program can end', async () => {
  const client = cached([success({ n: 1 }), ...Array.from({ length: 9 }, () => rateLimited('20'))], {
    keep: { maxAgeMs: 1_000, staleWhileRevalidateMs: 600_000 },
  });
  const { metaOf, clock, fetch } = client;
  await metaOf();
  await clock.advance(30_000);

  await metaOf();
  await clock.advance(120_000);

  expect(fetch.requests.length).toBeLessThan(6);
  expect(await clock.left()).toBe(0);
});

test('a renewal that fails is tried again by the next call, and close() ends it', async () => {
  const replies: Reply[] = [success({ n: 1 }), failure(404), 'never'];
  const client = cached(replies, { keep: { maxAgeMs: 1_000, staleWhileRevalidateMs: 600_000 } });
  const { metaOf, clock, fetch, fx } = client;
  await metaOf();
  await clock.advance(30_000);

  const sources = [await metaOf()];
  await renewed(client);
  sources.push(await metaOf());
  await renewed(client);
  sources.push(await metaOf());
  await fx.close();

  expect(sources.map(({ source }) => source)).toEqual(['stale', 'stale', 'stale']);
  expect(fetch.requests).toHaveLength(3);
  expect(await clock.left()).toBe(0);
});

test('a new process answers from the store before it asks quota() for the interval', async () => {
  const quota = everyDay;
  const keep = { maxAgeMs: 'snapshot', staleWhileRevalidateMs: 172_800_000 } as const;
  const first = cached(counting(), { quota, keep });
  await first.clock.run(first.metaOf());
  await first.clock.advance(7_200_000);
  const next = cached('never', { clock: first.clock, quota: 'never', keep: { ...keep, store: first.store } });
  await first.fx.close();

  const { meta } = await next.metaOf();

  expect(meta).toMatchObject({ source: 'cache', durationMs: 0 });
  await next.fx.close();
});

test('does not return a response that becomes too old while the call waits', async () => {
  const { fx, clock } = cached([success(), rateLimited('40'), rateLimited('40')], {
    keep: { maxAgeMs: 1000, staleIfLimitedMs: 60_000 },
  });
  await fx.latest();
  await clock.advance(30_000);

  const error = await clock.run(errorOf(fx.latest({}, { deadlineMs: 60_000 })));

  expect(error).toMatchObject({ kind: 'rate_limited', reason: 'deadline' });
});

test("'snapshot' applies the interval of a new plan", async () => {
  const quotas = [everyFiveMinutes, everyMinute];
  const { fx, metaOf, clock } = cached(counting(), { cache: 'snapshot', quota: () => quotas.shift()! });
  await metaOf();
  await clock.advance(120_000);
  expect(await metaOf()).toMatchObject({ source: 'cache' });

  await fx.quota();

  expect(await metaOf()).toMatchObject({ source: 'network' });
});

/** Clients of different processes that share a store: each begins without a quota record. */
function processes(quota: Reply, maxAgeMs: 'snapshot' | number) {
  const { fx: first, store, clock } = cached(counting(), { quota, keep: { maxAgeMs } });
  const start = async (replies: Reply, ofStart: Reply) => {
    const { fetch, fx } = cached(replies, { clock, quota: ofStart, cache: { maxAgeMs: 'snapshot', store } });
    return {
      paths: () => fetch.requests.map(({ url }) => new URL(url).pathname.split('/').at(-1)),
      sourceOf: async () => {
        const { meta } = await clock.run(fx.latest().withMeta());
        await fx.close();
        return meta.source;
      },
    };
  };
  const begin = async () => {
    await clock.run(first.latest());
    await first.close();
  };
  return { begin, start, clock };
}

test.each<[string, Reply, 'snapshot' | number, number, Reply, string, readonly string[]]>([
  ['uses a stored response without quota()', everyFiveMinutes, 'snapshot', 299_999, everyFiveMinutes, 'cache', []],
  ['sends after the interval', everyFiveMinutes, 'snapshot', 300_000, everyFiveMinutes, 'network', ['quota', 'latest']],
  ['applies a new plan in an hour', everyDay, 'snapshot', 3_600_000, everyFiveMinutes, 'network', ['quota', 'latest']],
  ['uses the stored interval if quota() fails', everyDay, 'snapshot', 3_600_000, failure(500), 'cache', ['quota']],
  ['ignores another maximum age', everyMinute, 3_600_000, 60_000, everyMinute, 'network', ['quota', 'latest']],
])("'snapshot' in the next process %s", async (...[, quota, maxAgeMs, laterMs, quotaThen, source, paths]) => {
  const { begin, start, clock } = processes(quota, maxAgeMs);
  await begin();
  await clock.advance(laterMs);

  const next = await start(counting(), quotaThen);

  expect(await next.sourceOf()).toBe(source);
  expect(next.paths()).toEqual(paths);
});

test.each([
  ['realtime', "'realtime'"],
  ['now\n\u001b[2Kforged', "'now\\n\\u001b[2Kforged'"],
  ['x'.repeat(10_000), 'a string of 10000 characters'],
])('an interval that cannot be parsed caches nothing and warns once, in one line (%#)', async (interval, shown) => {
  const { metaOf, warnings } = cached(counting(), {
    cache: 'snapshot',
    quota: success(quotaRecord({ snapshot_granularity: interval })),
  });

  const responses = [await metaOf(), await metaOf(), await metaOf()];

  expect(responses.map(({ source }) => source)).toEqual(['network', 'network', 'network']);
  expect(warnings).toEqual([
    `cache: cannot parse snapshot_granularity ${shown}, so each call sends a request; set cache.maxAgeMs to a number of milliseconds`,
  ]);
});

const AWAY = (why: string) =>
  `cache: the store failed (${why}); until it responds again, responses are cached in memory`;

const OTHER =
  'cache: the store has a value that is not a stored response, so the call sends a request; get() must return the text of set()';

const entry = () => ({ storedAtMs: 1_768_000_000_000, status: 200, headers: [], rawBody: '{"a":1.10}' });

const misbehaviours: [string, Misbehaviour][] = [
  ['throws', { throws: new Error('down') }],
  ['throws what is no error', { throws: 'down' }],
  ['rejects', { rejects: new Error('down') }],
  ['gives text of another program', { gives: 'another program' }],
  ['gives its text as JSON', { gives: JSON.stringify(encodeEntry(entry())) }],
  ['gives its text in an object', { gives: { value: encodeEntry(entry()), expires: 0 } }],
];
test.each(misbehaviours)('a store that %s when it is read and written does not fail a call', async (_, fault) => {
  const { metaOf, store, clock, warnings } = cached();
  await metaOf();
  store.onGet = fault;
  store.onSet = fault;
  const startedAt = clock.now();

  const isForeign = typeof fault === 'object' && 'gives' in fault;
  expect(await metaOf()).toMatchObject({ source: 'network', data: { n: 2 } });
  expect(await metaOf()).toMatchObject(isForeign ? { source: 'network' } : { source: 'cache', data: { n: 2 } });

  expect(clock.now()).toBe(startedAt);
  expect(warnings).toEqual([isForeign ? OTHER : AWAY('down')]);
});

test('an entry of another version of the package causes no warning', async () => {
  const { metaOf, store, warnings } = cached();
  store.onGet = { gives: encodeEntry(entry()).replace('"version":1', '"version":9') };

  expect(await metaOf()).toMatchObject({ source: 'network' });
  expect(warnings).toEqual([]);
});

test.each([
  [100, 25],
  [300, 60],
  [1_000, 200],
  [60_000, 500],
  [false as const, 500],
])('with deadlineMs: %j, a store that hangs delays one call by %i ms, and later ones not', async (...row) => {
  const [deadlineMs, waitedMs] = row;
  const { metaOf, store, clock, warnings } = cached();
  store.onGet = 'never';

  const { meta } = await clock.run(metaOf({}, { deadlineMs }));
  await clock.advance(500 - waitedMs); // the outage begins with the first slow use

  expect(meta).toMatchObject({ source: 'network', durationMs: waitedMs });
  expect(warnings).toEqual([AWAY('no response within 500 ms')]);
  expect(await metaOf({ n: 2 }, { deadlineMs })).toMatchObject({ source: 'network', meta: { durationMs: 0 } });
  expect(store.reads).toBe(1);
  expect(await clock.left()).toBe(0);
});

test('while the store is away, responses are cached in memory and one read a second tries it', async () => {
  const { metaOf, store, clock, fetch } = cached();
  store.onGet = 'never';
  store.onSet = { rejects: new Error('down') };
  await clock.run(metaOf());

  const sources: string[] = [];
  for (let second = 0; second < 10; second += 1) {
    sources.push((await metaOf()).source);
    await clock.advance(1_500); // a try takes half a second
  }

  expect(new Set(sources)).toEqual(new Set(['cache']));
  expect(fetch.requests).toHaveLength(1);
  expect(store.reads).toBeGreaterThanOrEqual(5);
  expect(store.reads).toBeLessThanOrEqual(11);
});

test.each<[string, Misbehaviour, string]>([
  ['rejects writes', { rejects: new Error('OOM') }, AWAY('OOM')],
  [
    'returns false for writes',
    { gives: false },
    'cache: the store keeps no responses (set() returned false); they are cached in memory',
  ],
])('a store that can be read and %s costs no request', async (_, fault, warning) => {
  const { metaOf, store, clock, fetch, warnings } = cached();
  await metaOf();
  await clock.advance(60_000);
  store.onSet = fault;

  const sources: string[] = [];
  for (let call = 0; call < 5; call += 1) {
    sources.push((await metaOf()).source);
    await clock.advance(2_000); // the store is tried again
  }

  expect(sources).toEqual(['network', 'cache', 'cache', 'cache', 'cache']);
  expect(warnings).toEqual([warning]);
  store.onSet = undefined;
  await metaOf({ n: 2 });
  await clock.advance(2_000);
  store.entries.clear();
  expect(await metaOf()).toMatchObject({ source: 'cache' }); // the store never had it
  expect(await metaOf({ n: 2 })).toMatchObject({ source: 'network' }); // the store has the last word again
  expect(fetch.requests).toHaveLength(4);
});

test('a store that hangs when it is written delays no call and leaves no timer', async () => {
  const { metaOf, store, clock } = cached();
  store.onSet = 'never';

  expect(await metaOf()).toMatchObject({ source: 'network', meta: { durationMs: 0 } });
  await clock.advance(500);

  expect(await clock.left()).toBe(0);
});

/** Clients with a store that has a value 100 ms after `set()`. */
function slowlyStored() {
  const clock = new FakeClock();
  const kept: string[] = [];
  const store: CacheStore = {
    get: () => kept.at(-1),
    set: (_, text) => clock.sleep(100).then(() => kept.push(text)),
  };
  const keep = { maxAgeMs: 1_000, staleWhileRevalidateMs: 60_000 };
  return { ...testClient(counting(), { cache: { store, ...keep }, clock }), clock, kept };
}

test.each<[string, (stored: ReturnType<typeof slowlyStored>) => unknown, number]>([
  ['a call', ({ fx }) => fx.latest(), 1],
  ['calls of a client of withOptions()', ({ fx }) => Promise.all(differentCalls(fx.withOptions({}), 3)), 3],
  [
    'a renewal',
    async ({ fx, clock }) => {
      await fx.latest();
      await clock.advance(30_000);
      await fx.latest();
      await quiet(); // the renewal has its response
    },
    2,
  ],
])('close() waits until the store has the response of %s', async (_, use, responses) => {
  const client = slowlyStored();
  await use(client);
  expect(client.kept.length).toBeLessThan(responses);

  await client.clock.run(client.fx.close());

  expect(client.kept).toHaveLength(responses);
});

test('close() waits for each write that a call has begun, whenever it is called', async () => {
  for (let ticks = 0; ticks < 60; ticks += 1) {
    const { fx, clock, kept, fetch } = slowlyStored();
    const call = fx.latest().catch((error: unknown) => error);
    for (let tick = 0; tick < ticks; tick += 1) await undefined;

    await clock.run(fx.close());

    const begun = clock.sleeps.filter((ms) => ms === 100);
    expect([ticks, kept.length]).toEqual([ticks, begun.length]);
    if (!((await call) instanceof Error)) expect([fetch.requests.length, kept.length]).toEqual([1, 1]);
  }
});

test('close() waits at most 500 ms for a store that hangs', async () => {
  const { fx, store, clock } = cached();
  store.onSet = 'never';
  await fx.latest();
  const startedAt = clock.now();

  await clock.run(fx.close());

  expect(clock.now() - startedAt).toBe(500);
  expect(await clock.left()).toBe(0);
});

test.each<[string, Parameters<FakeStore['overwrite']>[0]]>([
  ['is not what the contract says any more', (kept) => ({ ...kept, rawBody: '{"success":true,"data":[1]}' })],
  ['fails', (kept) => ({ ...kept, rawBody: '{"success":false,"error":{"code":"x","message":"y","status":400}}' })],
  ['is no JSON', (kept) => ({ ...kept, rawBody: '{"success":' })],
  ['comes from the future', (kept) => ({ ...kept, storedAtMs: kept.storedAtMs + 60_001 })],
])('a cached response that %s is ignored and replaced', async (_, change) => {
  const { metaOf, store } = cached();
  await metaOf();
  store.overwrite(change);

  expect(await metaOf()).toMatchObject({ source: 'network', data: { n: 2 } });

  expect(await metaOf()).toMatchObject({ source: 'cache', data: { n: 2 } });
});

test('a cached response from a clock that is at most a minute ahead has the age 0', async () => {
  const { metaOf, store } = cached();
  await metaOf();
  store.overwrite((kept) => ({ ...kept, storedAtMs: kept.storedAtMs + 60_000 }));

  expect(await metaOf()).toMatchObject({ source: 'cache', ageMs: 0 });
});

test.each([API_KEY, 'of-another-form/"quoted"+0123456789'])('the key %s is not in the store', async (apiKey) => {
  const echo = [
    success({ you: apiKey }),
    success({ you: encodeURIComponent(apiKey) }),
    { ...success(), headers: { 'x-key': apiKey } },
    success({ plain: true }),
  ];
  const { fx, store } = cached(echo, { apiKey });

  for (const n of [1, 2, 3, 4]) await fx.latest({ n, mine: apiKey });

  const everything = JSON.stringify([...store.entries]);
  expect(store.entries.size).toBe(1);
  for (const form of [apiKey, encodeURIComponent(apiKey), apiKey.slice(-10)]) expect(everything).not.toContain(form);
});

test('rejects maxAgeMs if the client has no cache', async () => {
  const { fx } = testClient(success());

  await expect(fx.latest({}, { maxAgeMs: 0 })).rejects.toMatchObject({
    kind: 'config',
    message: 'maxAgeMs: this client has no cache; create it with the option cache',
  });
});

test('the name of a cache entry has a digest of the headers of a call, not their values', async () => {
  const { fx, store } = cached();

  await fx.latest({}, { headers: { 'x-user': 'secret-of-a-user' } });

  expect([...store.entries.keys()]).toEqual([expect.stringMatching(/latest:[0-9a-f]{16}$/)]);
  expect(JSON.stringify([...store.entries])).not.toContain('secret-of-a-user');
});

/** An entry whose first line is another one. */
const stored = (changes: object) => {
  const [line = '', body] = encodeEntry(entry()).split('\n');
  return `${JSON.stringify({ ...JSON.parse(line), ...changes })}\n${body}`;
};

test('an entry is decoded exactly as it was encoded', () => {
  const headers = fc
    .array(fc.tuple(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), fc.stringMatching(/^[!-~]{1,12}$/)))
    .map((pairs) => [...new Headers(pairs)]);
  const entries = fc.record({
    storedAtMs: fc.integer({ min: 0, max: 4e12 }),
    snapshotMs: fc.option(fc.nat(), { nil: undefined }),
    status: fc.integer({ min: 200, max: 299 }),
    headers,
    rawBody: fc.string({ unit: 'binary' }),
  });
  fc.assert(
    fc.property(entries, (given) => {
      expect(decodeEntry(encodeEntry(given))).toEqual(given);
    }),
  );
});

test('decodes an entry from bytes, with several headers of one name', () => {
  const kept = { ...entry(), headers: [['set-cookie', 'a=1'] as const, ['set-cookie', 'b=2'] as const] };

  expect(decodeEntry(Buffer.from(encodeEntry(kept)))).toEqual(kept);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['an object', { version: 1 }],
  ['text that is no JSON', 'not json'],
  ['half an entry', encodeEntry(entry()).slice(0, 40)],
  ['JSON null', 'null'],
  ['a JSON list', '[]'],
  ['another version', stored({ version: 2 })],
  ['no version', stored({ version: undefined })],
  ['no time', stored({ storedAtMs: undefined })],
  ['a time that is text', stored({ storedAtMs: '1' })],
  ['a time without end', encodeEntry(entry()).replace('1768000000000', '1e999')],
  ['no status', stored({ status: undefined })],
  ['a status that is none', stored({ status: 'ok' })],
  ['no second line', encodeEntry(entry()).replace('\n', '')],
  ['no headers', stored({ headers: undefined })],
  ['headers as an object', stored({ headers: { a: 'b' } })],
  ['headers that are no pairs', stored({ headers: ['a'] })],
  ['headers of three', stored({ headers: [['a', 'b', 'c']] })],
  ['a header that cannot be', stored({ headers: [['bad name\n', 'x']] })],
  ['a header with a line break', stored({ headers: [['a', 'x\r\ny']] })],
])('%s is not an entry', (_, value) => {
  expect(decodeEntry(value)).toBeUndefined();
});
