import { expect, test } from 'vitest';
import {
  HEALTHY,
  InFlight,
  type ServiceHealth,
  serviceFailed,
  serviceGranted,
  serviceResponded,
  serviceRoom,
  serviceUntested,
} from '../../../src/client/limits/in-flight.ts';
import { Permit } from '../../../src/client/limits/permit.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';

const MIDDLE = () => 0.5;

interface Failing {
  readonly sentAt?: number;
  readonly hintMs?: number;
  readonly isOwn?: boolean;
  readonly random?: () => number;
}

function fail(
  health: ServiceHealth,
  now: number,
  { sentAt = now - 100, hintMs, isOwn = false, random = MIDDLE }: Failing = {},
) {
  return serviceFailed(health, { now, sentAt, hintMs, isOwn, random });
}

function response(health: ServiceHealth, times: number): ServiceHealth {
  let after = health;
  for (let call = 0; call < times; call += 1) after = serviceResponded(after, call);
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
  const health = fail(response(HEALTHY, 1_000), 1_000);

  expect(health.isDown).toBe(false);
  expect(serviceRoom(health, 1_000)).toBe(Number.POSITIVE_INFINITY);
});

test('the service is down after two failures in a row, or three if it is new', () => {
  expect(failuresUntilDown(response(HEALTHY, 100))).toBe(2);
  expect(failuresUntilDown(HEALTHY)).toBe(3);
});

test('failures between late responses of an outage do not hide it', () => {
  let health = response(HEALTHY, 100);
  for (let round = 0; round < 60; round += 1) {
    health = fail(health, 200 + round, { sentAt: 99 });
    health = serviceResponded(health, 100);
  }

  expect(failuresUntilDown(health)).toBeLessThanOrEqual(7);
});

test('if every third request fails, two failures in a row are not an outage', () => {
  let health = HEALTHY;
  for (let round = 0; round < 60; round += 1) health = fail(response(health, 2), round);

  expect(health.isDown).toBe(false);
  expect(health.failureRate).toBeGreaterThan(0.25);
  expect(failuresUntilDown(response(health, 1))).toBeGreaterThanOrEqual(5);
});

test('a success ends a run of failures', () => {
  const interrupted = serviceResponded(fail(fail(HEALTHY, 0), 1), 1);

  expect(interrupted.failuresInARow).toBe(0);
  expect(fail(fail(interrupted, 3), 4).isDown).toBe(false);
});

test('a failure older than the latest success is not part of a run, except with Retry-After', () => {
  const health = serviceResponded(HEALTHY, 100);
  const failures = (sentAt: number) => [1, 2, 3].reduce((before) => fail(before, 200, { sentAt }), health);

  expect([99, 100].map((sentAt) => failures(sentAt).isDown)).toEqual([false, true]);
  expect(fail(health, 200, { sentAt: 99, hintMs: 5_000 })).toMatchObject({ isDown: true, retryAt: 5_200 });
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

test('a response to the probe ends the outage and resets the backoff', () => {
  const health = failProbe(failProbe(down()));
  const sentAt = health.retryAt;

  const up = serviceResponded(serviceGranted(health), sentAt);

  expect(up).toEqual({ ...HEALTHY, lastSuccessSentAt: sentAt, failureRate: health.failureRate });
  expect(serviceRoom(up, sentAt + 50)).toBe(Number.POSITIVE_INFINITY);
});

test('results of requests sent before the outage began neither end nor prolong it', () => {
  const health = serviceGranted(down());

  for (const sentAt of [9_999, 10_000]) expect(serviceResponded(health, sentAt)).toBe(health);
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

  const untested = serviceUntested(serviceGranted(health), retryAt);

  expect(untested.isDown).toBe(true);
  expect(serviceRoom(untested, retryAt + 10)).toBe(1);
});

test('the abort of a call from before the outage does not allow a second probe', () => {
  const probing = serviceGranted(down());

  for (const sentAt of [9_000, 10_000]) expect(serviceUntested(probing, sentAt)).toBe(probing);
  expect(serviceUntested(HEALTHY, 19_000)).toBe(HEALTHY);
});

function permitSentAt(sentAt: number): Permit {
  return new Permit(() => undefined, { sentAt, isProbe: false, ticket: 0, retryOf: undefined });
}

/** Nothing in flight; after fast responses, at the time 0, up to twenty requests may be. */
function grown(): InFlight {
  const inFlight = new InFlight({ maxConcurrent: 'adapt', random: MIDDLE });
  while (inFlight.maxConcurrent < 20) {
    const permits = Array.from({ length: inFlight.maxConcurrent }, () => permitSentAt(0));
    for (const permit of permits) inFlight.add(permit);
    for (const permit of permits) inFlight.responded(permit, 0);
  }
  return inFlight;
}

const CONFIGURED = initialState(100);

test('eight requests may be in flight while the window of a configured limit is unknown', () => {
  const inFlight = grown();
  const states = [CONFIGURED, { ...CONFIGURED, phase: 'learning' }, { ...CONFIGURED, phase: 'known' }] as const;

  expect(states.map((state) => inFlight.room(0, state))).toEqual([8, 20, 20]);
  expect(inFlight.room(0, initialState(Number.POSITIVE_INFINITY))).toBe(20);
});

test('after ten seconds without a request, few may be in flight again', () => {
  const [idle, busy] = [grown(), grown()];
  busy.add(permitSentAt(0));
  const known = { ...CONFIGURED, phase: 'known' } as const;

  expect([idle.room(9_999, known), idle.room(10_000, known)]).toEqual([20, 4]);
  expect(busy.room(10_000, known)).toBe(19);
});

test('checks for lost requests each second, and a service that is down at its time', () => {
  const inFlight = grown();
  expect(inFlight.nextRoomAt(50)).toBe(1_050);

  const failed = permitSentAt(100);
  inFlight.add(failed);
  inFlight.failed(failed, 200, { hintMs: 2_500, error: new Error('503') });
  expect(inFlight.nextRoomAt(250)).toBe(2_700);
  inFlight.add(permitSentAt(2_700));

  expect(inFlight.nextRoomAt(2_750)).toBeUndefined();
});

test('the failure of a call itself is no sign of an outage, unless it has a Retry-After', () => {
  let health = response(HEALTHY, 100);
  for (let now = 1_000; now < 1_010; now += 1) health = fail(health, now, { isOwn: true });

  expect(health).toEqual(response(HEALTHY, 100));
  expect(fail(health, 2_000, { isOwn: true, hintMs: 1_000 }).isDown).toBe(true);
});

test('a probe that fails by itself is followed by another one at once', () => {
  const health = failProbe(down(), { isOwn: true });

  expect(health).toEqual(down());
  expect(serviceRoom(health, health.retryAt + 100)).toBe(1);
});

/** A limiter whose service has responded to `others` requests. */
function inUse(others: number): InFlight {
  const inFlight = new InFlight({ maxConcurrent: 16, random: MIDDLE });
  for (let sentAt = 0; sentAt < others; sentAt += 1) respond(inFlight, sentAt);
  return inFlight;
}

function respond(inFlight: InFlight, sentAt: number): void {
  const permit = permitSentAt(sentAt);
  inFlight.add(permit);
  inFlight.responded(permit, sentAt + 100);
}

/** Sends a request, of a new call or the retry of one, and lets it fail after `ms`. */
function failRequest(inFlight: InFlight, { sentAt, ms = 10, isTimeout = false, retryOf }: FailingRequest): Permit {
  const permit = new Permit(() => undefined, { sentAt, isProbe: false, ticket: 0, retryOf });
  inFlight.add(permit);
  inFlight.failed(permit, sentAt + ms, { hintMs: undefined, isTimeout, error: undefined });
  return permit;
}

interface FailingRequest {
  readonly sentAt: number;
  readonly ms?: number;
  readonly isTimeout?: boolean;
  readonly retryOf?: Permit | undefined;
}

test('a call that fails again after others have succeeded does not take the service down', () => {
  const inFlight = inUse(100);
  let permits = [1_000, 1_001].map((sentAt) => failRequest(inFlight, { sentAt, ms: 5 }));
  expect(inFlight.health.isDown).toBe(true);
  respond(inFlight, 2_000); // the probe

  for (const sentAt of [3_000, 4_000, 5_000]) {
    permits = permits.map((retryOf) => failRequest(inFlight, { sentAt, retryOf }));
  }

  expect(inFlight.health).toMatchObject({ isDown: false, failuresInARow: 0 });
});

test('retries without a success in between take the service down', () => {
  const inFlight = inUse(100);
  const first = failRequest(inFlight, { sentAt: 1_000 });
  expect(inFlight.health.isDown).toBe(false);

  failRequest(inFlight, { sentAt: 2_000, retryOf: first });

  expect(inFlight.health.isDown).toBe(true);
});

test.each([
  ['shorter', 99, false],
  ['as long as', 100, true],
])('timeouts %s than the usual round trip of 100 ms: down is %$', (_, ms, isDown) => {
  const inFlight = inUse(100);

  for (const sentAt of [1_000, 2_000, 3_000]) failRequest(inFlight, { sentAt, ms, isTimeout: true });

  expect(inFlight.health.isDown).toBe(isDown);
});

test('other failures than timeouts may be faster than a round trip', () => {
  const inFlight = inUse(100);

  for (const sentAt of [1_000, 2_000, 3_000]) failRequest(inFlight, { sentAt, ms: 1 });

  expect(inFlight.health.isDown).toBe(true);
});
