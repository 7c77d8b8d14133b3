import { expect, test } from 'vitest';
import { FxRates, type Poll } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { quotaRecord, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function month() {
  const mock = createMockServer({ seed: 7, clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });
  return { fx, mock, resetsAt: Date.parse((await fx.quota()).resets_at) };
}

/** Takes items until `until`, and returns the times. */
async function run(poll: Poll<unknown>, { now, until }: { now: () => number; until: number }): Promise<number[]> {
  const times: number[] = [];
  for await (const _ of poll) {
    if (now() >= until) break;
    times.push(now());
  }
  return times;
}

test('five polls of a key use the month evenly, each a fifth of it', async () => {
  const { fx, mock, resetsAt } = await month();
  const startedAt = mock.clock.now();
  const now = () => mock.clock.now();

  const times = await Promise.all(
    ['EUR', 'USD', 'GBP', 'JPY', 'CHF'].map((base) => run(fx.poll({ base }), { now, until: resetsAt })),
  );

  for (const own of times) {
    expect(own.length).toBeGreaterThan(190);
    expect(own.length).toBeLessThanOrEqual(201);
    const gaps = own.slice(5).map((at, index) => at - own[index + 4]!);
    expect(Math.max(...gaps)).toBeLessThan((1.1 * (resetsAt - startedAt)) / 200);
  }
});

test('a list of queries makes a call per query in each round, and each item has its query', async () => {
  const { fx, clock, fetch } = testClient(({ url }) => success({ base: new URL(url).searchParams.get('base') }), {
    quota: success(quotaRecord({ monthly_used: 0 })),
  });
  const startedAt = clock.now();
  const seen: unknown[] = [];

  const ends = async () => {
    for await (const { query, data, next } of fx.poll([{ base: 'EUR' }, { base: 'USD' }]).withMeta()) {
      seen.push([query, data]);
      if (seen.length === 4) return next;
    }
    return undefined;
  };
  const next = await clock.run(ends());

  const round = ['EUR', 'USD'].map((base) => [{ base }, { base }]);
  expect(seen).toEqual([...round, ...round]);
  expect(fetch.requests.filter(({ url }) => url.includes('/latest'))).toHaveLength(4);
  const leftMs = Date.parse('2026-02-01T00:00:00.000Z') - startedAt;
  expect(next?.intervalMs).toBeGreaterThan((1.98 * leftMs) / 1_000);
  expect(next?.intervalMs).toBeLessThan((2.02 * leftMs) / 1_000);
});

test('a poll that starts or ends changes the next times of the others', async () => {
  const { fx, mock, resetsAt } = await month();
  const now = () => mock.clock.now();
  const startedAt = now();
  const alone = (resetsAt - startedAt) / 1_000;
  const first = run(fx.poll({ base: 'EUR' }), { now, until: startedAt + 40 * HOUR });
  await mock.clock.advance(10 * HOUR);

  const others = ['USD', 'GBP', 'JPY'].map((base) => run(fx.poll({ base }), { now, until: startedAt + 20 * HOUR }));
  const times = await first;
  await Promise.all(others);

  const gapsIn = (from: number, to: number) =>
    times.slice(1).flatMap((at, index) => {
      const before = times[index]!;
      return before >= startedAt + from * HOUR && at <= startedAt + to * HOUR ? [at - before] : [];
    });
  for (const gap of gapsIn(0, 10)) expect(gap / alone).toBeCloseTo(1, 0);
  for (const gap of gapsIn(11, 19)) expect(gap / alone).toBeGreaterThan(3.8);
  expect(gapsIn(11, 19).length).toBeGreaterThan(1);
  for (const gap of gapsIn(24, 40)) expect(gap / alone).toBeLessThan(1.1);
});

test('a poll with an interval of its own takes its requests first', async () => {
  const { fx, clock } = testClient(success(), { quota: success(quotaRecord({ monthly_used: 0 })) });
  const leftMs = Date.parse('2026-02-01T00:00:00.000Z') - clock.now();
  const fixed = fx
    .poll({ base: 'USD' }, { every: leftMs / 500 })
    .withMeta()
    [Symbol.asyncIterator]();
  await clock.run(fixed.next());

  const spread = fx.poll({ base: 'EUR' }).withMeta()[Symbol.asyncIterator]();
  const { value } = await clock.run(spread.next());

  expect(value?.next.intervalMs / (leftMs / 500)).toBeCloseTo(1, 1);
  await fixed.return?.();
  await spread.return?.();
});

test('a failed call of a list is reported, and the others continue', async () => {
  const { fx, clock } = testClient(({ url }) => (url.includes('XXX') ? { status: 500 } : success()), {
    quota: success(quotaRecord()),
    maxRetries: 0,
  });
  const errors: string[] = [];
  const queries = [{ base: 'XXX' }, { base: 'EUR' }];
  const items = fx
    .poll(queries, { onError: ({ kind }) => errors.push(kind) })
    .withMeta()
    [Symbol.asyncIterator]();

  const { value } = await clock.run(items.next());

  expect(value?.query).toEqual({ base: 'EUR' });
  expect(errors).toEqual(['server']);
  await items.return?.();
});

test('rejects an empty list of queries', async () => {
  const { fx } = testClient(success());

  expect(await errorOf(() => fx.poll([]))).toMatchObject({
    kind: 'config',
    message: expect.stringContaining('query:'),
  });
});
