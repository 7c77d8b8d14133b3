import { expect, test } from 'vitest';
import {
  HEALTHY,
  type ServiceHealth,
  serviceAnswered,
  serviceFailed,
  serviceGranted,
  serviceRoom,
  serviceUntested,
} from '../../../src/client/limits/in-flight.ts';

const MIDDLE = () => 0.5;

interface Failing {
  readonly sentAt?: number;
  readonly hintMs?: number;
  readonly random?: () => number;
}

function fail(health: ServiceHealth, now: number, { sentAt = now - 100, hintMs, random = MIDDLE }: Failing = {}) {
  return serviceFailed(health, { now, sentAt, hintMs, random });
}

function answer(health: ServiceHealth, times: number): ServiceHealth {
  let after = health;
  for (let call = 0; call < times; call += 1) after = serviceAnswered(after, { now: call, sentAt: call });
  return after;
}

/** How many failures in a row take the service down. */
function failuresUntilDown(before: ServiceHealth): number {
  let health = before;
  let failures = 0;
  for (; !health.isDown && failures < 100; failures += 1) health = fail(health, 1_000 + failures);
  return failures;
}

/** Down since 10 000, with the first wait. */
function down(): ServiceHealth {
  return fail(HEALTHY, 10_000, { hintMs: 0 });
}

/** Grants the probe at its time and lets it fail. */
function failProbe(health: ServiceHealth, failing: Failing = {}): ServiceHealth {
  const sentAt = health.retryAt;
  return fail(serviceGranted(health), sentAt + 100, { sentAt, ...failing });
}

test('one failure never marks the service as down, even if failures are rare', () => {
  const health = fail(answer(HEALTHY, 1_000), 1_000);

  expect(health.isDown).toBe(false);
  expect(serviceRoom(health, 1_000)).toBe(Number.POSITIVE_INFINITY);
});

test('the service is down after two failures in a row, or three if it is new', () => {
  expect(failuresUntilDown(answer(HEALTHY, 100))).toBe(2);
  expect(failuresUntilDown(HEALTHY)).toBe(3);
});

test('if every third request fails, two failures in a row are not an outage', () => {
  let health = HEALTHY;
  for (let round = 0; round < 60; round += 1) health = fail(answer(health, 2), round);

  expect(health.isDown).toBe(false);
  expect(health.failureRate).toBeGreaterThan(0.25);
  expect(failuresUntilDown(answer(health, 1))).toBeGreaterThanOrEqual(5);
});

test('a success ends a run of failures', () => {
  const interrupted = serviceAnswered(fail(fail(HEALTHY, 0), 1), { now: 2, sentAt: 1 });

  expect(interrupted.failuresInARow).toBe(0);
  expect(fail(fail(interrupted, 3), 4).isDown).toBe(false);
});

test('after a 503 with Retry-After, the service is down for that time', () => {
  const health = fail(HEALTHY, 10_000, { hintMs: 5_000 });

  expect(health).toMatchObject({ isDown: true, retryAt: 15_000 });
  expect([14_999, 15_000].map((now) => serviceRoom(health, now))).toEqual([0, 1]);
});

test('a hint shorter than the backoff does not shorten it', () => {
  expect(fail(HEALTHY, 10_000, { hintMs: 1 }).retryAt).toBe(10_375);
});

test('while the service is down, one request is the probe and the others wait', () => {
  const health = down();
  const probing = serviceGranted(health);

  expect([health.retryAt - 1, health.retryAt].map((now) => serviceRoom(health, now))).toEqual([0, 1]);
  expect(serviceRoom(probing, health.retryAt + 60_000)).toBe(0);
});

test('calls sent while the service is up are no probes', () => {
  expect(serviceGranted(HEALTHY)).toBe(HEALTHY);
});

test('the backoff grows by half with every probe that fails, up to 16 s', () => {
  let health = down();
  const backoffs = [health.backoffMs];
  for (let probe = 0; probe < 10; probe += 1) {
    health = failProbe(health);
    backoffs.push(health.backoffMs);
  }

  expect(backoffs).toEqual([
    500, 750, 1_125, 1_687.5, 2_531.25, 3_796.875, 5_695.3125, 8_542.968_75, 12_814.453_125, 16_000, 16_000,
  ]);
});

test('waits between half of the backoff and the whole, at random', () => {
  const waits = [0, 0.5, 0.999].map((chance) => fail(HEALTHY, 0, { hintMs: 0, random: () => chance }).retryAt);

  expect(waits).toEqual([250, 375, 499.75]);
});

test('a probe that fails with Retry-After is repeated after that time', () => {
  const health = down();

  expect(failProbe(health, { hintMs: 30_000 }).retryAt).toBe(health.retryAt + 100 + 30_000);
});

test('an answered probe ends the outage and resets the backoff', () => {
  const health = failProbe(failProbe(down()));
  const sentAt = health.retryAt;

  const up = serviceAnswered(serviceGranted(health), { now: sentAt + 50, sentAt });

  expect(up).toEqual({ ...HEALTHY, lastSuccessSentAt: sentAt, failureRate: health.failureRate });
  expect(serviceRoom(up, sentAt + 50)).toBe(Number.POSITIVE_INFINITY);
});

test('results of requests sent before the outage began neither end nor prolong it', () => {
  const health = serviceGranted(down());

  expect(serviceAnswered(health, { now: 10_050, sentAt: 9_999 })).toBe(health);
  expect(fail(health, 10_050, { sentAt: 9_999 })).toEqual(health);
});

test('simultaneous requests that fail immediately lengthen the backoff only once', () => {
  let health = HEALTHY;
  for (let request = 0; request < 16; request += 1) health = fail(health, 1_000, { sentAt: 1_000 });

  expect(health).toMatchObject({ isDown: true, backoffMs: 500 });
});

test('the Retry-After of such requests applies', () => {
  expect(fail(down(), 10_050, { sentAt: 9_999, hintMs: 20_000 }).retryAt).toBe(30_050);
});

test('after the caller of a probe aborts, the next call is the probe', () => {
  const health = down();
  const { retryAt } = health;

  const untested = serviceUntested(serviceGranted(health), { now: retryAt + 10, sentAt: retryAt });

  expect(untested.isDown).toBe(true);
  expect(serviceRoom(untested, retryAt + 10)).toBe(1);
});

test('the abort of a call from before the outage does not allow a second probe', () => {
  const probing = serviceGranted(down());

  expect(serviceUntested(probing, { now: 20_000, sentAt: 9_000 })).toBe(probing);
});
