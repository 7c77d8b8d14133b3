import { expect, test } from 'vitest';
import type { LimiterWait } from '../../../src/client/limits/limiter-view.ts';
import { type FailureDetails, LimitError, type Permit } from '../../../src/client/limits/permit.ts';
import { RateLimiter, type RateLimiterOptions } from '../../../src/client/limits/rate-limiter.ts';
import { settle, VirtualClock } from '../../helpers/limits-clock.ts';

const ERROR = new Error('503');
const FAILED: FailureDetails = { mayHaveCounted: true, error: ERROR };

function setUp(options: Omit<RateLimiterOptions, 'clock'> = {}) {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, random: () => 0.5, perMinute: 100, ...options });
  return { clock, start: clock.now(), limiter };
}

/** A service that failed at once with a 503 that asks for `retryAfter` seconds. */
async function outage(retryAfter: string, options: Omit<RateLimiterOptions, 'clock'> = {}) {
  const setting = setUp(options);
  const first = await setting.limiter.acquire();
  first.failed({ ...FAILED, retryAfter });
  return { ...setting, first };
}

test('a failed request that may have counted keeps its slot, one that was not sent returns it', async () => {
  const { clock, start, limiter } = setUp({ perMinute: 1, probe: false });

  (await limiter.acquire()).failed({ mayHaveCounted: false, error: ERROR });
  (await limiter.acquire()).failed(FAILED);
  const third = limiter.acquire();
  await clock.run();

  expect((await third).sentAt).toBe(start + 60_000);
});

test('while the service is down, one call is the probe and the others wait', async () => {
  const { clock, start, limiter } = await outage('5');
  const granted: Permit[] = [];
  for (let call = 0; call < 10; call += 1) void limiter.acquire().then((permit) => granted.push(permit));

  expect(limiter.limits()).toMatchObject({
    gate: 'open',
    service: { downUntil: new Date(start + 5_000) },
    maxConcurrent: 2,
  });
  expect(limiter.isServiceDown).toBe(true);
  await clock.advance(4_999);
  expect(granted).toHaveLength(0);
  await clock.advance(60_000);
  expect(granted.map(({ sentAt }) => sentAt)).toEqual([start + 5_000]);

  granted[0]!.ok();
  await settle();
  expect(limiter.limits().service).toBe('up');
  expect(limiter.isServiceDown).toBe(false);
  expect(granted).toHaveLength(3);
});

test('the probe is the call with the fewest failures; a failed call keeps its place in the queue', async () => {
  const { clock, limiter, first } = await outage('1', { maxConcurrent: 2 });
  const granted: { readonly name: string; readonly permit: Permit }[] = [];
  const wait = (name: string, retryOf?: Permit) =>
    void limiter.acquire({ retryOf }).then((permit) => granted.push({ name, permit }));
  wait('later');
  wait('last');
  wait('again', first);

  await clock.advance(1_000);
  expect(granted.map(({ name }) => name)).toEqual(['later']);
  granted[0]!.permit.ok();
  await settle();

  expect(granted.map(({ name }) => name)).toEqual(['later', 'again', 'last']);
});

test('after the caller of a probe aborts, the next call is the probe', async () => {
  const { clock, limiter } = await outage('5');
  const probe = limiter.acquire();
  const granted: Permit[] = [];
  void limiter.acquire().then((permit) => granted.push(permit));
  await clock.advance(5_000);
  expect(granted).toHaveLength(0);

  (await probe).lost();
  await settle();

  expect(granted).toHaveLength(1);
});

test('if the service asks for a long wait, every call rejects for five minutes, with the failure as its cause', async () => {
  const { start, limiter } = setUp();
  const first = await limiter.acquire();
  const waiting = Array.from({ length: 200 }, () => limiter.acquire().catch((error: unknown) => error));
  first.failed({ ...FAILED, retryAfter: '3600' });
  await settle();

  const late = await limiter.acquire().catch((error: unknown) => error);

  for (const error of [waiting.at(-1), late]) {
    const rejection = (await error) as LimitError;
    expect(LimitError.is(rejection)).toBe(true);
    expect(rejection).toMatchObject({
      reason: 'max_retry_after',
      isServiceDown: true,
      retryAt: start + 300_000,
      cause: ERROR,
    });
  }
});

test('a call whose deadline is before the probe is rejected as unavailable', async () => {
  const { start, limiter } = await outage('30');

  const late = limiter.acquire({ deadlineAt: () => start + 10_000 });

  await expect(late).rejects.toMatchObject({
    reason: 'deadline',
    isServiceDown: true,
    retryAt: start + 30_000,
    cause: ERROR,
  });
});

test('the limit, if it asks for a later time than the service, is the reason of a rejection', async () => {
  const { start, limiter } = setUp();
  const [first, second] = [await limiter.acquire(), await limiter.acquire()];
  first.limited({ retryAfter: '30' });
  second.failed({ ...FAILED, retryAfter: '1' });

  const late = limiter.acquire({ deadlineAt: () => start + 10_000 });

  await expect(late).rejects.toMatchObject({ reason: 'deadline', isServiceDown: false, retryAt: start + 30_000 });
  expect([29_999, 30_000].map((ms) => limiter.nextSlotCheck()(start + ms))).toEqual([true, false]);
});

test('waits for a service that asks for the longest wait allowed, and rejects for a longer one', async () => {
  const { clock, start, limiter } = await outage('75');
  expect([74_999, 75_000].map((ms) => limiter.nextSlotCheck()(start + ms))).toEqual([true, false]);
  const permit = limiter.acquire();
  await clock.run();
  const longer = (await outage('75.001')).limiter;

  expect((await permit).sentAt).toBe(start + 75_000);
  await expect(longer.acquire()).rejects.toMatchObject({ reason: 'max_retry_after', isServiceDown: true });
});

test('a call that does not wait is rejected as unavailable', async () => {
  const { limiter } = await outage('30');

  await expect(limiter.acquire({ wait: false })).rejects.toMatchObject({ reason: 'policy', isServiceDown: true });
});

test('a wait for the service is reported with its reason', async () => {
  const waits: LimiterWait[] = [];
  const { start, limiter } = await outage('30', { onWait: (wait) => waits.push(wait) });

  void limiter.acquire();
  await settle();

  expect(waits).toEqual([{ until: start + 30_000, waiting: 1, reason: 'service' }]);
});

test('an outage without waiting calls is not reported as a wait', async () => {
  const waits: LimiterWait[] = [];
  const { limiter } = await outage('30', { onWait: (wait) => waits.push(wait) });

  limiter.configure(50);
  await settle();

  expect(waits).toEqual([]);
});

test('the history shows the start and the end of an outage', async () => {
  const { clock, start, limiter } = await outage('5');
  const probe = limiter.acquire();
  await clock.run();
  (await probe).ok();

  expect(
    limiter.limits().history.map(({ at, event, service }) => ({ at: at.getTime() - start, event, service })),
  ).toEqual([
    { at: 0, event: 'failed', service: { downUntil: new Date(start + 5_000) } },
    { at: 5_000, event: 'accepted', service: 'up' },
  ]);
});

test('the Retry-After of a 503 is in seconds, unless the unit is set or was learned', async () => {
  const { start, limiter } = await outage('2000', { retryAfterUnit: 'milliseconds' });

  expect(limiter.retryAfterUnit).toBe('milliseconds');
  expect(limiter.limits().service).toEqual({ downUntil: new Date(start + 2_000) });
  expect(setUp().limiter.retryAfterUnit).toBe('seconds');
});

test('the Retry-After of a 503 is in milliseconds if those of refusals were', async () => {
  const { clock, limiter } = setUp();
  const first = await limiter.acquire();
  first.limited({ retryAfter: '30000' });
  const second = limiter.acquire({ retryOf: first });
  await clock.run();
  (await second).ok();

  (await limiter.acquire()).failed({ ...FAILED, retryAfter: '2000' });

  expect(limiter.limits().service).toEqual({ downUntil: new Date(clock.now() + 2_000) });
});

test('with adaptive concurrency, sends four calls first, and one more for each response', async () => {
  const { limiter } = setUp();
  const granted: Permit[] = [];
  for (let call = 0; call < 100; call += 1) void limiter.acquire().then((permit) => granted.push(permit));
  await settle();
  expect(granted).toHaveLength(4);

  for (const permit of granted.slice(0, 4)) permit.ok();
  await settle();

  // Only the first of the four responses came while all places were taken.
  expect(limiter.limits().maxConcurrent).toBe(5);
  expect(granted).toHaveLength(9);
});

test('requests the quota if the limit is unknown and more calls wait than the smallest plan allows', async () => {
  let wanted = 0;
  const { limiter } = setUp({ perMinute: 'learn', onLimitWanted: () => (wanted += 1) });
  for (let call = 0; call < 4; call += 1) void limiter.acquire();
  await settle();
  expect(wanted).toBe(0);

  for (let call = 0; call < 26; call += 1) void limiter.acquire();
  await settle();
  expect(wanted).toBe(0);

  void limiter.acquire();
  await settle();

  expect(wanted).toBeGreaterThan(0);
});

/** Four calls in flight and more that wait; says how often the limit is asked for when the queue is served. */
async function crowded(options: Omit<RateLimiterOptions, 'clock'> = {}) {
  let wanted = 0;
  const { clock, limiter } = setUp({ perMinute: 'learn', ...options, onLimitWanted: () => (wanted += 1) });
  const granted: Permit[] = [];
  for (let call = 0; call < 50; call += 1) void limiter.acquire().then((permit) => granted.push(permit));
  await settle();
  const asked = async (serve: () => void | Promise<void>) => {
    const before = wanted;
    await serve();
    await settle();
    return wanted - before;
  };
  return { clock, limiter, granted, asked };
}

test('does not request the quota again for two minutes', async () => {
  const { clock, limiter, granted, asked } = await crowded();
  limiter.configure(1_000);
  await settle();

  expect(await asked(() => granted[0]!.ok())).toBe(0);
  await clock.advance(119_999);
  expect(await asked(() => granted[1]!.ok())).toBe(0);
  await clock.advance(1);
  expect(await asked(() => granted[2]!.ok())).toBeGreaterThan(0);
});

test('requests the quota again when a refusal contradicts the limit', async () => {
  const { limiter, granted, asked } = await crowded();
  limiter.configure(1_000);
  await settle();

  expect(await asked(() => void granted[0]!.limited({ retryAfter: '30' }))).toBeGreaterThan(0);
});

test('does not request the quota if an option sets the limit, or while the service is down', async () => {
  const set = await crowded({ perMinute: 30 });
  expect(await set.asked(() => set.granted[0]!.ok())).toBe(0);

  const { granted, asked } = await crowded();
  expect(await asked(() => granted[0]!.failed({ ...FAILED, retryAfter: '30' }))).toBe(0);
});

test('calls that wait for a service that is down are sent at the time of the probe, not at the next second', async () => {
  const { clock, start, limiter } = await outage('2.5');

  const permit = limiter.acquire();
  await clock.run();

  expect((await permit).sentAt).toBe(start + 2_500);
});

test('calls that wait for responses use one timer per second', async () => {
  const clock = new VirtualClock();
  let sleeps = 0;
  const sleep = (ms: number, signal?: AbortSignal) => {
    sleeps += 1;
    return clock.sleep(ms, signal);
  };
  const limiter = new RateLimiter({ clock: { now: () => clock.now(), sleep }, maxConcurrent: 1, perMinute: 100 });
  await limiter.acquire();
  void limiter.acquire();

  await clock.advance(2_400);

  expect(sleeps).toBeLessThanOrEqual(3);
});
