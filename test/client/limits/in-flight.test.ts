import { expect, test } from 'vitest';
import type { Permit, RequestFailure } from '../../../src/client/limits/in-flight.ts';
import type { LimiterWait, RateLimiterOptions } from '../../../src/client/limits/rate-limiter.ts';
import { type RetryAfterUnit, retryAfterMs } from '../../../src/client/limits/retry-after.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { hint, type NotSentError, StrictLimiter } from '../../helpers/strict-limiter.ts';

const ERROR = new Error('503');
const FAILED: RequestFailure = { wasSent: true, mayHaveCounted: true, error: ERROR };

/** A 503 with that Retry-After. */
const failedFor = (seconds: string, unit: RetryAfterUnit = 'seconds'): RequestFailure => ({
  ...FAILED,
  hintMs: retryAfterMs(hint(seconds), unit),
});

function setUp(options: Omit<RateLimiterOptions, 'clock'> = {}) {
  const clock = new FakeClock();
  const limiter = new StrictLimiter({ clock, random: () => 0.5, perMinute: 100, ...options });
  return { clock, start: clock.now(), limiter };
}

/** A service that failed at once with a 503 that asks for `retryAfter` seconds. */
async function outage(retryAfter: string, options: Omit<RateLimiterOptions, 'clock'> = {}) {
  const setting = setUp(options);
  const first = await setting.limiter.acquire();
  first.failed(failedFor(retryAfter, setting.limiter.retryAfterUnit));
  return { ...setting, first };
}

test('a failed request that may have counted keeps its slot, one that was not sent returns it', async () => {
  const { clock, start, limiter } = setUp({ perMinute: 1 });

  (await limiter.acquire()).failed({ wasSent: false, mayHaveCounted: false, error: ERROR });
  (await limiter.acquire()).failed(FAILED);
  const third = limiter.acquire();
  await clock.runAll();

  expect((await third).sentAt).toBe(start + 60_000);
});

test('while the service is down, one call is the probe and the others wait', async () => {
  const { clock, start, limiter } = await outage('5');
  const granted: Permit[] = [];
  for (let call = 0; call < 10; call += 1) void limiter.acquire().then((permit) => granted.push(permit));

  expect(limiter.limits()).toMatchObject({
    gate: 'open',
    service: { downUntil: new Date(start + 5_000) },
    maxConcurrent: 8,
  });
  expect(limiter.isServiceDown).toBe(true);
  await clock.advance(4_999);
  expect(granted).toHaveLength(0);
  await clock.advance(60_000);
  expect(granted.map(({ sentAt }) => sentAt)).toEqual([start + 5_000]);

  granted[0]!.ok();
  await quiet();
  expect(limiter.limits().service).toBe('up');
  expect(limiter.isServiceDown).toBe(false);
  expect(granted).toHaveLength(7);
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
  await quiet();

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
  await quiet();

  expect(granted).toHaveLength(1);
});

test('if the service asks for a long wait, every call rejects for five minutes, with the failure as its cause', async () => {
  const { start, limiter } = setUp();
  const first = await limiter.acquire();
  const waiting = Array.from({ length: 200 }, () => limiter.acquire().catch((error: unknown) => error));
  first.failed(failedFor('3600'));
  await quiet();

  const late = await limiter.acquire().catch((error: unknown) => error);

  for (const error of [waiting.at(-1), late]) {
    const rejection = (await error) as NotSentError;
    expect(rejection).toMatchObject({ reason: 'outage', retryAt: start + 300_000, failure: ERROR });
  }
});

test('a call whose deadline is before the probe is rejected as unavailable', async () => {
  const { start, limiter } = await outage('30');

  const late = limiter.acquire({ due: { deadlineAt: start + 10_000 } });

  await expect(late).rejects.toMatchObject({
    reason: 'deadline',
    retryAt: start + 30_000,
    failure: ERROR,
  });
});

test('the limit, if it asks for a later time than the service, is the reason of a rejection', async () => {
  const { start, limiter } = setUp();
  const [first, second] = [await limiter.acquire(), await limiter.acquire()];
  first.limited(hint('30'));
  second.failed(failedFor('1'));

  const late = limiter.acquire({ due: { deadlineAt: start + 10_000 } });

  await expect(late).rejects.toMatchObject({ reason: 'deadline', retryAt: start + 30_000 });
});

test('waits for a service that asks for the longest wait allowed, and rejects for a longer one', async () => {
  const { clock, start, limiter } = await outage('90');
  const permit = limiter.acquire();
  await clock.runAll();
  const longer = (await outage('90.001')).limiter;

  expect((await permit).sentAt).toBe(start + 90_000);
  await expect(longer.acquire()).rejects.toMatchObject({ reason: 'outage', failure: ERROR });
});

test('a call that does not wait is rejected as unavailable', async () => {
  const { limiter } = await outage('30');

  await expect(limiter.acquire({ wait: false })).rejects.toMatchObject({ reason: 'policy', failure: ERROR });
});

test('a wait for the service is reported with its reason', async () => {
  const waits: LimiterWait[] = [];
  const { start, limiter } = await outage('30', { onWait: (wait) => waits.push(wait) });

  void limiter.acquire();
  await quiet();

  expect(waits).toEqual([{ until: start + 30_000, waiting: 1, reason: 'service' }]);
});

test('an outage without waiting calls is not reported as a wait', async () => {
  const waits: LimiterWait[] = [];
  const { limiter } = await outage('30', { onWait: (wait) => waits.push(wait) });

  limiter.configure(50);
  await quiet();

  expect(waits).toEqual([]);
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
  first.limited(hint('30000'));
  const second = limiter.acquire({ retryOf: first });
  await clock.runAll();
  (await second).ok();

  (await limiter.acquire()).failed(failedFor('2000', limiter.retryAfterUnit));

  expect(limiter.limits().service).toEqual({ downUntil: new Date(clock.now() + 2_000) });
});

test('sends sixteen requests at once; a timeout halves that, once for all in flight, and responses restore it', async () => {
  const { clock, limiter } = setUp({ perMinute: 1_000 });
  const granted: Permit[] = [];
  for (let call = 0; call < 400; call += 1) void limiter.acquire().then((permit) => granted.push(permit));
  await quiet();
  for (let sent = 0; granted.length < 100; sent += 1) {
    granted[sent]!.ok();
    await quiet();
  }
  expect(limiter.limits()).toMatchObject({ inFlight: 16, maxConcurrent: 16 });

  await clock.advance(10_000);
  for (const permit of granted.slice(-3)) permit.failed({ ...FAILED, isTimeout: true });
  const halved = limiter.limits().maxConcurrent;
  for (const permit of granted.slice(0, -3)) permit.ok();
  await quiet();
  for (const permit of granted.slice(-8)) permit.ok();

  expect(halved).toBe(8);
  expect(limiter.limits().maxConcurrent).toBeGreaterThan(8);
});

/** Calls in flight, and more that wait. */
async function crowded(options: Omit<RateLimiterOptions, 'clock'> = {}) {
  const { clock, limiter } = setUp({ perMinute: 'learn', ...options });
  const granted: Permit[] = [];
  for (let call = 0; call < 50; call += 1) void limiter.acquire().then((permit) => granted.push(permit));
  await quiet();
  return { clock, limiter, granted };
}

test('the limit is wanted again when a refusal contradicts it', async () => {
  const { limiter, granted } = await crowded();
  limiter.configure(1_000);
  await quiet();

  granted[0]!.limited(hint('30'));

  expect(limiter.isLimitWanted).toBe(true);
});

test('the limit is not wanted if an option sets it, for a single call, or while the service is down', async () => {
  expect((await crowded({ perMinute: 30 })).limiter.isLimitWanted).toBe(false);

  const single = setUp({ perMinute: 'learn' });
  (await single.limiter.acquire()).limited(hint('30'));
  void single.limiter.acquire();
  expect(single.limiter.isLimitWanted).toBe(false);

  const { limiter, granted } = await crowded();
  granted[0]!.failed(failedFor('30'));
  expect(limiter.isLimitWanted).toBe(false);
});

test('calls that wait for a service that is down are sent at the time of the probe, not at the next second', async () => {
  const { clock, start, limiter } = await outage('2.5');

  const permit = limiter.acquire();
  await clock.runAll();

  expect((await permit).sentAt).toBe(start + 2_500);
});
