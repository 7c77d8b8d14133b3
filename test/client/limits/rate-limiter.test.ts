import { expect, test } from 'vitest';
import type { Permit, RequestEnd } from '../../../src/client/limits/in-flight.ts';
import type { RateLimiterOptions, Wait } from '../../../src/client/limits/rate-limiter.ts';
import type { AcquireOptions } from '../../../src/client/limits/request-queue.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../helpers/memory-limit-store.ts';
import { ask, hint, StrictLimiter, setUpLimiter } from '../../helpers/strict-limiter.ts';

/** Sends calls, one after the other, whose responses arrive at once. */
async function serve(limiter: StrictLimiter, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) (await limiter.acquire()).end({ kind: 'accepted' });
}

/** A limiter that has read this limit from `quota()`. */
function learned(perMinute: number, options: Partial<RateLimiterOptions> = {}) {
  const setting = setUpLimiter(options);
  setting.limiter.configure(perMinute);
  return setting;
}

test('a call that need not wait has its permit without a promise', async () => {
  const { start, limiter } = setUpLimiter({ perMinute: 2 });
  const failed = await limiter.acquire();
  failed.end({ kind: 'failed', error: new Error('ECONNRESET'), wasSent: false, mayHaveUsedSlot: false });

  const again = limiter.tryAcquire({ retryOf: failed, due: { deadlineAt: start } });

  expect(again).toMatchObject({ sentAt: start, ticket: failed.ticket, failures: 1 });
  expect(limiter.limits()).toMatchObject({ inFlight: 1, waiting: 0 });
});

test.each<[string, (first: Permit, limiter: StrictLimiter) => unknown, number?]>([
  ['no slot', (_, limiter) => limiter.acquire()],
  ['a refusal', (first) => first.end({ kind: 'refused', retryAfter: hint('7') })],
  ['a deadline that has passed', () => undefined, -1],
  [
    'a call that waits for the slot that is free now',
    async (first, limiter) => {
      await limiter.acquire();
      void limiter.acquire();
      first.end({ kind: 'unused' });
    },
  ],
])('with %s, there is no permit without a wait', async (_, prepare, inMs = 60_000) => {
  const { start, limiter } = setUpLimiter({ perMinute: 2 });
  await prepare(await limiter.acquire(), limiter);
  const { inFlight } = limiter.limits();

  expect(limiter.tryAcquire({ due: { deadlineAt: start + inMs } })).toBeUndefined();
  expect(limiter.limits()).toMatchObject({ inFlight });
});

const BROKEN = { kind: 'failed', error: new Error('HTTP 500'), wasSent: true, mayHaveUsedSlot: true } as const;

const ACCEPTED = { kind: 'accepted' } as const;

test.each<[string, readonly RequestEnd[]]>([
  ['the cap is used up', [ACCEPTED, ACCEPTED, ACCEPTED, BROKEN, BROKEN, BROKEN]],
  ['a refusal closes the gate', [...Array(5).fill(BROKEN), { kind: 'refused', retryAfter: hint('30') }]],
])('in an outage while %s, the limiter sleeps until a request may be sent', async (_, ends) => {
  const { clock, limiter } = setUpLimiter({ perMinute: 6 });
  const permits = await Promise.all(ends.map(() => limiter.acquire()));
  await clock.advance(10);
  for (const end of ends) permits.shift()?.end(end);
  ask(limiter, 1);

  await clock.advance(29_000);

  expect(limiter.limits()).toMatchObject({ service: { downUntil: expect.any(Date) }, waiting: 1 });
  expect(clock.sleeps.length).toBeLessThan(10);
});

test('a call of low priority is sent at its next slot, which is later than that of others', async () => {
  const { clock, limiter } = setUpLimiter({ perMinute: 60 });
  await serve(limiter, 1);
  for (let call = 0; call < 48; call += 1)
    void limiter.acquire({ priority: 'low' }).then((permit) => permit.end({ kind: 'accepted' }));
  await clock.advance(0);
  const [usual, low] = [limiter.waitMs('normal'), Math.ceil(limiter.waitMs('low'))];

  await clock.advance(low - 1);
  expect(limiter.tryAcquire({ priority: 'low', waits: false })).toBeUndefined();
  await clock.advance(1);

  expect(usual).toBe(0);
  expect(limiter.tryAcquire({ priority: 'low', waits: false })).toBeDefined();
});

test.each<[string, (permit: Permit) => Partial<AcquireOptions>, number]>([
  ['a call of normal priority', () => ({}), 6],
  ['a quota()', () => ({ priority: 'high', isFree: true }), 8],
  ['a call that is sent again', (retryOf) => ({ retryOf }), 8],
])('beside %s, calls of low priority use their part of ten slots', async (_, optionsOf, expected) => {
  const { clock, limiter } = setUpLimiter({ perMinute: 10 });
  const first = await limiter.acquire();
  first.end({ kind: 'accepted' });
  await clock.advance(120_000);

  (await limiter.acquire(optionsOf(first))).end({ kind: 'accepted' });
  const later = await limiter.acquire({ priority: 'low' });
  later.end({ kind: 'accepted' });
  await clock.advance(1);
  const sent = Array.from({ length: 10 }, () => limiter.tryAcquire({ priority: 'low', waits: false }));

  expect(sent.filter(Boolean)).toHaveLength(expected);
});

test('a call that must wait does not ask the store for a slot', async () => {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock);
  const limiter = new StrictLimiter({ clock, shared: { store, name: 'key' } });
  const first = limiter.acquire();
  await clock.runAll();
  (await first).end({ kind: 'refused', retryAfter: hint('7') });
  await clock.advance(3_000);
  const { exchanges } = store;

  for (let call = 0; call < 10; call += 1) expect(limiter.tryAcquire()).toBeUndefined();
  await clock.runAll();

  expect(store.exchanges).toBe(exchanges + 1);
});

test.each([
  ['accepted', 1],
  ['lost', 1],
  ['unused', 0],
] as const)(
  'a permit reported as %s frees its place once and uses %i of the limit, whatever follows',
  async (kind, used) => {
    const { limiter } = setUpLimiter({ perMinute: 3 });
    const permit = await limiter.acquire();

    permit.end({ kind });
    permit.end({ kind: 'accepted' });
    permit.end({ kind: 'lost' });
    permit.end({ kind: 'unused' });

    permit.end({ kind: 'failed', hintMs: 30_000, wasSent: true, mayHaveUsedSlot: true, error: new Error('503') });

    expect(permit.end({ kind: 'refused', retryAfter: hint('30') })).toBeUndefined();
    expect(permit.failures).toBe(0);
    expect(limiter.limits()).toMatchObject({ inFlight: 0, gate: 'open', service: 'up' });
    ask(limiter, 4);
    await quiet();
    expect(limiter.limits().inFlight).toBe(3 - used);
  },
);

test.each([
  ['a deadline before it', { deadlineAt: (start: number) => start + 59_999 }, 'deadline'],
  ['the policy not to wait', { waits: false }, 'policy'],
] as const)(
  'with a cap, the next slot is known before the kind of window is: %s ends a call',
  async (_, given, reason) => {
    const { clock, start, limiter } = setUpLimiter({ perMinute: 2 });
    const options = 'waits' in given ? given : { due: { deadlineAt: given.deadlineAt(start) } };
    await serve(limiter, 2);

    await expect(limiter.acquire(options)).rejects.toMatchObject({ reason, retryAt: start + 60_000 });

    expect(limiter.limits().nextSlotAt).toEqual(new Date(start + 60_000));
    expect(clock.now()).toBe(start);
  },
);

test('a call that has waited and is refused keeps its place before later calls', async () => {
  const { clock, limiter } = setUpLimiter({ maxConcurrent: 1 });
  const served: string[] = [];
  const call = async (name: string, retryOf?: Permit): Promise<unknown> => {
    const permit = await limiter.acquire({ retryOf });
    served.push(name);
    if (name !== 'second' || retryOf !== undefined) return permit.end({ kind: 'accepted' });
    permit.end({ kind: 'refused', retryAfter: hint('1') });
    return call('second', permit);
  };

  const calls = ['first', 'second', 'third', 'fourth'].map((name) => call(name));
  await clock.runAll();
  await Promise.all(calls);

  expect(served).toEqual(['first', 'second', 'second', 'third', 'fourth']);
});

// Durations of 200 and 360 ms: the average is 220 ms, and the average difference from it is 20 ms.
test.each([
  ['alone, before the usual time of a response', 0, 219, false],
  ['alone, after it', 0, 220, true],
  ['with another, before almost all responses', 1, 299, false],
  ['with another, after them', 1, 300, true],
])('15 deadlines: a waiting call gets the slot only if its response can be in time: %s', async (...given) => {
  const [, others, afterMs, isServed] = given;
  const { clock, start, limiter } = setUpLimiter({ perMinute: 2 });
  for (const tookMs of [200, 360]) {
    const permit = await limiter.acquire();
    await clock.advance(tookMs);
    permit.end({ kind: 'accepted' });
  }
  const slotAt = start + 60_200;
  const call = limiter.acquire({ due: { deadlineAt: slotAt + afterMs } });
  const [other] = Array.from({ length: others }, () => limiter.acquire());

  if (!isServed) await expect(call).rejects.toMatchObject({ reason: 'deadline', retryAt: slotAt });
  await clock.advance(60_000);
  const served = isServed ? call : other;
  if (served) expect((await served).sentAt).toBe(slotAt);
});

test('when the gate closes, the waiting calls that may not wait until it opens reject at once', async () => {
  const { start, limiter } = setUpLimiter({ maxConcurrent: 1 });
  const first = await limiter.acquire();
  const late = limiter.acquire({ due: { deadlineAt: start + 10_000 } });
  const patient = limiter.acquire({ due: { deadlineAt: start + 40_000 } });
  const unlucky = limiter.acquire({ waits: false });
  await quiet();

  first.end({ kind: 'refused', retryAfter: hint('30') });

  const retryAt = start + 30_000;
  await expect(late).rejects.toMatchObject({ reason: 'deadline', retryAt });
  await expect(unlucky).rejects.toMatchObject({ reason: 'policy', retryAt });
  await expect(limiter.acquire({ waits: false })).rejects.toMatchObject({ reason: 'policy', retryAt });
  expect(limiter.limits().waiting).toBe(1);
  void patient;
});

test('a Retry-After above the maximum rejects calls until its rest is short enough to wait', async () => {
  const { clock, start, limiter } = setUpLimiter({ maxConcurrent: 1 });
  const first = await limiter.acquire();
  const second = limiter.acquire();
  await quiet();

  const reading = first.end({ kind: 'refused', retryAfter: hint('80000') });
  const refusal = { reason: 'max_retry_after', retryAt: start + 80_000_000 };
  await expect(limiter.acquire({ due: { deadlineAt: start + 1_000 } })).rejects.toMatchObject(refusal);

  expect(reading).toMatchObject({ waitMs: 80_000_000, unit: 'seconds' });
  await expect(second).rejects.toMatchObject(refusal);
  await clock.advance(80_000_000 - 600_001);
  await expect(limiter.acquire({ retryOf: first })).rejects.toMatchObject(refusal);
  await clock.advance(1);
  const [permit] = await Promise.all([limiter.acquire(), clock.advance(600_000)]);
  expect(permit.sentAt - first.sentAt).toBe(80_000_000);
});

test('many calls have responses when the limit or the service allows, whichever is later', async () => {
  const { clock, limiter } = setUpLimiter({ perMinute: 30, maxConcurrent: 4 });
  expect(limiter.etaMs(60, { concurrency: 256 })).toBe(60_000);

  const permit = await limiter.acquire();
  clock.set(400);
  permit.end({ kind: 'accepted' });

  expect(limiter.etaMs(1, { concurrency: 256 })).toBe(400);
  expect(limiter.etaMs(20, { concurrency: 256 })).toBe(5 * 400);
  expect(limiter.etaMs(20, { concurrency: 2 })).toBe(10 * 400);
  expect(limiter.etaMs(59, { concurrency: 256 })).toBe(60_000 + 400);
  expect(limiter.etaMs(60, { concurrency: 256 })).toBe(120_000 + 400);
});

test.each([
  [30, 4, [30, 31], [0, 60_000]],
  [2, 2, [1, 2, 3], [0, 0, 60_000]],
])('of a limit of %i, the %i calls in flight are among those that wait for a response', async (...row) => {
  const [perMinute, sent, calls, expected] = row;
  const { limiter } = setUpLimiter({ perMinute });
  for (let call = 0; call < sent; call += 1) await limiter.acquire();

  expect(calls.map((count) => limiter.etaMs(count, { concurrency: 256 }))).toEqual(expected);
});

test('beside others, the last call of low priority is expected after equal intervals', async () => {
  const { limiter } = setUpLimiter({ perMinute: 30 });
  await serve(limiter, 1);
  const eta = (calls: number) => limiter.etaMs(calls, { concurrency: 256, priority: 'low' });

  expect([eta(23), eta(46)]).toEqual([0, 60_000]);
});

test.each([
  ['0.999 s', '0.999', []],
  ['1 s', '1', [1_000]],
  ['the responses of other calls', undefined, []],
])('a wait is reported from one second on, unless it is for responses: %s', async (_, retryAfter, reported) => {
  const waits: number[] = [];
  const onWait = ({ until }: Wait) => waits.push(until.getTime());
  const { clock, start, limiter } = setUpLimiter({ maxConcurrent: 1, onWait });
  const first = await limiter.acquire();
  if (retryAfter !== undefined) first.end({ kind: 'refused', retryAfter: hint(retryAfter) });
  void limiter.acquire();

  await clock.advance(10_000);

  expect(waits.map((until) => until - start)).toEqual(reported);
});

/** A limit of ten per minute that is used up, and `calls` calls that wait for the next minute. */
async function usedUp(calls: number, options: Partial<RateLimiterOptions> = {}) {
  const setting = learned(10, options);
  const { limiter } = setting;
  await serve(limiter, 10);
  const refused = await limiter.acquire();
  refused.end({ kind: 'refused', retryAfter: hint('60') });
  const signal = new Cancellation();
  for (let call = 0; call < calls; call += 1) limiter.acquire({ signal }).catch(() => undefined);
  await quiet();
  return { ...setting, refused, abortAll: () => signal.cancel(new Error('enough')) };
}

test('a call is rejected at once if too many of its priority or a higher one wait', async () => {
  const { start, limiter } = await usedUp(25);
  const high = { priority: 'high', due: { deadlineAt: start + 90_000 } } as const;
  for (let call = 0; call < 10; call += 1) void limiter.acquire(high);
  await quiet();
  expect(limiter.limits().waiting).toBe(35);

  await expect(limiter.acquire(high)).rejects.toMatchObject({ reason: 'deadline', retryAt: start + 120_000 });
  await expect(limiter.acquire({ due: high.due })).rejects.toMatchObject({ retryAt: start + 240_000 });
});

test('a refused call waits for the first slot, however many calls wait', async () => {
  const { clock, start, limiter, refused } = await usedUp(25);

  const again = limiter.acquire({ retryOf: refused, due: { deadlineAt: start + 60_000 } });
  await clock.runAll();

  expect((await again).sentAt).toBe(start + 60_000);
});

test('each wait for the window is reported once, at its start', async () => {
  const waits: Wait[] = [];
  const reportedAt: number[] = [];
  const onWait = (wait: Wait) => {
    waits.push(wait);
    reportedAt.push(clock.now() - start);
  };
  const { clock, start, limiter } = setUpLimiter({ perMinute: 1, onWait });
  for (let call = 0; call < 3; call += 1) void limiter.acquire().then((permit) => permit.end(ACCEPTED));

  await clock.runAll();

  expect(waits).toEqual([
    { until: new Date(start + 60_000), waitMs: 60_000, waiting: 2, reason: 'window' },
    { until: new Date(start + 120_000), waitMs: 60_000, waiting: 1, reason: 'window' },
  ]);
  expect(reportedAt).toEqual([0, 60_000]);
});
