import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Concurrency,
  concurrencyAfterIdle,
  concurrencyFailed,
  concurrencyResponded,
  concurrencyRoom,
  initialConcurrency,
  LARGEST_CONCURRENCY,
} from '../../../src/client/limits/concurrency.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';

interface RoundTrip {
  readonly tookMs?: number;
  readonly wasFull?: boolean;
  readonly at?: number;
}

function response(state: Concurrency, { tookMs = 100, wasFull = true, at = 1_000 }: RoundTrip = {}): Concurrency {
  return concurrencyResponded(state, { now: at, sentAt: at - tookMs, wasFull });
}

function responses(state: Concurrency, calls: number, roundTrip: RoundTrip = {}): Concurrency {
  let after = state;
  for (let call = 0; call < calls; call += 1) after = response(after, roundTrip);
  return after;
}

interface Failing {
  readonly at?: number;
  readonly sentAt?: number;
  readonly isOutage?: boolean;
}

function fail(state: Concurrency, { at = 2_000, sentAt = at - 100, isOutage = true }: Failing = {}): Concurrency {
  return concurrencyFailed(state, { now: at, sentAt, isOutage });
}

test('starts with four requests in flight and goes up to 256, one more per response', () => {
  const start = initialConcurrency('adapt');

  expect(LARGEST_CONCURRENCY).toBe(256);
  expect([0, 1, 12, 252, 1_000].map((calls) => responses(start, calls).limit)).toEqual([4, 5, 16, 256, 256]);
});

test.each([1, 16, 64])('maxConcurrent %i is where it starts and what it never exceeds', (maxConcurrent) => {
  const start = initialConcurrency(maxConcurrent);

  expect(responses(start, 50).limit).toBe(maxConcurrent);
  expect(responses(fail(start), 5_000).limit).toBe(maxConcurrent);
});

test('does not grow while fewer requests are in flight than it allows', () => {
  expect(responses(initialConcurrency('adapt'), 50, { wasFull: false }).limit).toBe(4);
});

test('grows while a round trip takes at most ten times the shortest, above 16 at most twice', () => {
  const few = response(initialConcurrency('adapt'));
  const many = responses(few, 20);

  // 25 ms are noise.
  expect(response(few, { tookMs: 1_025 }).limit).toBe(few.limit + 1);
  expect(response(few, { tookMs: 1_026 }).limit).toBe(few.limit);
  expect(response(many, { tookMs: 225 }).limit).toBe(many.limit + 1);
  expect(response(many, { tookMs: 226 }).limit).toBe(many.limit);
});

test('the shortest round trip is forgotten after two minutes: a network path changes', () => {
  const fast = responses(initialConcurrency('adapt'), 20, { tookMs: 10, at: 1_000 });
  const aMinuteLater = response(fast, { tookMs: 400, at: 62_000 });
  const twoLater = response(aMinuteLater, { tookMs: 400, at: 123_000 });

  expect(aMinuteLater.limit).toBe(fast.limit);
  expect(twoLater.limit).toBe(fast.limit + 1);
});

test('an outage halves it, never below one', () => {
  let state = initialConcurrency(8);
  const limits = [2_000, 3_000, 4_000, 5_000].map((at) => {
    state = fail(state, { at });
    return state.limit;
  });

  expect(limits).toEqual([4, 2, 1, 1]);
});

test('requests that were in flight together halve it once', () => {
  const halved = fail(initialConcurrency(64), { at: 2_000 });

  expect(fail(halved, { at: 2_050, sentAt: 1_999 })).toBe(halved);
  expect(fail(halved, { at: 2_150, sentAt: 2_050 }).limit).toBe(16);
});

test('a random loss does not change it', () => {
  const state = responses(initialConcurrency('adapt'), 30);

  expect(fail(state, { isOutage: false })).toBe(state);
});

test('a failure after round trips that have grown halves it: the service is overloaded', () => {
  const fast = responses(initialConcurrency('adapt'), 30);
  const slow = responses(fast, 10, { tookMs: 1_000 });

  expect(fail(slow, { isOutage: false }).limit).toBe(slow.limit / 2);
});

test('after it was halved it grows by one per round trip, not per response', () => {
  const halved = fail(initialConcurrency(64));

  const grown = responses(halved, 32, { at: 3_000 });

  expect(halved.limit).toBe(32);
  expect(grown.limit).toBeGreaterThan(32.9);
  expect(grown.limit).toBeLessThan(33.1);
});

/** The room beside requests that were sent at these times. */
function roomBeside(state: Concurrency, sentAt: readonly number[], { now = 10_000, unknown = undefined }: Beside = {}) {
  const inFlight = new Set(sentAt.map((at) => ({ sentAt: at })));
  const limiter = initialState(unknown?.limit ?? Number.POSITIVE_INFINITY);
  for (let call = 0; call < (unknown?.accepted ?? 0); call += 1) limiter.log.add(now, now);
  return concurrencyRoom(state, { now, inFlight, limiter });
}

interface Beside {
  readonly now?: number;
  /** A configured limit, and how many requests it has accepted. */
  readonly unknown?: { readonly limit: number; readonly accepted: number } | undefined;
}

test('the free slots are those that are not in flight', () => {
  const start = initialConcurrency('adapt');

  expect([0, 3, 4].map((calls) => roomBeside(start, Array(calls).fill(9_990)))).toEqual([4, 1, 0]);
});

test('while the window is unknown, at most eight or a sixteenth of the configured limit are in flight', () => {
  const grown = responses(initialConcurrency('adapt'), 100);
  const rooms = [undefined, 30, 1_000].map((limit) =>
    roomBeside(grown, [], { unknown: limit === undefined ? undefined : { limit, accepted: 1_000 } }),
  );

  expect(rooms).toEqual([104, 8, 62]);
  expect(roomBeside(initialConcurrency(40), [], { unknown: { limit: 30, accepted: 0 } })).toBe(40);
});

test('of a limit that may be wrong, at most eight and a seventh of what it has accepted are in flight', () => {
  const grown = responses(initialConcurrency('adapt'), 100);
  const rooms = [0, 70, 140].map((accepted) => roomBeside(grown, [], { unknown: { limit: 1_000, accepted } }));

  expect(rooms).toEqual([8, 18, 28]);
});

test('after 10 s without an response it starts with four again, and grows per response up to where it was', () => {
  const grown = responses(initialConcurrency('adapt'), 100, { at: 0 });
  const early = concurrencyAfterIdle(grown, grown.respondedAt + 9_999);
  const late = concurrencyAfterIdle(grown, grown.respondedAt + 10_000);

  expect(early).toBe(grown);
  expect(late).toMatchObject({ limit: 4, threshold: 104 });
  expect(responses(late, 10, { at: 20_000 }).limit).toBe(14);
  expect(concurrencyAfterIdle(initialConcurrency(40), 60_000).limit).toBe(40);
});

test('a request that is probably lost uses no slot', () => {
  // The average of these round trips is 100 ms, and the last was sent at 9 900.
  const state = responses(initialConcurrency('adapt'), 100, { wasFull: false, at: 10_000 });

  expect(roomBeside(state, [8_999, 9_500, 9_500, 9_500])).toBe(1);
  expect(roomBeside(state, [9_001, 9_500, 9_500, 9_500])).toBe(0);
});

test('a request is not lost while no request sent later has a response', () => {
  const state = responses(initialConcurrency('adapt'), 100, { wasFull: false, at: 5_000 });

  expect(roomBeside(state, [4_950, 4_950, 4_950, 4_950], { now: 7_000 })).toBe(0);
});

test('after 2.5 s of silence one more request is sent, never more than maxConcurrent', () => {
  const state = responses(initialConcurrency('adapt'), 5, { wasFull: false, at: 5_000 });
  const sentAt = [5_000, 5_000, 5_000, 5_000];

  expect([7_499, 7_500].map((now) => roomBeside(state, sentAt, { now }))).toEqual([0, 1]);
  expect(roomBeside(state, [...sentAt, 7_500], { now: 7_600 })).toBe(0);
  expect(roomBeside(initialConcurrency(4), sentAt, { now: 60_000 })).toBe(0);
});

test('a failure never raises it, after any other events', () => {
  const events = fc.array(fc.record({ tookMs: fc.nat(5_000), afterMs: fc.nat(3_000), kind: fc.nat(3) }));
  fc.assert(
    fc.property(events, fc.constantFrom('adapt' as const, 1, 40), (list, maxConcurrent) => {
      let state = initialConcurrency(maxConcurrent);
      let now = 0;
      for (const { tookMs, afterMs, kind } of list) {
        now += afterMs;
        const before = state.limit;
        if (kind > 1) state = fail(state, { at: now, sentAt: now - tookMs, isOutage: kind === 2 });
        else state = response(state, { tookMs, at: now, wasFull: kind === 0 });
        if (kind > 1) expect(state.limit).toBeLessThanOrEqual(before);
        expect(state.limit).toBeGreaterThanOrEqual(1);
        expect(state.limit).toBeLessThanOrEqual(state.atMost);
      }
    }),
  );
});
