import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { BatchItem, BatchOptions, BatchProgress, CallEvent, FxRatesOptions } from '../../../src/client/index.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet, ticksUntilSettled } from '../../helpers/fake-clock.ts';
import type { Reply, SentRequest } from '../../helpers/fake-fetch.ts';
import { clientOnMock } from '../../helpers/mock-with-key.ts';
import { failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { errorOf, listOf, testClient } from '../../helpers/test-client.ts';

interface Numbered {
  readonly [name: string]: number;
  readonly n: number;
}

const queries = (count: number): readonly Numbered[] => Array.from({ length: count }, (_, n) => ({ n }));
const numberIn = ({ url }: Pick<SentRequest, 'url'>) => Number(new URL(url).searchParams.get('n'));
/** Responds with the number in the query. */
const echo = (request: SentRequest) => success({ n: numberIn(request) });
const oneFails = (request: SentRequest) => (numberIn(request) === 1 ? failure(404) : echo(request));

interface Run extends BatchOptions {
  /** Default: the number in the query. */
  readonly reply?: (request: SentRequest) => Reply;
  /** Milliseconds until the response to query number `n`. Default: 0. */
  readonly takesMs?: (n: number) => number;
  readonly client?: FxRatesOptions;
}

/** Runs a batch of these queries, or of so many, to its end. Returns its results and what it reported. */
async function runBatch(source: Iterable<Numbered> | number, run: Run = {}) {
  const { reply = echo, takesMs = () => 0, client, ...options } = run;
  const { fx, clock } = testClient(async (request) => {
    await clock.sleep(takesMs(numberIn(request)));
    return reply(request);
  }, client);
  const progress: BatchProgress[] = [];
  const onProgress = (event: BatchProgress) => progress.push(event);
  const batch = fx.batch(typeof source === 'number' ? queries(source) : source, { ...options, onProgress });
  const { size } = batch.left();
  return { items: await clock.run(listOf(batch)), progress, size };
}

const numbersOf = (items: readonly BatchItem<Numbered, unknown>[]) => items.map(({ query }) => query.n);

test('returns each query with its value when its call ends, and leaves no listener on its signal', async () => {
  const { signal } = new AbortController();

  const { items } = await runBatch(3, { signal, takesMs: (n) => [300, 100, 200][n] ?? 0 });

  const ended = [1, 2, 0].map((n) => ({ n }));
  expect(items).toMatchObject(ended.map((query) => ({ query, value: query, meta: { status: 200 } })));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('equal queries of a batch share one request, and each has its own data', async () => {
  const events: CallEvent[] = [];
  const onCall = (event: CallEvent) => void events.push(event);
  const slow = async (request: SentRequest) => {
    await quiet(); // meanwhile, the batch reads as many queries as its concurrency allows
    return echo(request);
  };
  const { fx, fetch } = testClient(slow, { rateLimit: { perMinute: 30 }, onCall });
  const progress: BatchProgress[] = [];

  const twelve = queries(1_000).map(({ n }) => ({ n: n % 12 }));
  const items = await listOf(fx.batch<Numbered>(twelve, { onProgress: (event) => progress.push(event) }));

  expect(fetch.requests).toHaveLength(12);
  expect(items).toHaveLength(1_000);
  expect(items.filter(({ query, value }) => value?.n !== query.n)).toEqual([]);
  expect(new Set(items.map(({ value }) => value)).size).toBe(1_000);
  expect(new Set(items.map(({ meta }) => meta?.source))).toEqual(new Set(['network', 'shared', 'cache']));
  const etas = progress.map(({ etaMs = Number.NaN }) => etaMs); // at first, after a hundred queries, 12 % seem to be new
  expect(Math.max(...etas)).toBeLessThanOrEqual(60_000);
  expect(Math.max(...etas.slice(300))).toBe(0);
  expect(events.filter(({ source }) => source === 'network')).toHaveLength(12);
});

/** Runs queries with the number 0, each after a pause of `everyMs`. */
async function repeat(
  count: number,
  everyMs: number,
  { keep, ...options }: BatchOptions & { keep?: FxRatesOptions } = {},
) {
  const { fx, fetch, clock } = testClient([failure(404), ...Array(9).fill(success({ n: 0 }))], keep);
  async function* source() {
    for (let index = 0; index < count; index += 1) {
      yield { n: 0 };
      await clock.sleep(everyMs);
    }
  }
  const items = await clock.run(listOf(fx.batch(source(), { concurrency: 1, ...options })));
  const sources = items.map(({ meta, error }) => meta?.source ?? error?.kind);
  return { sources, ages: items.map(({ meta }) => meta?.ageMs), requests: fetch.requests.length };
}

test('a response is reused for 60 s, and a failure is not', async () => {
  const { sources, ages } = await repeat(6, 20_000);

  expect(sources).toEqual(['request', 'network', 'cache', 'cache', 'network', 'cache']);
  expect(ages).toEqual([undefined, 0, 20_000, 40_000, 0, 20_000]);
});

test.each([
  ['coalesce: false of the batch', { coalesce: false }, 4],
  ['coalesce: false of the client', { keep: { coalesce: false } }, 4],
  ['maxAgeMs: 0', { maxAgeMs: 0, keep: { cache: { maxAgeMs: 60_000 } } }, 4],
  ['a maxAgeMs of 15 s', { maxAgeMs: 15_000, keep: { cache: { maxAgeMs: 1 } } }, 3],
])('with %s, equal queries are sent again', async (_, options, expected) => {
  const { requests } = await repeat(4, 10_000, options);

  expect(requests).toBe(expected);
});

const failingStore = {
  get: () => Promise.reject(new Error('away')),
  set: () => Promise.reject(new Error('away')),
};

test.each<[string, FxRatesOptions, BatchOptions?]>([
  ['no responses, because quota() fails', { cache: 'snapshot' }],
  ['responses for failures only', { cache: { maxAgeMs: 0, staleIfErrorMs: 3_600_000 } }],
  ['responses for 1 s', { cache: { maxAgeMs: 1_000 } }],
  ['responses for 15 s, and accepts older ones', { cache: { maxAgeMs: 15_000 } }, { maxAgeMs: 3_600_000 }],
  ['no responses, because its store fails', { cache: { maxAgeMs: 1_000, store: failingStore } }],
])('a batch sends equal queries once, also if the cache keeps %s', async (_, options, ofBatch) => {
  const reply = async (request: SentRequest) => {
    await clock.sleep(1_000);
    return request.url.endsWith('/quota') ? failure(403) : echo(request);
  };
  const { fx, fetch, clock } = testClient(reply, { rateLimit: { perMinute: 30 }, ...options });
  const twelve = queries(600).map(({ n }) => ({ n: n % 12 }));

  const items = await clock.run(listOf(fx.batch<Numbered>(twelve, { concurrency: 1, ...ofBatch })));

  expect(items.filter(({ query, value }) => value?.n !== query.n)).toEqual([]);
  expect(fetch.requests.filter(({ url }) => !url.endsWith('/quota'))).toHaveLength(12);
});

test.each<[string, FxRatesOptions, BatchOptions, readonly (number | undefined)[]]>([
  ['is reused longer than 60 s', { cache: { maxAgeMs: 100_000 } }, {}, [0, 25_000, 50_000, 75_000, 0]],
  ['has its own age', { cache: { maxAgeMs: 1 } }, { maxAgeMs: 1e9 }, [0, 25_000, 50_000, 75_000, 100_000]],
  [
    'is also that of coalesce: false',
    { cache: { maxAgeMs: 60_000 } },
    { coalesce: false },
    [0, 25_000, 50_000, 0, 25_000],
  ],
])('a response in the cache of the client %s', async (_, keep, options, expected) => {
  const { ages } = await repeat(6, 25_000, { keep, ...options });

  expect(ages).toEqual([undefined, ...expected]);
});

test('a stale response is not reused in the batch, and is not older than the client accepts', async () => {
  const { fx, fetch, clock } = testClient([success({ n: 0 }), ...Array(9).fill(failure(500))], {
    maxRetries: 0,
    cache: { maxAgeMs: 1, staleIfErrorMs: 100_000 },
  });
  async function* source() {
    for (let index = 0; index < 6; index += 1) {
      yield { n: 0 };
      await clock.sleep(25_000);
    }
  }

  const items = await clock.run(listOf(fx.batch(source(), { concurrency: 1 })));

  expect(items.map(({ meta, error }) => meta?.source ?? error?.kind)).toEqual([
    ...['network', 'cache', 'cache', 'stale', 'server', 'server'],
  ]);
  expect(fetch.requests).toHaveLength(4);
});

test('two batches share no response', async () => {
  const { fx, fetch } = testClient(echo);

  await listOf(fx.batch([{ n: 0 }, { n: 0 }]));
  await listOf(fx.batch([{ n: 0 }]));

  expect(fetch.requests).toHaveLength(2);
});

test('of two batches that share a request, each keeps the response', async () => {
  const { fx, fetch } = testClient(echo);
  const run = () => listOf(fx.batch([{ n: 0 }, { n: 1 }, { n: 0 }], { concurrency: 1 }));

  await Promise.all([run(), run()]);

  expect(fetch.requests.map(numberIn)).toEqual([0, 1]);
});

test('a batch keeps at most 16 million characters', async () => {
  const long = 'x'.repeat(6_000_000);
  const { fx, fetch } = testClient(() => success({ long }));

  const repeated = [0, 1, 2, 1, 2, 0].map((n) => ({ n }));
  await listOf(fx.batch(repeated, { concurrency: 1 }));

  expect(fetch.requests.map(numberIn)).toEqual([0, 1, 2, 0]);
});

test('etaMs does not wait for the limit if the cache has the responses', async () => {
  const { fx, clock } = testClient(echo, { cache: { maxAgeMs: 1e9 }, rateLimit: { perMinute: 10 } });
  await clock.run(listOf(fx.batch(queries(300))));
  const progress: BatchProgress[] = [];

  await listOf(fx.batch(queries(300), { onProgress: (event) => progress.push(event) }));

  expect(Math.max(...progress.map(({ etaMs = Number.NaN }) => etaMs))).toBe(0);
});

test.each<[string, FxRatesOptions, readonly Numbered[]]>([
  ['are equal', {}, queries(600).map(({ n }) => ({ n: n % 2 === 0 ? n : 1 }))],
  ['have a cached response', { cache: { maxAgeMs: 1e9 } }, queries(600)],
])('etaMs counts no requests for the half of the queries that %s', async (_, options, given) => {
  const { fx, clock } = testClient(echo, { rateLimit: { perMinute: 10 }, ...options });
  await clock.run(listOf(fx.batch(given.filter(({ n }) => n % 2 === 1))));
  await clock.advance(60_000);
  const progress: BatchProgress[] = [];

  await clock.run(listOf(fx.batch(given, { onProgress: (event) => progress.push(event) })));

  const early = progress[100]; // about 300 requests at 10 per minute
  expect(early?.etaMs).toBeGreaterThan(25 * 60_000);
  expect(early?.etaMs).toBeLessThan(35 * 60_000);
});

test('etaMs counts the queries that are not read yet, and no waiting calls of others', async () => {
  const { fx, clock } = testClient(echo, { rateLimit: { perMinute: 10 } });
  const others = Promise.all(queries(100).map((query) => fx.latest(query)));
  const progress: BatchProgress[] = [];
  const options = {
    concurrency: 1,
    priority: 'high',
    onProgress: (event: BatchProgress) => progress.push(event),
  } as const;

  await clock.run(listOf(fx.batch(queries(40), options)));

  const [first] = progress; // 39 requests at 10 per minute
  expect(first?.waiting).toBeGreaterThan(80);
  expect(first?.etaMs).toBeGreaterThan(180_000);
  expect(first?.etaMs).toBeLessThanOrEqual(240_000);
  await clock.run(others);
});

test('hundreds of queries through a limit of thirty per minute all succeed, with an etaMs', async () => {
  const { mock, fx } = clientOnMock();
  const startedAt = mock.clock.now();
  const reports: { readonly endsAt: number; readonly progress: BatchProgress }[] = [];
  const onProgress = (progress: BatchProgress) =>
    reports.push({ endsAt: mock.clock.now() + (progress.etaMs ?? Number.NaN), progress });

  const items = await listOf(fx.batch(queries(400), { onProgress }));

  expect(items.filter(({ error }) => error !== undefined)).toEqual([]);
  const endedAt = mock.clock.now();
  expect((endedAt - startedAt) / 60_000).toBeGreaterThan(12);
  expect((endedAt - startedAt) / 60_000).toBeLessThan(15);
  const late = reports.slice(30, 390).map(({ endsAt }) => Math.abs(endsAt - endedAt));
  expect(Math.max(...late)).toBeLessThan(61_000);
  expect(reports.some(({ progress }) => progress.waiting > 0)).toBe(true);
});

test('a deadline that is set includes the queue', async () => {
  const { fx } = clientOnMock();
  await fx.quota();

  const items = await listOf(fx.batch(queries(40), { deadlineMs: 5_000 }));

  const late = items.filter(({ error }) => error?.kind === 'rate_limited' && error.reason === 'deadline');
  expect(late.length).toBeGreaterThanOrEqual(10);
});

test('waits for the limit even if the client does not', async () => {
  const replies = [rateLimited('1'), success({ n: 0 })];

  const { items } = await runBatch(1, { reply: () => replies.shift() ?? success(), client: { onLimit: 'throw' } });

  expect(items).toMatchObject([{ value: { n: 0 } }]);
});

test('sends nothing before the first result is requested', async () => {
  const { fx, fetch } = testClient(echo);

  const batch = fx.batch(queries(3));
  await quiet();
  expect(fetch.requests).toEqual([]);

  await listOf(batch);
  expect(fetch.requests).toHaveLength(3);
});

/** Queries without an end. Counts those that were read. */
function endless() {
  let taken = 0;
  function* source(): Generator<Numbered> {
    for (;;) yield { n: taken++ };
  }
  return { source: source(), taken: () => taken };
}

test('reads no more queries than the concurrency allows until a result is read', async () => {
  const { source, taken } = endless();
  const { fx, fetch } = testClient(echo, { rateLimit: { perMinute: 10_000 } });
  const results = fx.batch(source, { concurrency: 4 })[Symbol.asyncIterator]();

  await results.next();
  await quiet();
  expect([taken(), fetch.requests.length]).toEqual([4, 4]);

  for (let read = 0; read < 500; read += 1) await results.next();
  await quiet();
  expect(taken()).toBe(504);
  await results.return();
});

test.each([
  ['by default', { perMinute: 10_000 }, 256],
  ['without a queue', false as const, 16],
])('%s, with the rateLimit %j, reads %i queries at once', async (_, rateLimit, expected) => {
  const { source, taken } = endless();
  const { fx } = testClient('never', { rateLimit });
  const results = fx.batch(source)[Symbol.asyncIterator]();
  results.next().catch(() => undefined);

  for (let turn = 0; turn < 100; turn += 1) await quiet();

  expect(taken()).toBe(expected);
});

test('a slow source delays no result', async () => {
  const { fx, clock } = testClient(echo);
  async function* slow() {
    yield { n: 0 };
    await new Promise(() => undefined);
  }
  const results = fx.batch(slow())[Symbol.asyncIterator]();

  expect(await clock.run(results.next())).toMatchObject({ value: { query: { n: 0 } } });
});

test('an abort returns the available results, then throws; left() has the other queries', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const { fx } = testClient((request) => (numberIn(request) < 2 ? echo(request) : ('never' as const)));
  const batch = fx.batch(queries(10), { signal: stop.signal, concurrency: 4 });
  const results = batch[Symbol.asyncIterator]();
  expect(await results.next()).toMatchObject({ value: { query: { n: 0 } } });
  await quiet();

  stop.abort(reason);

  expect(await results.next()).toMatchObject({ value: { query: { n: 1 } } });
  expect(await errorOf(results.next())).toMatchObject({ kind: 'aborted', cause: reason });
  const left = batch.left();
  expect(left.size).toBe(8);
  expect(await listOf(left)).toEqual(queries(10).slice(2));
});

test('a batch with a signal that has aborted sends nothing', async () => {
  const { fx, fetch } = testClient(echo);
  const batch = fx.batch(queries(2), { signal: AbortSignal.abort() });

  expect(await errorOf(listOf(batch))).toMatchObject({ kind: 'aborted' });
  expect(fetch.requests).toEqual([]);
  expect(await listOf(batch.left())).toEqual(queries(2));
});

test('after the loop is left, a new batch continues with the queries left', async () => {
  let isSlow = true;
  const { fx, fetch, clock } = testClient((request) =>
    isSlow && numberIn(request) > 2 ? ('never' as const) : echo(request),
  );
  const first: Numbered[] = [];
  const batch = fx.batch(queries(9), { concurrency: 5 });
  for await (const { query } of batch) if (first.push(query) === 3) break;
  await quiet();
  expect(fetch.requests.slice(3).map(({ signal }) => signal.aborted)).toEqual(fetch.requests.slice(3).map(() => true));

  isSlow = false;
  const progress: BatchProgress[] = [];
  const rest = await clock.run(listOf(fx.batch(batch.left(), { onProgress: (event) => progress.push(event) })));

  expect([...first.map(({ n }) => n), ...numbersOf(rest)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(progress.at(-1)).toMatchObject({ done: 6, total: 6 });
});

/** Yields a first query at once, a second one when it is given, and then a third one. Counts those that were requested. */
function slowSource() {
  const second = deferred<Numbered>();
  let taken = 0;
  async function* source() {
    taken = 1;
    yield { n: 0 };
    taken = 2;
    yield await second.promise;
    taken = 3;
    yield { n: 2 };
  }
  return { source: source(), give: second.resolve, taken: () => taken };
}

test('return() ends a pending next() at once; left() has the queries of aborted calls', async () => {
  const { fx, clock, fetch } = testClient('never');
  const batch = fx.batch(queries(3), { concurrency: 2 });
  const iterator = batch[Symbol.asyncIterator]();
  const pending = iterator.next();
  await quiet();

  const ended = iterator.return?.();

  expect(await ticksUntilSettled(pending)).toBeLessThan(50);
  expect([await pending, await ended]).toEqual(Array(2).fill({ done: true, value: undefined }));
  await quiet();
  expect(fetch.requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(await clock.left()).toBe(0);
  expect(await listOf(batch.left())).toEqual(queries(3));
});

test('reports no progress for calls that the end of the batch aborts, or that it never sends', async () => {
  const progress: BatchProgress[] = [];
  const { fx } = testClient('never');
  const { source, give } = slowSource();
  const batch = fx.batch(source, { onProgress: (event) => progress.push(event) });
  const ended = errorOf(listOf(batch));
  await quiet();

  await fx.close();
  give({ n: 1 });
  await quiet();

  expect(await ended).toMatchObject({ kind: 'aborted' });
  expect(progress).toEqual([]);
  expect(await listOf(batch.left())).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
});

/** Three queries, and then an error. */
function* broken(): Generator<Numbered> {
  yield* queries(3);
  throw new Error('line 4 is no query');
}

test.each([0, 1])(
  'an error of the source ends the batch after the earlier calls, or left() after %i results',
  async (read) => {
    const { fx, clock } = testClient(echo);
    const batch = fx.batch(broken());
    for await (const _ of read === 0 ? [] : batch) break;
    const rest: AsyncIterable<unknown> = read === 0 ? batch : batch.left();
    const results = rest[Symbol.asyncIterator]();

    for (const query of queries(3).slice(read)) {
      const { value } = await clock.run(results.next());
      expect(read === 0 ? value : { query: value }).toMatchObject({ query });
    }
    expect(await errorOf(clock.run(results.next()))).toMatchObject({ message: 'line 4 is no query' });
  },
);

test('after an error of the source that the loop has thrown, left() continues with the source', async () => {
  const { fx, clock } = testClient(echo);
  const responses = [() => ({ n: 0 }), () => Promise.reject(new Error('disk is busy')), () => ({ n: 1 })];
  const source: AsyncIterableIterator<Numbered> = {
    next: async () => {
      const response = responses.shift();
      return response === undefined ? { done: true, value: undefined } : { done: false, value: await response() };
    },
    [Symbol.asyncIterator]: () => source,
  };
  const batch = fx.batch(source);

  expect(await errorOf(clock.run(listOf(batch)))).toMatchObject({ message: 'disk is busy' });
  expect(await listOf(batch.left())).toEqual([{ n: 1 }]);
});

test.each<[unknown, string]>([
  [5, '5 (number)'],
  [null, 'null'],
  [undefined, 'undefined'],
])('an iterator that returns %j ends the batch, and sends nothing', async (result, shown) => {
  const { fx, fetch } = testClient(echo);
  const source = { [Symbol.iterator]: () => ({ next: () => result }) } as Iterable<Numbered>;
  const batch = fx.batch(source);
  const message = `batch: the iterator of the queries returned ${shown}, expected { value, done }`;

  expect(await errorOf(listOf(batch))).toMatchObject({ name: 'TypeError', message });
  expect(await errorOf(listOf(batch.left()))).toMatchObject({ message });
  expect(fetch.requests).toEqual([]);
});

test('reads no further query after the loop has ended', async () => {
  const { fx } = testClient(echo);
  const { source, give, taken } = slowSource();
  const batch = fx.batch(source);
  for await (const _ of batch) break;
  await quiet();

  give({ n: 1 });
  await quiet();

  expect(taken()).toBe(2);
  expect(await listOf(batch.left())).toEqual([{ n: 1 }, { n: 2 }]);
});

test('an error that a schema throws ends the batch, and left() has its query', async () => {
  const { fx, clock } = testClient(echo);
  const schema = z.unknown().transform((): number => {
    throw new TypeError('a bug in the schema');
  });
  const batch = fx.batch(queries(1), { schema });

  expect(await errorOf(clock.run(listOf(batch)))).toBeInstanceOf(TypeError);
  expect(await listOf(batch.left())).toEqual(queries(1));
});

test('a call that fails is a result with its error; the counts are reported with each call', async () => {
  const { items, progress } = await runBatch(3, { reply: oneFails, concurrency: 1 });

  expect(items).toMatchObject([{ value: { n: 0 } }, { error: { kind: 'request', status: 404 } }, { value: { n: 2 } }]);

  expect(progress.map(({ done, failed, total, waiting }) => ({ done, failed, total, waiting }))).toEqual([
    { done: 1, failed: 0, total: 3, waiting: 0 },
    { done: 2, failed: 1, total: 3, waiting: 0 },
    { done: 3, failed: 1, total: 3, waiting: 0 },
  ]);
  expect(progress.at(-1)?.etaMs).toBe(0);
});

test.each<[string, number, FxRatesOptions]>([
  ['key', 0, { apiKey: () => '' }],
  ['query', null as never, {}],
])('a wrong %s is the error of each result, and its progress is reported', async (_, n, client) => {
  const { items, progress } = await runBatch([{ n }, { n }], { client });

  expect(items.map(({ error }) => error?.kind)).toEqual(['config', 'config']);
  expect(progress).toMatchObject([
    { done: 1, failed: 1, waiting: 0 },
    { done: 2, failed: 2, waiting: 0, etaMs: 0 },
  ]);
});

test('without a queue, etaMs is derived from the calls so far', async () => {
  const { progress } = await runBatch(10, { takesMs: () => 100, concurrency: 2, client: { rateLimit: false } });

  expect(progress[1]).toMatchObject({ done: 2, etaMs: 400 });
});

test('etaMs is 0 after the last call, and after each call beyond the length of the iterable', async () => {
  const longer = Object.assign(queries(3).values(), { length: 2 });

  const { progress } = await runBatch(longer, { takesMs: () => 100, concurrency: 1 });

  expect(progress.map(({ done, etaMs }) => ({ done, isOver: etaMs === 0 }))).toEqual([
    { done: 1, isOver: false },
    { done: 2, isOver: true },
    { done: 3, isOver: true },
  ]);
});

test.each([
  ['the size of a set', new Set(queries(3)), 3],
  ['unknown if the length is no number', Object.assign(queries(3).values(), { length: '3' }), undefined],
  ['unknown for a generator', queries(3).values(), undefined],
] as const)('total is %s, and so is the size of left()', async (_, source, total) => {
  const { progress, size } = await runBatch(source as Iterable<Numbered>);

  expect(size).toBe(total);
  expect(progress.map((event) => event.total)).toEqual([total, total, total]);
  expect(progress[0]?.etaMs === undefined).toBe(total === undefined);
});

test('a batch can be iterated once, and left() can be called after the loop', async () => {
  const { fx } = testClient(echo);
  const batch = fx.batch(queries(2));
  const results = batch[Symbol.asyncIterator]();
  await results.next();

  expect(await errorOf(() => batch.left())).toMatchObject({ kind: 'config' });
  expect(await errorOf(listOf(batch))).toMatchObject({
    kind: 'config',
    message: expect.stringContaining('batch.left()'),
  });
});

test.each([
  ['a single query', { base: 'EUR' }, {}, /an iterable of queries/],
  ['a text', 'EUR', {}, /an iterable of queries/],
  ['a misspelt option', [], { concurency: 1 }, /did you mean 'concurrency'/],
  ['an option of a call that is wrong', [], { timeoutMs: -1 }, /timeoutMs/],
  ['a concurrency of 0', [], { concurrency: 0 }, /concurrency/],
  ['an operation without a query', [], { operation: 'quota' }, /operation: expected 'latest'/],
  ['a hook that is none', [], { onProgress: 'log' }, /onProgress/],
  ['a signal that is none', [], { signal: {} }, /signal/],
])('throws for %s', async (_, given, options, message) => {
  const { fx } = testClient(echo);

  const error = await errorOf(() => fx.batch(given as never, options as never));

  expect(error).toMatchObject({ kind: 'config', message: expect.stringMatching(message) });
});

test.each([
  [undefined, [0, 1, 99]],
  ['normal', [0, 1, 2]],
] as const)('with the priority %s of a batch, a later call is sent as one of %j', async (priority, sent) => {
  const { fx, clock, fetch } = testClient(echo, {
    rateLimit: { perMinute: 2 },
    quota: success(quotaRecord()),
  });
  const batch = listOf(fx.batch(queries(6), { priority }));
  await quiet();

  // Its deadline allows one window, and the batch needs three.
  const single = fx.latest({ n: 99 }, { deadlineMs: 75_000 }).catch(({ kind }) => kind);
  await clock.run(Promise.all([single, batch]));

  expect(fetch.requests.slice(0, 3).map(numberIn)).toEqual(sent);
  expect(await single).toEqual(priority === undefined ? { n: 99 } : expect.any(String));
});
