import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../src/client/limits/accepted-log.ts';
import {
  burstSlotAt,
  burstSlots,
  growBurstLimit,
  hasBurstLimit,
  isBurstPeriod,
  isBurstRefusal,
  learnBurstLimit,
  NO_BURST_LIMIT,
} from '../../../src/client/limits/burst-limit.ts';

function logOf(...responses: number[]): AcceptedLog {
  const log = new AcceptedLog();
  for (const respondedAt of responses) log.add(respondedAt - 50, respondedAt);
  return log;
}

test('there is no burst limit until one is learned', () => {
  expect(hasBurstLimit(NO_BURST_LIMIT)).toBe(false);
  expect(burstSlots({ burst: NO_BURST_LIMIT, log: logOf(1, 2, 3), inFlight: 99 }, 3)).toBe(Number.POSITIVE_INFINITY);
});

test('allows as many requests per period as were accepted before the refusal', () => {
  const burst = learnBurstLimit(NO_BURST_LIMIT, { calls: 3, periodMs: 10_000, now: 2_000 });
  const log = logOf(25_000, 26_000);

  expect(hasBurstLimit(burst)).toBe(true);
  expect([0, 1].map((inFlight) => burstSlots({ burst, log, inFlight }, 30_000))).toEqual([1, 0]);
  expect(burstSlotAt({ burst, log, inFlight: 0 }, 30_000)).toBe(35_000);
  expect(burstSlots({ burst, log, inFlight: 1 }, 35_001)).toBe(1);
});

test('has no time for the next slot if every slot is in flight', () => {
  const burst = learnBurstLimit(NO_BURST_LIMIT, { calls: 1, periodMs: 1_000, now: 0 });

  expect(burstSlotAt({ burst, log: logOf(), inFlight: 0 }, 5_000)).toBeUndefined();
});

test('a second refusal lowers the limit and shortens the period, never below one request per second', () => {
  const first = learnBurstLimit(NO_BURST_LIMIT, { calls: 5, periodMs: 1_500, now: 0 });
  const more = learnBurstLimit(first, { calls: 9, periodMs: 2_000, now: 10_000 });
  const none = learnBurstLimit(more, { calls: 0, periodMs: 800, now: 20_000 });

  expect(more).toMatchObject({ calls: 5, periodMs: 1_500 });
  expect(none).toMatchObject({ calls: 1, periodMs: 1_000 });
});

test('a period of another magnitude replaces the learned limit', () => {
  const perSecond = learnBurstLimit(NO_BURST_LIMIT, { calls: 2, periodMs: 1_000, now: 0 });

  expect(learnBurstLimit(perSecond, { calls: 8, periodMs: 10_000, now: 50_000 })).toMatchObject({
    calls: 8,
    periodMs: 10_000,
  });
});

test('after a refusal it does not grow for four periods, then twice as long each time, at most two minutes', () => {
  let burst = learnBurstLimit(NO_BURST_LIMIT, { calls: 2, periodMs: 10_000, now: 0 });
  const pauses = [burst.growsAt];
  for (const now of [100_000, 200_000, 300_000]) {
    burst = learnBurstLimit(burst, { calls: 2, periodMs: 10_000, now });
    pauses.push(burst.growsAt - now);
  }

  expect(pauses).toEqual([40_000, 80_000, 120_000, 120_000]);
});

test('grows by a tenth per period, at least one request, and only if it is used up', () => {
  const small = learnBurstLimit(NO_BURST_LIMIT, { calls: 2, periodMs: 1_000, now: 0 });
  const large = { ...small, calls: 50 };
  const full = logOf(...Array.from({ length: 50 }, () => 4_500));

  expect(growBurstLimit(small, logOf(4_500, 4_600), 3_999)).toBe(small);
  expect(growBurstLimit(small, logOf(4_500), 5_000)).toBe(small);
  expect(growBurstLimit(small, logOf(4_500, 4_600), 5_000)).toEqual({ ...small, calls: 3, growsAt: 6_000 });
  expect(growBurstLimit(large, full, 5_000)).toMatchObject({ calls: 55 });
});

test('45 s is the longest period beside a limit per minute', () => {
  expect([45_000, 45_001].map(isBurstPeriod)).toEqual([true, false]);
});

test.each([
  [2_000, 3, true],
  [2_001, 3, false],
  [0, 3, true],
  [undefined, 3, false],
  [1_000, 2, false],
])(
  'whether a hint of %j ms after %i requests in a period of 1 s is the burst limit of 3: %s',
  (hintMs, calls, isBurst) => {
    const burst = { calls: 4, periodMs: 1_000, proven: 3, growsAt: 0, pauseMs: 4_000 };
    const log = new AcceptedLog();
    log.add(8_900, 8_999); // before the period
    for (let call = 0; call < calls; call += 1) log.add(8_900, 9_000);

    expect(isBurstRefusal({ burst, log }, { now: 10_000, hintMs })).toBe(isBurst);
  },
);

test.each([
  // Periods up to twice as long or as short are the same limit: the pause doubles, and the smaller number counts.
  [2_000, { calls: 3, periodMs: 2_000, pauseMs: 32_000 }],
  [8_000, { calls: 3, periodMs: 4_000, pauseMs: 32_000 }],
  [1_999, { calls: 9, periodMs: 1_999, pauseMs: 7_996 }],
  [8_001, { calls: 9, periodMs: 8_001, pauseMs: 32_004 }],
])('a refusal of 9 requests in %i ms, where 3 in 4 s were known', (periodMs, expected) => {
  const known = { calls: 3, periodMs: 4_000, proven: 3, growsAt: 0, pauseMs: 16_000 };

  expect(learnBurstLimit(known, { calls: 9, periodMs, now: 0 })).toMatchObject(expected);
});
