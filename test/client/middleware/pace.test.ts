import { expect, test } from 'vitest';
import type { FxRatesOptions, QuotaData, WaitEvent } from '../../../src/client/index.ts';
import { quiet, ticksUntilSettled } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { failure, quotaRecord, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, type TestClient, testClient } from '../../helpers/test-client.ts';

/** A record of a key whose per-minute limit is in nobody's way. */
const roomyQuota = (changes: Partial<QuotaData> = {}) => quotaRecord({ rate_limit_per_minute: 10_000, ...changes });

const HOUR_MS = 3_600_000;
/** From the start of the fake clock until the quota of `quotaRecord` resets. */
const TIME_LEFT_MS = Date.parse('2026-02-01T00:00:00.000Z') - Date.parse('2026-01-21T14:20:00.000Z');

/** A paced client of a key with `left` requests for the rest of the month. */
function paced(
  replies: Reply | readonly Reply[],
  { left = 100, ...options }: FxRatesOptions & { quota?: Reply; left?: number } = {},
): TestClient {
  const client = testClient(replies, {
    quota: () => success(roomyQuota({ monthly_used: 1000 - left + answered() })),
    pace: true,
    deadlineMs: false,
    ...options,
  });
  const answered = () => client.fetch.requests.filter(({ url }) => !url.endsWith('/quota')).length;
  return client;
}

const spacing = (left: number) => TIME_LEFT_MS / left;

test('the first call goes at once, the next one a spacing later', async () => {
  const { fx, clock } = paced(success());
  const startedAt = clock.now();

  await fx.latest({ call: 1 });
  expect(clock.now()).toBe(startedAt);
  const { meta } = await clock.run(fx.latest({ call: 2 }).withMeta());

  const waitedMs = clock.now() - startedAt;
  expect(waitedMs / spacing(100)).toBeCloseTo(1, 1);
  expect(meta.attempts).toMatchObject([{ status: 200, waitedMs, reason: 'first' }]);
  expect(await clock.left()).toBe(0);
});

test('a wait for a turn is told of, once', async () => {
  const waits: WaitEvent[] = [];
  const { fx, clock } = paced(success(), { onWait: (wait) => waits.push(wait) });
  await fx.latest({ call: 1 });
  const startedAt = clock.now();

  await clock.run(fx.latest({ call: 2 }));

  expect(waits).toHaveLength(1);
  const [{ waitMs, until, ...wait }] = waits as [WaitEvent];
  const limits = expect.objectContaining({ paced: 1, waiting: 0 });
  expect(wait).toEqual({ key: 'fx_live_…cdef', reason: 'pace', waiting: 1, limits, retryAfterUnit: undefined });
  expect(waitMs / spacing(100)).toBeCloseTo(1, 1);
  expect(Number(until)).toBeCloseTo(startedAt + waitMs, -1);
});

test('a call whose turn comes after its deadline fails at once, and says when to come back', async () => {
  const { fx, clock, fetch } = paced(success());
  await fx.latest({ call: 1 });
  const startedAt = clock.now();
  const sent = fetch.requests.length;

  const error = await errorOf(fx.latest({ call: 2 }, { deadlineMs: 90_000 }));

  const retryAt = new Date(startedAt + spacing(100));
  expect(error).toMatchObject({ kind: 'rate_limited', reason: 'deadline', retryAfterMs: expect.any(Number) });
  expect(error).toMatchObject({ message: expect.stringContaining('pace') });
  expect(error).not.toMatchObject({ message: expect.stringContaining('per-minute') });
  expect(Number((error as { retryAt: Date }).retryAt)).toBeCloseTo(Number(retryAt), -2);
  expect(clock.now()).toBe(startedAt);
  expect(await clock.left()).toBe(0);
  expect(fetch.requests.length).toBe(sent);
});

test('who comes back at the time the error names goes at once', async () => {
  const { fx, clock } = paced(success());
  await fx.latest({ call: 1 });
  const error = (await errorOf(fx.latest({ call: 2 }, { deadlineMs: 1000 }))) as { retryAfterMs: number };

  await clock.advance(error.retryAfterMs + 1);

  await expect(fx.latest({ call: 2 }, { deadlineMs: 1000 })).resolves.toBeDefined();
});

test("onLimit: 'throw' does not wait for a turn", async () => {
  const { fx, clock } = paced(success(), { onLimit: 'throw' });
  await fx.latest({ call: 1 });

  const error = await errorOf(fx.latest({ call: 2 }));

  expect(error).toMatchObject({ kind: 'rate_limited', reason: 'policy' });
  expect(await clock.left()).toBe(0);
});

test('an abort ends the wait within a tick, gives the turn back and leaves no timer', async () => {
  const { fx, clock } = paced(success());
  await fx.latest({ call: 1 });
  const controller = new AbortController();
  const call = errorOf(fx.latest({ call: 2 }, { signal: controller.signal }));
  await quiet();
  expect(await clock.left()).toBe(1);

  controller.abort(new Error('enough'));

  expect(await ticksUntilSettled(call)).toBeLessThanOrEqual(10);
  expect(await call).toMatchObject({ kind: 'aborted', cause: new Error('enough') });
  await quiet();
  expect(await clock.left()).toBe(0);
  const startedAt = clock.now();
  await clock.run(fx.latest({ call: 3 }));
  expect((clock.now() - startedAt) / spacing(100)).toBeCloseTo(1, 1);
});

test('an abort while the quota is asked takes no turn', async () => {
  const { fx, clock, fetch } = paced(success(), { quota: 'never' });
  const controller = new AbortController();
  const call = errorOf(fx.latest({}, { signal: controller.signal }));
  await quiet();

  controller.abort();

  expect(await ticksUntilSettled(call)).toBeLessThanOrEqual(20);
  await quiet();
  expect(fetch.requests.map(({ signal }) => signal.aborted)).toEqual([true]);
  expect(await clock.left()).toBe(0);
});

test('calls that the guard has let pass do not slow the pace down', async () => {
  const { fx, clock } = paced(success(), { left: 60, quotaGuard: { reserve: 10 } });
  const startedAt = clock.now();

  await clock.run(Promise.all(differentCalls(fx, 25)));

  const even = 24 * spacing(50);
  expect(clock.now() - startedAt).toBeGreaterThan(even * 0.95);
  expect(clock.now() - startedAt).toBeLessThan(even * 1.05);
});

test('a call that spends the reserve does not wait for a turn', async () => {
  const { fx, clock } = paced(success(), { left: 60, quotaGuard: { reserve: 10 } });
  await fx.latest({ call: 1 });
  const startedAt = clock.now();

  await fx.latest({ call: 2 }, { useReserve: true });

  expect(clock.now()).toBe(startedAt);
});

test('two clients of one process keep one pace', async () => {
  const first = paced(success());
  const second = paced(success(), { clock: first.clock });
  await first.fx.latest({ call: 1 });

  const error = await errorOf(second.fx.latest({ call: 2 }, { deadlineMs: 1000 }));

  expect(error).toMatchObject({ kind: 'rate_limited', reason: 'deadline' });
});

test.each<[string, Reply]>([
  ['cannot be asked', failure(500)],
  ['has no numeric limit', success(roomyQuota({ monthly_limit: null }))],
])('a quota that %s sets no pace', async (_, quota) => {
  const { fx, clock } = paced(success(), { quota });
  const startedAt = clock.now();

  await Promise.all(differentCalls(fx, 30));

  expect(clock.now()).toBe(startedAt);
  expect(await clock.left()).toBe(0);
});

test('the quota itself is not paced', async () => {
  const { fx, clock } = paced(success());
  await fx.latest();
  const startedAt = clock.now();

  await fx.quota();

  expect(clock.now()).toBe(startedAt);
});

test('a burst after a quiet day is spread over what is left, not made up for', async () => {
  const { fx, clock } = paced(success(), { left: 200 });
  await fx.latest({ call: 1 });
  await clock.advance(24 * HOUR_MS);
  const startedAt = clock.now();

  await clock.run(Promise.all(differentCalls(fx, 4)));

  const even = (3 * (TIME_LEFT_MS - 24 * HOUR_MS)) / 199;
  expect((clock.now() - startedAt) / even).toBeCloseTo(1, 1);
});
