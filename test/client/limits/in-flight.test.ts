import { expect, test } from 'vitest';
import { InFlight, Permit, type RequestFailure } from '../../../src/client/limits/in-flight.ts';
import type { RateLimiterOptions, Wait } from '../../../src/client/limits/rate-limiter.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { ask, hint, type NotSentError, type StrictLimiter, setUpLimiter } from '../../helpers/strict-limiter.ts';

const ERROR = new Error('503');
const FAILED: RequestFailure = { kind: 'failed', wasSent: true, mayHaveUsedSlot: true, error: ERROR };

/** A 503 with that Retry-After. */
const failedFor = (seconds: string): RequestFailure => ({ ...FAILED, hintMs: 1_000 * Number(seconds) });

function setUp(options: Partial<RateLimiterOptions> = {}) {
  return setUpLimiter({ random: () => 0.5, perMinute: 100, ...options });
}

/** A service that failed at once with a 503 that asks for `retryAfter` seconds. */
async function outage(retryAfter: string, options: Partial<RateLimiterOptions> = {}) {
  const setting = setUp(options);
  const first = await setting.limiter.acquire();
  first.end(failedFor(retryAfter));
  return { ...setting, first };
}

test.each([
  ['that may have counted', { perMinute: 'learn' }, { wasSent: true, mayHaveUsedSlot: true }, 1],
  ['that was not counted', { perMinute: 'learn' }, { wasSent: true, mayHaveUsedSlot: false }, 0],
  ['that was not counted, with a cap on all requests,', { perMinute: 2 }, { wasSent: true, mayHaveUsedSlot: false }, 1],
  ['that was not sent, with a cap,', { perMinute: 2 }, { wasSent: false, mayHaveUsedSlot: false }, 0],
] as const)('a failed request %s uses a slot, or returns it', async (_, options, failure, used) => {
  const { limiter } = setUp(options);
  limiter.configure(2);

  limiter.tryAcquire()?.end({ ...FAILED, ...failure });
  const granted = [1, 2, 3].filter(() => limiter.tryAcquire() !== undefined);

  expect(granted).toHaveLength(2 - used);
});

test('while the service is down, one call is the probe and the others wait', async () => {
  const { clock, start, limiter } = await outage('2.5');
  const granted = ask(limiter, 10);

  expect(limiter.limits()).toMatchObject({
    gate: 'open',
    service: { downUntil: new Date(start + 2_500) },
    maxConcurrent: 8,
  });
  await clock.advance(2_499);
  expect(granted).toHaveLength(0);
  await clock.advance(60_000);
  expect(limiter.tryAcquire()).toBeUndefined(); // the probe has no response yet
  expect(granted.map(({ sentAt }) => sentAt)).toEqual([start + 2_500]);

  granted[0]!.end({ kind: 'accepted' });
  await quiet();
  expect(limiter.limits().service).toBe('up');
  expect(granted).toHaveLength(9); // the probe, and as many as the outage leaves
});

/** Calls with names, in the order in which they are granted. */
function namedCalls(limiter: StrictLimiter) {
  const granted: { readonly name: string; readonly permit: Permit }[] = [];
  const wait = (name: string, retryOf?: Permit) =>
    void limiter.acquire({ retryOf }).then((permit) => granted.push({ name, permit }));
  return { granted, wait };
}

test('the probe is the call with the fewest failures; a failed call keeps its place in the queue', async () => {
  const { clock, limiter, first } = await outage('1', { maxConcurrent: 2 });
  const { granted, wait } = namedCalls(limiter);
  wait('later');
  wait('last');
  wait('again', first);

  await clock.advance(1_000);
  expect(granted.map(({ name }) => name)).toEqual(['later']);
  granted[0]!.permit.end({ kind: 'accepted' });
  await quiet();

  expect(granted.map(({ name }) => name)).toEqual(['later', 'again', 'last']);
});

test('after one failure, a call without a failed attempt is sent first, until a response arrives', async () => {
  const { clock, limiter } = setUp({ perMinute: 1_000, maxConcurrent: 1 });
  const first = await limiter.acquire();
  const { granted, wait } = namedCalls(limiter);
  for (const name of ['second', 'third']) wait(name);
  first.end(FAILED);
  wait('again', first);

  await clock.advance(1);
  expect(granted.map(({ name }) => name)).toEqual(['second']);
  granted[0]?.permit.end({ kind: 'accepted' });
  await clock.advance(1);

  expect(granted.map(({ name }) => name)).toEqual(['second', 'again']);
});

test('a shorter Retry-After of another failure leaves the longer one', () => {
  const { flight, send, fail } = requests();
  const sent = [send(0), send(0)];

  for (const hintMs of [30_000, 1_000]) fail(sent.pop()!, 10, { hintMs });

  expect(flight.health.retryAt).toBe(30_010);
});

test.each([
  ['the outage', 100, ERROR, 3],
  ['a cap that is used up for longer', 3, undefined, 60],
])('a call that %s delays has the last failure only for an outage', async (_, perMinute, failure, seconds) => {
  const { start, limiter } = setUp({ perMinute });
  for (const end of [{ kind: 'accepted' }, { kind: 'accepted' }, failedFor('3')] as const)
    (await limiter.acquire()).end(end);

  const rejected = await limiter.acquire({ waits: false }).catch((error: NotSentError) => error);

  expect(rejected).toMatchObject({ failure, retryAt: start + 1_000 * seconds });
});

test('after the caller of a probe aborts, the next call is the probe', async () => {
  const { clock, limiter } = await outage('5');
  const probe = limiter.acquire();
  const granted = ask(limiter, 1);
  await clock.advance(5_000);
  expect(granted).toHaveLength(0);

  (await probe).end({ kind: 'lost' });
  await quiet();

  expect(granted).toHaveLength(1);
});

test('if the service asks for a long wait, calls reject for five minutes before the next probe', async () => {
  const { clock, start, limiter } = setUp({ maxConcurrent: 1 });
  const first = await limiter.acquire();
  const waiting = Array.from({ length: 200 }, () => limiter.acquire().catch((error: unknown) => error));
  first.end(failedFor('3600'));
  await clock.advance(299_999);

  const late = limiter.acquire().catch((error: unknown) => error);

  for (const error of [waiting.at(-1), late]) {
    const rejection = (await error) as NotSentError;
    expect(rejection).toMatchObject({ reason: 'outage', retryAt: start + 300_000, failure: ERROR });
  }
  await clock.advance(1);
  expect((await limiter.acquire()).sentAt).toBe(start + 300_000);
  expect(limiter.tryAcquire()).toBeUndefined();
});

test('the limit, if it asks for a later time than the service, is the reason of a rejection', async () => {
  const { start, limiter } = setUp();
  const [first, second] = [await limiter.acquire(), await limiter.acquire()];
  first.end({ kind: 'refused', retryAfter: hint('30') });
  second.end(failedFor('1'));

  const late = limiter.acquire({ due: { deadlineAt: start + 10_000 } });

  await expect(late).rejects.toMatchObject({ reason: 'deadline', retryAt: start + 30_000 });
});

test('an outage is reported as a wait, with its reason, when a call waits', async () => {
  const waits: Wait[] = [];
  const { start, limiter } = await outage('30', { onWait: (wait) => waits.push(wait) });
  limiter.configure(50);
  await quiet();
  expect(waits).toEqual([]);

  void limiter.acquire();
  await quiet();

  expect(waits).toMatchObject([{ until: new Date(start + 30_000), waiting: 1, reason: 'service' }]);
});

test('the limit is wanted again when a refusal contradicts it, but not in an outage', async () => {
  const { limiter } = setUp({ perMinute: 'learn' });
  const granted = ask(limiter, 50);
  await quiet();
  limiter.configure(1_000);
  await quiet();

  granted[0]!.end({ kind: 'refused', retryAfter: hint('30') });
  expect(limiter.isLimitWanted).toBe(true);
  granted[1]!.end(failedFor('30'));

  expect(limiter.isLimitWanted).toBe(false);
});

/** The requests in flight alone. Times are milliseconds; a jitter of 0.5 makes a backoff three quarters as long. */
function requests(maxConcurrent = 16) {
  const flight = new InFlight({ maxConcurrent, random: () => 0.5 });
  const send = (sentAt: number, retryOf?: Permit) => {
    const permit = new Permit(() => undefined, { sentAt, skippedMs: 0, ticket: 0, retryOf });
    flight.add(permit);
    return permit;
  };
  const fail = (permit: Permit, now: number, more: Partial<RequestFailure> = {}) =>
    flight.failed(permit, now, { ...FAILED, tookMs: now - permit.sentAt, ...more });
  const succeed = (permit: Permit, now: number) => flight.responded(permit, now - permit.sentAt);
  return { flight, send, fail, succeed };
}

/** Three requests that fail together, at 100. */
function down() {
  const all = requests();
  const early = all.send(0);
  for (const permit of [0, 0, 0].map((at) => all.send(at))) all.fail(permit, 100);
  return { ...all, early };
}

type Sent = readonly ['failed' | 'succeeded', sentAt: number, at: number];
const failures = (times: number, sentAt: number, at: number) => Array<Sent>(times).fill(['failed', sentAt, at]);
/** An older request that responds later changes nothing. */
const successes: readonly Sent[] = [
  ['succeeded', 10, 20],
  ['succeeded', 5, 21],
];

test.each<[string, readonly Sent[], number?]>([
  ['three failures', failures(3, 0, 10), 10],
  [
    'one more, which was in flight when it began, does not prolong it',
    [...failures(3, 0, 10), ...failures(1, 0, 200)],
    10,
  ],
  ['two failures are none', failures(2, 0, 10)],
  [
    'two failures before a success and two after it are none',
    [...failures(2, 9, 9), ...successes, ...failures(2, 30, 40)],
  ],
  ['three failures after a success', [...failures(2, 9, 9), ...successes, ...failures(3, 30, 40)], 40],
  ['failures of requests sent before the last successful one are none', [...successes, ...failures(3, 9, 40)]],
  ['failures of requests sent with it', [...successes, ...failures(3, 10, 40)], 40],
])('three failures in a row are an outage: %s', (_, sent, downAt) => {
  const { flight, send, fail, succeed } = requests();

  const permits = sent.map(([, sentAt]) => send(sentAt));
  sent.forEach(([kind, , at], place) => {
    if (kind === 'failed') fail(permits[place]!, at);
    else succeed(permits[place]!, at);
  });

  const { isDown, since, retryAt } = flight.health;
  expect(isDown ? { since, retryAt } : undefined).toEqual(downAt && { since: downAt, retryAt: downAt });
});

test('a call that fails again and again while others succeed is no outage', () => {
  const { flight, send, fail, succeed } = requests();
  let own = send(0);
  fail(own, 10);
  succeed(send(10), 15); // sent when the call failed, so not after it
  succeed(send(11), 20);
  for (const at of [30, 40, 50, 60]) {
    own = send(at, own);
    fail(own, at);
    expect(own.firstFailedAt).toBe(10);
  }
  expect(flight.health.isDown).toBe(false);

  for (const at of [70, 71, 72]) fail(send(at), at); // other calls
  expect(flight.health.isDown).toBe(true);
});

test('a call whose first failure came with the last success counts toward an outage', () => {
  const { flight, send, fail, succeed } = requests();
  const calls = [1, 2, 3].map(() => send(0));
  for (const permit of calls.slice(0, 2)) fail(permit, 10);
  succeed(send(10), 12);
  for (const permit of calls.map((call) => send(20, call))) fail(permit, 30);

  expect(flight.health.isDown).toBe(true);
});

test.each([
  ['timeouts shorter than a usual round trip', 999, true, false],
  ['timeouts as long as a usual round trip', 1_000, true, true],
  ['other failures, however fast,', 1, false, true],
])('three %s', (_, afterMs, isTimeout, isOutage) => {
  const { flight, send, fail, succeed } = requests();
  succeed(send(0), 1_000);
  for (const permit of [1, 2, 3].map(() => send(1_000))) fail(permit, 1_000 + afterMs, { isTimeout });

  expect(flight.health.isDown).toBe(isOutage);
});

test.each([
  ['sent before it does not end', 0, true],
  ['that is not the probe, but sent during it, ends', 100, false],
])('a response to a request %s an outage', (_, sentAt, isDown) => {
  const { flight, send, early, succeed } = down();
  const sent = sentAt === 0 ? early : send(sentAt);
  send(101); // the probe now

  succeed(sent, 200);

  expect(flight.health.isDown).toBe(isDown);
});

test('the first probe is due at once; each failed one lengthens the wait by half; the last is 90 s after the beginning', () => {
  const { flight, send, fail } = down();
  const probes: number[] = [];
  while (flight.health.retryAt < 200_000) {
    const { retryAt } = flight.health;
    probes.push(retryAt);
    fail(send(retryAt), retryAt);
  }

  const waits = probes.map((at, place) => at - (probes[place - 1] ?? 100));
  expect(waits.slice(0, 5)).toEqual([0, 563, 844, 1_266, 1_899]);
  expect(probes).toContain(90_100);
  expect(waits.slice(-3)).toEqual([12_000, 12_000, 12_000]);
});

test('a probe is sent when it is due; no other request is, and the outage lasts until it ends', () => {
  const { flight, send, fail, succeed } = down();
  fail(send(100), 100);
  expect([flight.room(662), flight.room(663), flight.nextRoomAt]).toEqual([0, 1, 663]);

  const probe = send(663);

  expect([flight.room(663), flight.nextRoomAt]).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(flight.healthAt(1_000_000).isDown).toBe(true);
  succeed(probe, 700);
  expect([flight.health.isDown, flight.nextRoomAt]).toEqual([false, Number.POSITIVE_INFINITY]);
});

test('calls do not wait for an outage that is announced to be longer than they wait, until it is over', () => {
  const { flight, send, fail } = requests();
  fail(send(0), 0, { hintMs: 90_000 });
  expect(flight.isDownForLong(0)).toBe(false);

  fail(send(0), 0, { hintMs: 90_001 });

  expect([0, 90_000, 90_001].map((now) => flight.isDownForLong(now))).toEqual([true, true, false]);
  expect(flight.healthAt(180_001).isDown).toBe(true);
  expect([flight.room(180_002), flight.health.isDown]).toEqual([4, false]);
});

test('with a margin, a response takes the average and four average deviations', () => {
  const { flight, send, succeed } = requests();
  const take = (...durations: readonly number[]) => durations.map((ms) => succeed(send(0), ms));
  take(100);
  expect([flight.responseMs(), flight.responseMs(true)]).toEqual([100, 100]);

  take(180, 110); // averages of 110 and 110, deviations of 10 and 8.75

  expect([flight.responseMs(), flight.responseMs(true)]).toEqual([110, 145]);
});

test('an outage that no request has tested for longer than calls wait is forgotten', async () => {
  const { clock, limiter } = setUp();
  for (let failure = 1; failure <= 4; failure += 1) (await limiter.acquire()).end(FAILED);
  expect(limiter.limits()).toMatchObject({ service: { downUntil: expect.any(Date) }, reason: 'service' });

  await clock.advance(10_000);
  expect(limiter.limits().reason).toBeUndefined(); // a call made now tests the service
  await clock.advance(3_600_000);
  expect(limiter.limits().service).toBe('up');
  const failed = await limiter.acquire();
  failed.end(FAILED);
  const again = await limiter.acquire({ retryOf: failed });

  expect(again.sentAt).toBe(clock.now());
});

test('the first probe is due at once again after the service has worked', () => {
  const { flight, send, fail, succeed } = down();
  fail(send(475), 475);
  succeed(send(2_000), 2_010);
  for (const at of [3_000, 3_001, 3_002]) fail(send(at), at);

  expect(flight.health).toEqual({ isDown: true, since: 3_002, retryAt: 3_002 });
});

test('a probe that fails by itself does not lengthen the wait, unless the service asks for one', () => {
  const { flight, send, fail, succeed } = requests();
  succeed(send(0), 1_000);
  for (const at of [1_000, 1_001, 1_002]) fail(send(at), at);
  const { retryAt } = flight.health;
  fail(send(retryAt), retryAt + 10, { isTimeout: true }); // shorter than a usual round trip
  expect(flight.health.retryAt).toBe(retryAt);

  fail(send(retryAt + 20), retryAt + 30, { isTimeout: true, hintMs: 7_000 });
  expect(flight.health.retryAt).toBe(retryAt + 30 + 7_000);
});

test('timeouts halve the number of requests in flight once for all sent before', () => {
  const { flight, send, fail, succeed } = requests(8);
  const sent = [1, 2, 3].map(() => send(0));
  fail(sent[0]!, 10, { isTimeout: true });
  fail(sent[1]!, 20, { isTimeout: true });
  expect(flight.maxConcurrent).toBe(4);
  fail(send(10), 30, { isTimeout: true }); // sent when it was halved
  expect(flight.maxConcurrent).toBe(2);

  succeed(sent[2]!, 40); // one of two was in flight
  expect(flight.maxConcurrent).toBe(2);
  const full = [send(50), send(50)];
  succeed(full[0]!, 60);
  expect(flight.maxConcurrent).toBe(3);
});
