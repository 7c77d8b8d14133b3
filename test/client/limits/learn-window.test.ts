import { expect, test } from 'vitest';
import {
  acceptLearning,
  burstPeriodMs,
  isRefusedBelowLimit,
  type Refusal,
  refuseLearning,
  refuseUnknown,
  settleWindow,
  shortHintMs,
  waitsForOwn,
  withLimit,
} from '../../../src/client/limits/learn-window.ts';
import { jitterMs, type LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';

const NOW = 100_000;
const INITIAL = initialState(30);

interface Before extends Partial<Omit<LimiterState, 'gate' | 'hypothesis'>> {
  readonly perMinute?: number;
  /** Times of the responses, each 100 ms after its request. */
  readonly responses?: readonly number[];
  readonly gate?: Partial<LimiterState['gate']>;
  readonly hypothesis?: Partial<LimiterState['hypothesis']>;
}

/** With 30 per minute, changed as given. */
function stateOf({ perMinute = 30, responses = [], gate, hypothesis, ...changes }: Before = {}): LimiterState {
  const initial = initialState(perMinute);
  for (const respondedAt of responses) initial.log.add(respondedAt - 100, respondedAt);
  const parts = { gate: { ...initial.gate, ...gate }, hypothesis: { ...initial.hypothesis, ...hypothesis } };
  return { ...initial, ...parts, ...changes };
}

function refusalOf(changes: Partial<Refusal> = {}): Refusal {
  const hint = changes.hintMs === undefined ? 'none' : 'long';
  const usual = { now: NOW, sentAt: NOW - 100, openedAt: 0, isProbe: false, hint, hintMs: 0 } as const;
  return { ...usual, ...changes };
}

const times = (count: number, at: number) => Array.from({ length: count }, () => at);

test.each([
  [100, 120, 50],
  [100, 400, 300],
  [100, 5000, 1000],
])('round trips from %i to %i ms are a jitter of %i ms', (shortestMs, longestMs, jitter) => {
  expect(jitterMs(stateOf({ roundTrips: { shortestMs, longestMs } }))).toBe(jitter);
});

test.each<[string, Before, number]>([
  ['the configured rate', {}, 3_050],
  ['the learned rate without one', { perMinute: Number.POSITIVE_INFINITY, limit: 20 }, 4_050],
  ['a few requests in a minute', { responses: times(9, NOW) }, 3_050],
  ['ten requests in a minute', { responses: times(10, NOW) }, 7_050],
  ['fewer requests than configured', { responses: times(12, NOW) }, 6_050],
  ['more requests than configured', { responses: times(40, NOW) }, 3_050],
])('the longest hint of one slot, by %s', (_, before, ms) => {
  expect(shortHintMs(stateOf(before))).toBe(ms);
});

test('a learned limit is one at least', () => {
  expect([0, 1, 7].map((calls) => withLimit(INITIAL, calls).limit)).toEqual([1, 1, 7]);
});

test.each([
  [40_000, 45_000],
  [40_001, undefined],
  [undefined, undefined],
])('5 s after the gate opened, a hint of %j ms is for a period of %j ms', (hintMs, periodMs) => {
  expect(burstPeriodMs(NOW - 5_000, refusalOf(hintMs === undefined ? {} : { hintMs }))).toBe(periodMs);
});

test.each<[string, Before, Partial<Refusal>, number, boolean]>([
  ['a long hint', { responses: times(20, NOW) }, { hintMs: 30_000 }, 5, true],
  ['no hint', { responses: times(20, NOW) }, {}, 5, false],
  ['a short hint', { responses: times(20, NOW) }, { hintMs: 3_000, hint: 'short' }, 5, false],
  ['a little less than the limit in the window', { responses: times(26, NOW) }, { hintMs: 30_000 }, 26, true],
  ['nearly the limit in the window', { responses: times(27, NOW) }, { hintMs: 30_000 }, 27, false],
  ['a little more than the limit in the last minute', { responses: times(33, NOW) }, { hintMs: 30_000 }, 5, true],
  ['more than the limit in the last minute', { responses: times(34, NOW) }, { hintMs: 30_000 }, 5, false],
  ['a sixteenth of the limit', { perMinute: 32, responses: times(2, NOW) }, { hintMs: 30_000 }, 2, true],
  ['less than that', { perMinute: 33, responses: times(2, NOW) }, { hintMs: 30_000 }, 2, false],
  ['five requests of 100, a whole minute', { perMinute: 100, responses: times(5, NOW) }, { hintMs: 60_000 }, 5, true],
  ['one request of 100, a whole minute', { perMinute: 100, responses: times(1, NOW) }, { hintMs: 60_000 }, 1, true],
  ['no request of 100, a whole minute', { perMinute: 100, responses: [] }, { hintMs: 60_000 }, 0, false],
  ['six requests of 100, a whole minute', { perMinute: 100, responses: times(6, NOW) }, { hintMs: 60_000 }, 6, false],
  ['five requests of 100, less', { perMinute: 100, responses: times(5, NOW) }, { hintMs: 59_999 }, 5, false],
  [
    'five requests of an unknown limit, a whole minute',
    { perMinute: Number.POSITIVE_INFINITY, responses: times(5, NOW) },
    { hintMs: 60_000 },
    5,
    false,
  ],
  ['an unknown limit', { perMinute: Number.POSITIVE_INFINITY, responses: times(2, NOW) }, { hintMs: 30_000 }, 2, false],
])('whether a refusal is below the limit: %s', (_, before, refusal, accepted, expected) => {
  expect(isRefusedBelowLimit(stateOf(before), refusalOf(refusal), accepted)).toBe(expected);
});

test('while learning, a long hint below the limit makes the requests even', () => {
  const before = stateOf({ responses: times(20, NOW), gate: { accepted: 8 }, phase: 'learning' });

  const { phase, window } = refuseLearning(before, refusalOf({ openedAt: NOW - 20_000, hintMs: 40_000 }));

  expect(phase).toBe('known');
  expect(window).toEqual({ kind: 'bucket', perMs: 20 / 60_000, capacity: 2, tokens: 1, at: NOW + 40_000 });
});

test.each([
  // Sent at 49,900, with the response at 50,000: forgotten a minute later, give or take 2.1 s.
  [7_800, true],
  [7_799, false],
  [12_100, true],
  [12_101, false],
  [undefined, false],
])('whether a hint of %j ms is the end of the oldest request: %s', (hintMs, isOwn) => {
  expect(waitsForOwn(stateOf({ responses: [50_000, 99_000] }), refusalOf(hintMs === undefined ? {} : { hintMs }))).toBe(
    isOwn,
  );
  expect(waitsForOwn(INITIAL, refusalOf(hintMs === undefined ? {} : { hintMs }))).toBe(false);
});

test.each<[string, Before, Partial<Refusal>, object]>([
  [
    'a long hint',
    { responses: times(3, 99_000) },
    { hintMs: 30_000 },
    { limit: 3, countsLateResponses: true, firstBurst: 3 },
  ],
  ['no hint after nine requests', { responses: times(9, 99_000) }, {}, { limit: 30, countsLateResponses: false }],
  ['no hint after ten requests', { responses: times(10, 99_000) }, {}, { limit: 10, countsLateResponses: true }],
  ['a short hint', { responses: times(12, 99_000) }, { hintMs: 2_000, hint: 'short' }, { limit: 30 }],
  ['a probe', { responses: times(12, 99_000) }, { hintMs: 30_000, isProbe: true }, { limit: 30, firstBurst: 12 }],
  ['nearly the whole limit', { responses: times(27, 99_000) }, {}, { limit: 27, firstBurst: 27 }],
  ['a little less', { responses: times(26, 99_000) }, {}, { limit: 26, firstBurst: 26 }],
])('the first refusal with %s', (_, before, refusal, expected) => {
  const after = refuseUnknown(stateOf(before), refusalOf(refusal));

  expect(after).toMatchObject({ phase: 'learning', ...expected });
  expect(after.hypothesis).toMatchObject({ startedAt: NOW, exhaustedAt: NOW });
});

const SHORT = { hintMs: 1_000, hint: 'short' } as const;

test.each([
  [false, [1_000, 2_000, 4_000, 8_000, 16_000, 16_000]],
  [true, [1_000, 3_000, 9_000, 27_000, 27_000, 27_000]],
])('without hints, with the whole limit used (%s), tries come after %j ms', (isWhole, expected) => {
  const waits = expected.map((_, tries) => {
    const before = stateOf({
      phase: 'learning',
      firstBurst: isWhole ? 27 : 26,
      gate: { accepted: 0 },
      hypothesis: { tries },
    });
    const { gate, hypothesis } = refuseLearning(before, refusalOf());
    expect(hypothesis).toMatchObject({ hint: 'none', isOwnSlot: false, tries: tries + 1, opensAt: gate.opensAt });
    return gate.opensAt - NOW;
  });

  expect(waits).toEqual(expected);
});

test('without hints, a try comes no later than the end of the oldest request', () => {
  const before = stateOf({ responses: [40_500], gate: { accepted: 0 } });

  expect(refuseLearning(before, refusalOf())).toMatchObject({
    gate: { opensAt: 100_500 },
    hypothesis: { isOwnSlot: true, opensAt: 100_500 },
  });
});

test('a probe of a bucket is scheduled an eighth of a minute later', () => {
  const windows = [
    { kind: 'log' },
    { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' },
    { kind: 'bucket', perMs: 1, capacity: 1, tokens: 1, at: 0 },
  ] as const;

  expect(windows.map((window) => settleWindow(INITIAL, window, 1_000).probe.dueAt)).toEqual([1_000, 1_000, 8_500]);
});

/** The gate opened 10 s ago and let through `accepted` requests. */
function learning(accepted: number, before: Before = {}): LimiterState {
  const hypothesis = { startedAt: NOW - 40_000, exhaustedAt: NOW - 10_000, opensAt: NOW - 10_000 };
  const roundTrips = { shortestMs: 100, longestMs: 100 };
  return stateOf({
    phase: 'learning',
    firstBurst: 15,
    roundTrips,
    ...before,
    gate: { accepted },
    hypothesis: { ...hypothesis, ...before.hypothesis },
  });
}

/** What a refusal was taken for. */
function verdict({ phase, window, burst, limit }: LimiterState): string {
  if (phase === 'unknown') return `burst limit of ${burst.calls} in ${burst.periodMs} ms`;
  return phase === 'known' ? window.kind : `share of ${limit}`;
}

const LONG = { hintMs: 20_000, openedAt: NOW - 10_000 };
const LONGER = { ...LONG, hintMs: 40_000 };
const TRIAL = { startedAt: NOW - 12_500 };

test.each<[string, LimiterState, Partial<Refusal>, string]>([
  // 30 per minute refill five in 10 s; one more was under way.
  ['as many as a bucket refills', learning(6, { responses: times(6, NOW) }), SHORT, 'bucket'],
  ['as many as a bucket refills, without a hint', learning(6, { responses: times(6, NOW) }), {}, 'bucket'],
  ['more than that', learning(7, { responses: times(7, NOW) }), SHORT, 'share of 7'],
  [
    'more, after a short trial',
    learning(7, { responses: times(7, NOW), hypothesis: TRIAL }),
    SHORT,
    'burst limit of 7 in 1000 ms',
  ],
  [
    'more, after a short trial, without a hint',
    learning(7, { responses: times(7, NOW), hypothesis: TRIAL }),
    {},
    'burst limit of 7 in 1000 ms',
  ],
  [
    'no more than a trial of 2.6 s',
    learning(7, { responses: times(7, NOW), hypothesis: { startedAt: NOW - 12_501 } }),
    SHORT,
    'share of 7',
  ],
  [
    'more than a bucket of the learned limit refills',
    learning(3, { limit: 10, responses: times(3, NOW) }),
    SHORT,
    'share of 3',
  ],
  ['few before a long hint', learning(3), LONG, 'burst limit of 3 in 30000 ms'],
  ['few before a long hint, of the whole limit', learning(3, { firstBurst: 27 }), LONG, 'bucket'],
  ['few before a long hint, of a small burst', learning(3, { firstBurst: 2 }), LONG, 'bucket'],
  ['few before a longer hint', learning(3), LONGER, 'share of 3'],
  ['few before a longer hint, of the whole limit', learning(3, { firstBurst: 27 }), LONGER, 'share of 3'],
  ['many before the end of our oldest request', learning(9, { responses: times(12, 60_000) }), LONG, 'log'],
])('a refusal after %s', (_, before, refusal, expected) => {
  expect(verdict(refuseLearning(before, refusalOf(refusal)))).toBe(expected);
});

test.each<[string, Before, number]>([
  ['the configured rate, if the whole limit was used', { firstBurst: 27 }, 30 / 60_000],
  ['the configured rate, after a small burst', { firstBurst: 2 }, 30 / 60_000],
  ['the measured rate', {}, (0.95 * 2) / 10_000],
  ['the configured rate, if more was measured', { perMinute: 10 }, 10 / 60_000],
  ['the rate of the last minute, if that is more', { responses: [...times(29, 90_000)] }, 29 / (60_000 + 10_100)],
])('a bucket that was learned refills at %s', (_, before, perMs) => {
  const { window } = refuseLearning(learning(2, before), refusalOf(SHORT));

  expect(window).toMatchObject({ kind: 'bucket', tokens: 0, at: NOW + 50, capacity: before.firstBurst ?? 15 });
  expect((window as { perMs: number }).perMs).toBeCloseTo(perMs, 8);
});

/** The first response after a gate that opened at 90,000. */
function accept(before: Before, sentAt = NOW - 100): LimiterState {
  const hypothesis = {
    startedAt: 60_000,
    exhaustedAt: 90_000,
    opensAt: 90_000,
    hint: 'none',
  } as const;
  const state = stateOf({
    phase: 'learning',
    ...before,
    hypothesis: { ...hypothesis, tries: 3, ...before.hypothesis },
  });
  return acceptLearning(state, { now: NOW, sentAt });
}

test.each<[string, Before, number, object]>([
  ['a hint that named it', { hypothesis: { hint: 'long' } }, NOW - 100, { startsAt: 90_000, guardMs: 0 }],
  ['no hint', {}, NOW - 100, { startsAt: 90_000, guardMs: 9_950 }],
  ['no hint, 30 s later', {}, 119_950, { startsAt: 90_000, guardMs: 30_000 }],
])('the first request accepted after %s supposes a fixed window', (_, before, sentAt, window) => {
  const after = accept({ gate: { accepted: 0 }, roundTrips: { shortestMs: 1, longestMs: 1 }, ...before }, sentAt);

  expect(after.window).toEqual({ kind: 'fixed', boundary: 'assumed', ...window });
  expect(after).toMatchObject({
    phase: 'learning',
    hypothesis: { tries: 0 },
    gate: { accepted: 1 },
  });
});

test('the first request accepted later than that supposes a log, and at the end of our own request proves it', () => {
  const roundTrips = { shortestMs: 1, longestMs: 1 };

  expect(accept({ gate: { accepted: 0 }, roundTrips }, 119_951)).toMatchObject({
    phase: 'learning',
    window: { kind: 'log' },
  });
  expect(accept({ gate: { accepted: 0 }, hypothesis: { isOwnSlot: true } })).toMatchObject({
    phase: 'known',
    window: { kind: 'log' },
  });
});

test.each<[string, number, Before, boolean]>([
  ['the whole limit', 4, { limit: 4 }, true],
  // 30 per minute refill five in 10 s, with one under way and two by chance.
  ['more than a bucket refills', 9, {}, true],
  ['as many as a bucket refills', 8, {}, false],
  ['a tenth of the limit, and more than a bucket refills,', 9, { limit: 90 }, true],
  ['more than that, but little of the limit', 9, { limit: 100, perMinute: 30 }, false],
])('%s accepted in a row settle the window', (_, accepted, before, isSettled) => {
  const roundTrips = { shortestMs: 0, longestMs: 0 };

  const after = accept({ roundTrips, ...before, gate: { accepted: accepted - 1 } });

  expect(after.phase).toBe(isSettled ? 'known' : 'learning');
});

test('more than a bucket refills after a short trial restores the configured limit, and goes on learning', () => {
  const roundTrips = { shortestMs: 0, longestMs: 0 };

  const after = accept({ roundTrips, limit: 10, gate: { accepted: 8 }, hypothesis: { startedAt: 87_500 } });

  expect(after).toMatchObject({ phase: 'learning', limit: 30 });
});

test('other requests change neither the window nor the limit that are being learned', () => {
  const roundTrips = { shortestMs: 0, longestMs: 0 };
  const trial = { startedAt: 87_500 };

  expect(accept({ roundTrips, gate: { accepted: 1 } }).window).toEqual({ kind: 'log' });
  expect(accept({ roundTrips, limit: 100, gate: { accepted: 8 } }).limit).toBe(100);
  expect(accept({ roundTrips, limit: 10, gate: { accepted: 3 }, hypothesis: trial }).limit).toBe(10);
});

test('a sliding window that is learned has the requests of its minute as limit, up to the configured one', () => {
  const limits = [12, 40].map(
    (calls) => refuseLearning(learning(9, { responses: times(calls, 60_000) }), refusalOf(LONG)).limit,
  );

  expect(limits).toEqual([12, 30]);
});

test('a burst limit that is learned starts to learn the minute anew', () => {
  const window = { kind: 'fixed', startsAt: 60_000, guardMs: 0, boundary: 'assumed' } as const;

  const before = { window, limit: 7, countsLateResponses: true, responses: times(7, NOW), hypothesis: TRIAL };
  const after = refuseLearning(learning(7, before), refusalOf(SHORT));

  expect(after).toMatchObject({ phase: 'unknown', window: { kind: 'log' }, limit: 30, countsLateResponses: false });
  expect(after.gate.opensAt).toBe(NOW + 1_000);
});
