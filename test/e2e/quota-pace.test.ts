import { expect, test } from 'vitest';
import { FxRates, type FxRatesOptions, forecastQuota } from '../../src/client/index.ts';
import { createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';

/** A paced client of a key of the free plan. */
function setUp({ behaviour = {}, ...options }: FxRatesOptions & Pick<MockServerOptions, 'behaviour'> = {}) {
  const mock = createMockServer({ seed: 7, clock: 'virtual', behaviour, journalSize: 10_000 });
  const { key, id } = mock.createKey({ plan: 'free' });
  const client = () => new FxRates({ apiKey: key, ...mock.clientOptions(), pace: true, deadlineMs: false, ...options });
  /** When the requests that cost quota were sent. */
  const sentAt = () =>
    mock.journal
      .list()
      .filter(({ path }) => path === '/api/v1/latest')
      .map(({ at }) => Number(at));
  return { mock, fx: client(), client, keyId: id, sentAt, used: () => mock.keys.get(id).monthlyUsed };
}

const gaps = (times: readonly number[]) => times.slice(1).map((at, index) => at - times[index]!);

test('a thousand calls at once are spread evenly over the rest of the month', async () => {
  const { mock, fx, sentAt, used } = setUp();
  const quota = await fx.quota();
  const startedAt = mock.clock.now();
  const spacing = (Date.parse(quota.resets_at) - startedAt) / 1000;

  await Promise.all(Array.from({ length: 1000 }, (_, n) => fx.latest({ n })));

  const times = sentAt();
  expect(used()).toBe(1000);
  expect(times[0]).toBe(startedAt);
  expect(times.at(-1)).toBeLessThan(Date.parse(quota.resets_at));
  expect(Math.min(...gaps(times))).toBeGreaterThan(spacing * 0.98);
  expect(Math.max(...gaps(times))).toBeLessThan(spacing * 1.02);
});

test('a pace is the interval that the forecast calls safe', async () => {
  const { mock, fx, sentAt } = setUp();
  const forecast = forecastQuota(await fx.quota(), mock.clock.now());

  await Promise.all([1, 2, 3].map((n) => fx.latest({ n })));

  for (const gap of gaps(sentAt())) expect(gap / forecast!.safeIntervalMs!).toBeCloseTo(1, 2);
});

test('two clients of one process share a pace, and what another process uses slows it down', async () => {
  const { mock, fx, client, keyId, sentAt } = setUp();
  const quota = await fx.quota();
  const other = client();
  const calls = Promise.all([fx, other, fx, other].map((each, n) => each.latest({ n })));
  const spacing = (Date.parse(quota.resets_at) - mock.clock.now()) / 1000;
  await calls;
  for (const gap of gaps(sentAt())) expect(gap / spacing).toBeCloseTo(1, 2);

  mock.keys.setUsage(keyId, { month: 504 });
  await Promise.all([5, 6, 7, 8].map((n) => fx.latest({ n })));

  expect(gaps(sentAt()).at(-1)! / spacing).toBeCloseTo(2, 1);
});

test('a bigger plan quickens the pace', async () => {
  const { mock, fx, keyId, sentAt } = setUp();
  await fx.latest({ n: 0 });
  mock.accounts.setPlan(mock.keys.get(keyId).accountId, 'developer');
  await mock.clock.advance(300_001);

  await Promise.all([1, 2, 3].map((n) => fx.latest({ n })));

  expect(gaps(sentAt()).at(-1)).toBeLessThan(60_000);
});

test('when the month is used up, paced calls wait for the next one, and go on at its pace', async () => {
  const { mock, fx, keyId, sentAt } = setUp();
  mock.keys.setUsage(keyId, { month: 998 });
  const { resets_at: resetsAt } = await fx.quota();

  const results = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => fx.latest({ n })));

  expect(results.map(({ status }) => status)).toEqual(Array(6).fill('fulfilled'));
  const nextMonth = sentAt().filter((at) => at >= Date.parse(resetsAt));
  expect(nextMonth).toHaveLength(4);
  expect(Math.min(...gaps(nextMonth))).toBeGreaterThan(30 * 60_000);
  expect(mock.journal.list().filter(({ status }) => status === 429)).toEqual([]);
});
