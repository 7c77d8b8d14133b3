import { expect, test } from 'vitest';
import { FxRates, FxRatesError, type FxRatesOptions, type QuotaEstimate } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';

const DAY_MS = 86_400_000;

/** A key of the developer plan with `left` requests for the month, and a client that reserves some of them. */
function setUp({ left = 100, reserve = 10, ...options }: FxRatesOptions & { left?: number; reserve?: number } = {}) {
  const mock = createMockServer({ seed: 7, clock: 'virtual' });
  const { key, id, accountId } = mock.createKey({ plan: 'developer' });
  mock.keys.setUsage(id, { month: 100_000 - left });
  const lows: QuotaEstimate[] = [];
  const quotaGuard = { reserve, onLow: (estimate: QuotaEstimate) => lows.push(estimate) };
  const client = (more: FxRatesOptions = {}) =>
    new FxRates({ apiKey: key, ...mock.clientOptions(), deadlineMs: false, quotaGuard, ...options, ...more });
  const leftNow = () => 100_000 - mock.keys.get(id).month.used;
  const asked = () => mock.journal.list().filter(({ path }) => path === '/api/v1/quota').length;
  return { mock, fx: client(), client, lows, leftNow, asked, accountId, keyId: id };
}

let call = 0;
/** Calls that coalescing cannot combine. */
const latest = (fx: FxRates, options = {}) => fx.latest({ call: call++ }, options);
const crowd = (fx: FxRates, count: number, options = {}) =>
  Promise.allSettled(Array.from({ length: count }, () => latest(fx, options)));

/** Number of calls by result. */
function tally(results: readonly PromiseSettledResult<unknown>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) {
    const kind = result.status === 'fulfilled' ? 'ok' : nameOf(result.reason);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function nameOf(error: unknown): string {
  if (!FxRatesError.is(error)) return `a stranger: ${String(error)}`;
  return error.kind === 'quota_exhausted' && error.local ? 'local' : error.kind;
}

test.each([
  [100, 10, 300],
  [100, 0, 300],
  [1, 0, 50],
  [25, 24, 50],
  [10, 10, 50],
  [5, 10, 50],
  [0, 0, 50],
])('of %i requests left, of which %i are reserved, %i calls use only the others', async (...given) => {
  const [left, reserve, size] = given;
  const { fx, leftNow, lows, asked } = setUp({ left, reserve });

  const results = tally(await crowd(fx, size));

  const free = Math.max(0, left - reserve);
  expect(results).toEqual({ ...(free > 0 && { ok: free }), local: size - free });
  expect(leftNow()).toBe(left - free);
  expect(asked()).toBe(1);
  expect(lows).toHaveLength(1);
});

test('a refusal is marked local, with the reason and the quota', async () => {
  const { fx } = setUp({ left: 3, reserve: 3 });

  const error = await latest(fx).catch((reason: unknown) => reason);

  expect(error).toMatchObject({
    kind: 'quota_exhausted',
    local: true,
    attempts: [],
    quota: { monthly_limit: 100_000, monthly_used: 99_997 },
    resetsAt: new Date('2026-02-01T00:00:00.000Z'),
    message:
      'Not sent: about 3 requests of the monthly quota are left for new calls, and quotaGuard reserves 3. ' +
      "The quota resets at 2026-02-01T00:00:00.000Z; to use the reserve, pass { priority: 'high' }",
  });
});

test('a call of high priority uses the reserve, up to the limit of the service', async () => {
  const { fx, leftNow } = setUp({ left: 5, reserve: 5 });

  expect(tally(await crowd(fx, 8, { priority: 'high' }))).toMatchObject({ ok: 5 });

  expect(leftNow()).toBe(0);
});

test('the call after which only the reserve is left calls onLow, once per period', async () => {
  const { mock, fx, lows, keyId } = setUp({ left: 12, reserve: 10 });
  await latest(fx);
  expect(lows).toEqual([]);

  await latest(fx);
  expect(lows).toMatchObject([{ remaining: 10, usedSince: 2, quota: { monthly_used: 99_988 } }]);
  await crowd(fx, 3);
  await crowd(fx, 1, { priority: 'high' });
  expect(lows).toHaveLength(1);

  await mock.clock.advanceTo('quota-reset');
  await latest(fx);
  expect(lows).toHaveLength(1);
  await mock.clock.advanceTo('quota-reset');
  mock.keys.setUsage(keyId, { month: 99_990 });

  expect(tally(await crowd(fx, 3))).toEqual({ local: 3 });

  expect(lows.map(({ quota }) => quota.resets_at)).toEqual(['2026-02-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z']);
});

test('a bigger plan has an effect within a minute, without a counted request', async () => {
  const { mock, fx, accountId, asked } = setUp({ left: 10, reserve: 10 });
  expect(tally(await crowd(fx, 20))).toEqual({ local: 20 });

  mock.accounts.setPlan(accountId, 'unlimited');
  expect(tally(await crowd(fx, 20))).toEqual({ local: 20 });
  await mock.clock.advance(60_001);

  expect(tally(await crowd(fx, 20))).toEqual({ ok: 20 });
  expect(asked()).toBe(2);
});

test('usage by another process has an effect within five minutes', async () => {
  const { mock, fx, keyId, leftNow } = setUp({ left: 100, reserve: 10 });
  await latest(fx);
  mock.keys.setUsage(keyId, { month: 99_985 });
  await mock.clock.advance(300_001);

  expect(tally(await crowd(fx, 50))).toEqual({ ok: 5, local: 45 });

  expect(leftNow()).toBe(10);
});

test.each<[string, FxRatesOptions]>([
  ['', {}],
  [' one after another', { rateLimit: { maxConcurrent: 1 } }],
])('calls that wait for the limit%s leave the reserve that another process has reached', async (_, options) => {
  const { mock, fx, keyId, leftNow } = setUp({ left: 500, reserve: 100, ...options });
  const calls = crowd(fx, 400); // 300 a minute
  await mock.clock.advance(50_000);
  const used = 60;
  mock.keys.setUsage(keyId, { month: 100_000 - leftNow() + used });

  const results = tally(await calls);

  expect(results).toEqual({ ok: 400 - used, local: used });
  expect(leftNow()).toBe(100);
  expect(fx.limits()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test('calls quota() once in five minutes while the key is used, and never while it is idle', async () => {
  const { mock, fx, asked } = setUp({ left: 50_000 });

  await latest(fx);
  await mock.clock.advance(DAY_MS);
  expect(asked()).toBe(1);
  for (let n = 0; n < 60; n += 1) {
    await latest(fx);
    await mock.clock.advance(60_000);
  }

  expect(asked()).toBeLessThanOrEqual(1 + 60 / 5);
});
