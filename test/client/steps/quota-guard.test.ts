import { expect, test } from 'vitest';
import type { Call } from '../../../src/client/call/call.ts';
import type { CallOptions, FxRatesOptions, QuotaData } from '../../../src/client/index.ts';
import type { KeyState } from '../../../src/client/state/key-state.ts';
import { QuotaLedger } from '../../../src/client/state/quota-ledger.ts';
import { QuotaGuard } from '../../../src/client/steps/quota-guard.ts';
import type { StepContext } from '../../../src/client/steps/send.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, quotaRequests, type TestClient, testClient } from '../../helpers/test-client.ts';

/** A record of a key whose per-minute limit is never reached. */
const roomyQuota = (changes: Partial<QuotaData> = {}) => quotaRecord({ rate_limit_per_minute: 10_000, ...changes });

function guarded(
  replies: Reply | readonly Reply[],
  { left = 100, reserve = 10, ...options }: FxRatesOptions & { quota?: Reply; left?: number; reserve?: number } = {},
): TestClient {
  const quota = success(roomyQuota({ monthly_used: 1000 - left }));
  return testClient(replies, { quota, quotaGuard: { reserve }, ...options });
}

test.each<[string, Reply, number]>([
  ['fails', failure(500), 0],
  ['is not there', failure(404), 0],
  ['makes no sense', success({ monthly: 'a lot' }), 0],
  ['cannot be reached', new Error('down'), 0],
  ['hangs', 'never', 3000],
])('a quota() that %s is called once a minute, and delays calls by its timeout at most', async (_, quota, delayMs) => {
  const client = guarded(success(), { quota, timeoutMs: 3000, rateLimit: { perMinute: 10_000 } });
  const { clock, fx } = client;
  const startedAt = clock.now();

  await clock.run(Promise.all(differentCalls(fx, 20)));
  await fx.latest({ another: true });
  expect(clock.now()).toBe(startedAt + delayMs);
  expect(quotaRequests(client)).toBe(1);

  await clock.advance(60_000);
  await fx.latest({ later: true });
  expect(quotaRequests(client)).toBe(1);
  await clock.advance(1);
  await clock.run(fx.latest({ latest: true }));
  expect(quotaRequests(client)).toBe(2);
  expect(await clock.left()).toBe(0);
});

test('onLow is called for a record without a reset, too', async () => {
  const lows: unknown[] = [];
  const quota = success({ ...roomyQuota({ monthly_used: 990 }), resets_at: undefined });
  const { clock, fx } = guarded(success(), { quota, quotaGuard: { reserve: 10, onLow: (low) => lows.push(low) } });

  for (const _ of [1, 2]) await clock.run(errorOf(fx.latest()));

  expect(lows).toMatchObject([{ remaining: 10 }]);
});

test.each<[string, Reply, FxRatesOptions, string]>([
  [
    'quotaGuard',
    failure(503),
    {},
    '503), so the quota of key fx_live_…cdef is unknown; until it succeeds, quotaGuard rejects no call',
  ],
  [
    "cache: 'snapshot'",
    Object.assign(new Error('down'), { code: 'ECONNRESET' }),
    { quotaGuard: undefined, cache: 'snapshot' },
    "ECONNRESET), so the quota of key fx_live_…cdef is unknown; until it succeeds, cache: 'snapshot' does not know its interval",
  ],
  [
    'both',
    success({ monthly: 'a lot' }),
    { cache: 'snapshot' },
    "response), so the quota of key fx_live_…cdef is unknown; until it succeeds, quotaGuard rejects no call and cache: 'snapshot' does not know its interval",
  ],
])('the client warns once if %s has no effect, because quota() fails', async (_, quota, options, warning) => {
  const { fx, clock, warnings } = guarded(success(), { quota, ...options });

  await clock.run(fx.latest());
  await clock.advance(60_001);
  await clock.run(fx.latest());

  expect(warnings).toEqual([`quota() failed (${warning}`]);
});

test('uses the old record while quota() fails, without a warning', async () => {
  const responses = [success(roomyQuota({ monthly_used: 989 })), failure(503)];
  const { fx, clock, warnings } = guarded(success(), { quota: () => responses.shift() ?? failure(503) });
  await fx.latest();
  await clock.advance(300_001);

  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'quota_exhausted', local: true });
  expect(warnings).toEqual([]);
});

test('a quota() that takes longer than half of the deadline continues for the next call', async () => {
  const quota = deferred<Reply>();
  const client = guarded(success(), { quota: () => quota.promise });
  const { fx, clock } = client;
  const startedAt = clock.now();

  await clock.run(fx.latest({}, { deadlineMs: 700 }));
  expect(clock.now() - startedAt).toBe(350);
  const next = errorOf(fx.latest({}, { deadlineMs: 700 }));
  await quiet();
  quota.resolve(success(roomyQuota({ monthly_used: 990 })));

  expect(await next).toMatchObject({ kind: 'quota_exhausted', local: true });
  expect(quotaRequests(client)).toBe(1);
  expect(await clock.left()).toBe(0);
});

test('a quota() that hangs has failed after its timeout, also if no call waits for it', async () => {
  const client = guarded(success(), { quota: 'never', timeoutMs: 3_000 });
  const { fx, clock } = client;

  await clock.run(fx.latest({}, { deadlineMs: 700 }));
  await clock.advance(2_650);
  await fx.latest({}, { deadlineMs: 700 }); // in no time

  expect(quotaRequests(client)).toBe(1);
});

test('a quota() that the limit refuses once is sent again, before the call', async () => {
  const replies = [rateLimited('2'), success(roomyQuota({ monthly_used: 990 }))];
  const client = guarded(success(), { quota: () => replies.shift() ?? failure(500) });

  const error = await client.clock.run(errorOf(client.fx.latest()));

  expect(error).toMatchObject({ kind: 'quota_exhausted', local: true });
  expect(quotaRequests(client)).toBe(2);
});

test('a quota() that must wait for the limit did not fail: the next call calls it again', async () => {
  let isLimited = true;
  const record = success(roomyQuota());
  const client = guarded(success(), { quota: () => (isLimited ? rateLimited('50') : record) });
  const startedAt = client.clock.now();
  const early = await errorOf(client.fx.latest({}, { deadlineMs: 20_000 }));
  expect(early).toMatchObject({ kind: 'rate_limited', reason: 'deadline' });
  expect([quotaRequests(client), client.clock.now()]).toEqual([1, startedAt]);
  isLimited = false;

  await client.clock.advance(51_000);
  await client.clock.run(client.fx.latest());

  expect(client.fx.quotaEstimate()?.quota).toEqual(record.body.data);
});

test.each<CallOptions>([{ onLimit: 'throw' }, { deadlineMs: 1_000 }])(
  'a call that may wait has its own quota(), beside a call with %j',
  async (options) => {
    let used = 990;
    const { clock, fx } = testClient(success(), {
      quota: () => success(roomyQuota({ monthly_used: used })),
      quotaGuard: { reserve: 5 },
      rateLimit: { perMinute: 2 },
    });
    await clock.run(fx.latest());
    used = 997;
    await clock.advance(1_500);

    const calls = [fx.latest({ n: 1 }, options), fx.latest({ n: 2 })].map((call) => errorOf(call));

    expect(await clock.run(Promise.all(calls))).toMatchObject([{ kind: 'rate_limited' }, { kind: 'quota_exhausted' }]);
  },
);

test('releases the reservation of a call that ends without a request', async () => {
  const { fx } = guarded(['never', success()], { left: 20, rateLimit: { maxConcurrent: 1 } });
  const controller = new AbortController();
  const waiting = differentCalls(fx, 10, { signal: controller.signal }).map((call) => errorOf(call));
  await quiet();
  expect(await errorOf(fx.latest({ late: true }))).toMatchObject({ local: true });

  controller.abort();
  await Promise.all(waiting);
  await quiet();

  expect(fx.quotaEstimate()).toMatchObject({ usedSince: 1, remaining: 19 }); // the one that was under way
  await expect(Promise.all(differentCalls(fx, 9))).resolves.toHaveLength(9);
});

test('a request that a record may include is not counted twice when the next call is decided', async () => {
  const held = deferred<Reply>();
  const used = [988, 989, 989];
  const { fx, clock } = guarded([() => held.promise, success()], {
    quota: () => success(roomyQuota({ monthly_used: used.shift() ?? 990 })),
  });
  const first = fx.latest({ call: 1 });
  await clock.advance(1_001);

  expect(await errorOf(fx.latest({ call: 2 }))).toMatchObject({ kind: 'quota_exhausted', local: true });
  held.resolve(success());
  await first;

  await expect(fx.latest({ call: 3 })).resolves.toBeDefined();
  expect(await errorOf(fx.latest({ call: 4 }))).toMatchObject({ kind: 'quota_exhausted', local: true });
  expect(used).toEqual([]);
});

test('a call keeps its reservation while it waits for its retry', async () => {
  const { fx, clock, fetch } = guarded([failure(503), success()], { left: 12, maxRetries: 1 });
  await fx.quota();
  const retried = fx.latest({ call: 1 });
  await quiet();

  expect(await errorOf(fx.latest({ call: 2 }))).toMatchObject({ kind: 'quota_exhausted', local: true });

  await expect(clock.run(retried)).resolves.toBeDefined();
  expect(fx.quotaEstimate()?.remaining).toBe(10);
  expect(fetch.requests).toHaveLength(3); // quota(), and both attempts
});

test('the last request is free for a call that starts after the response to another', async () => {
  let received = 0;
  for (let ticks = 0; ticks < 40; ticks += 1) {
    const held = deferred<Reply>();
    const { fx } = guarded([() => held.promise, success()], { left: 12 });
    await fx.quota();
    const first = fx.latest({ call: 1 });
    await quiet();
    held.resolve(success());
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    if (fx.quotaEstimate()?.usedSince === 0) continue; // not yet received
    received += 1;

    await expect(fx.latest({ call: 2 })).resolves.toBeDefined();
    await first;
  }
  expect(received).toBeGreaterThan(0);
});

/** Counts its updates instead of sending them. */
class CountingGuard extends QuotaGuard {
  updates = 0;

  override async update(): Promise<boolean> {
    this.updates += 1;
    return true;
  }
}

test.each([
  ['has requests for many minutes', 500, 2_000, true, 0],
  ['may be used up by all processes since', 40, 2_000, true, 1],
  ['has only the reserve', 10, 60_000, true, 0],
  ['has only the reserve, and is older than a minute', 10, 60_001, false, 0],
])('after a wait, a record that %s: is it enough, and is it updated?', (_, left, ageMs, isEnough, updates) => {
  let now = 0;
  const quota = new QuotaLedger({ now: () => now, sleep: () => new Promise(() => undefined) });
  quota.sawRecord(quotaRecord({ monthly_used: 1000 - left, rate_limit_per_minute: 30 }), 0);
  const guard = new CountingGuard({} as StepContext, { reserve: 10 });
  const call = { endpoint: { consumesQuota: true }, settings: { priority: 'normal' } } as Call;

  now = ageMs;

  const lookup = { call, state: { quota } as KeyState, send: () => expect.unreachable() };
  expect(guard.checkRecord(lookup)).toBe(isEnough);
  expect(guard.updates).toBe(updates);
});
