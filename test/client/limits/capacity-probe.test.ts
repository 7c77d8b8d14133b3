import { expect, test } from 'vitest';
import {
  FIRST_PROBE,
  forgetEmpty,
  slowBucketDown,
  speedBucketUp,
  wasProbeRefused,
} from '../../../src/client/limits/capacity-probe.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';
import type { BucketWindow } from '../../../src/client/limits/window.ts';

const MINUTE = 60_000;

function bucketOf(perMinute: number, capacity = 1): LimiterState {
  const window = { kind: 'bucket', perMs: perMinute / MINUTE, capacity, tokens: 1, at: 0 } as const;
  return { ...initialState(60), phase: 'known', window, probe: { ...FIRST_PROBE, emptyAt: 0 } };
}

function slowDown(state: LimiterState, now: number, { isProbe = false, hintMs = 0 } = {}): LimiterState {
  if (state.window.kind !== 'bucket') throw new TypeError('not a bucket');
  return slowBucketDown(state, state.window, { now, isProbe, hintMs });
}

/** As many requests accepted since the bucket was empty at 0. */
function withAccepted(state: LimiterState, accepted: number): LimiterState {
  return { ...state, gate: { ...state.gate, accepted } };
}

function perMinuteOf({ window }: LimiterState): number {
  return window.kind === 'bucket' ? Math.round(MINUTE * window.perMs) : 0;
}

test('a refusal slows a bucket down by a tenth and empties it; that of a probe only empties it', () => {
  const slower = slowDown(bucketOf(60), 1_000);

  expect(slower.window).toMatchObject({ tokens: 0, at: 1_050 });
  expect(perMinuteOf(slower)).toBe(54);
  expect(perMinuteOf(slowDown(bucketOf(60), 1_000, { isProbe: true }))).toBe(60);
});

test('refusals never slow a bucket below what was accepted in the last minute, beyond its capacity', () => {
  let state = bucketOf(60);
  for (let call = 0; call < 31; call += 1) state.log.add(call, call);
  const rates = Array.from({ length: 8 }, (_, second) => {
    state = withAccepted(slowDown(state, second * 1_000), second + 1);
    return perMinuteOf(state);
  });

  expect(rates).toEqual([54, 49, 44, 39, 35, 32, 30, 30]);
});

test('a rate is measured by eight requests or more between two refusals, and set just below that', () => {
  const after = (accepted: number) => perMinuteOf(slowDown(withAccepted(bucketOf(60, 10), accepted), 16_000));

  // 8 requests in 16 s are 30 per minute; 7 are too few to tell.
  expect([after(8), after(7)]).toEqual([29, 54]);
});

test('a measured rate never exceeds the assumed one, and counts from the last refusal', () => {
  const first = slowDown(withAccepted(bucketOf(60, 10), 10), 1_000);
  const second = slowDown(withAccepted(first, 20), 41_000);

  expect([perMinuteOf(first), perMinuteOf(second)]).toEqual([60, 15]);
});

test('after a refusal that confirms the rate, the next step up waits for half a minute', () => {
  const due = (accepted: number) => slowDown(withAccepted(bucketOf(60, 10), accepted), 10_000).probe.dueAt;

  expect([due(9), due(8)]).toEqual([40_000, 17_500]);
});

test('two refusals in a row at nearly the same rate confirm that of a small bucket', () => {
  const dueAfter = (second: number, capacity: number) => {
    const refused = slowDown(bucketOf(60, capacity), 1_000);
    return slowDown({ ...bucketOf(second, capacity), probe: refused.probe }, 10_000).probe.dueAt;
  };

  expect([dueAfter(55, 7), dueAfter(54, 7)]).toEqual([40_000, 17_500]);
  expect(dueAfter(60, 8)).toBe(17_500);
});

test('a hint leaves one token at its end, however long it is', () => {
  const { window } = slowDown(withAccepted(bucketOf(60, 10), 10), 10_000, { hintMs: 5_000 });

  expect(window).toMatchObject({ tokens: 0, at: 10_000 + 5_000 - 1_000 / 0.97 });
});

test('what a bucket refills beyond its capacity while the gate is closed does not count in its rate', () => {
  const waited = slowDown(withAccepted(bucketOf(60, 10), 10), 10_000, { hintMs: 20_000 });
  const perMs = 0.97 / 1_000;

  expect(waited.probe).toMatchObject({ acceptedAtEmpty: 10 });
  expect(waited.probe.emptyAt).toBeCloseTo(10_000 + 20_000 - 11 / perMs, 6);
});

test('a bucket that was full since it was empty is not measured', () => {
  const state = withAccepted(bucketOf(60, 10), 8);
  const filled = (tokens: number) => forgetEmpty({ ...state, window: { ...state.window, tokens } as BucketWindow });

  expect([filled(9.9), filled(10)].map((before) => perMinuteOf(slowDown(before, 16_000)))).toEqual([29, 54]);
});

test('a bucket of fewer than eight slows down by a tenth at most: it overflows between two requests', () => {
  const after = (capacity: number) => perMinuteOf(slowDown(withAccepted(bucketOf(60, capacity), 8), 16_000));

  expect([after(8), after(7)]).toEqual([29, 54]);
});

test('after a refusal the rate grows again, with steps that become larger', () => {
  let state: LimiterState = { ...slowDown(bucketOf(60), 0), configured: 1_000 };
  state = { ...state, probe: { ...state.probe, step: 1.02 } };
  const rates = Array.from({ length: 6 }, (_, step) => {
    state = { ...state, gate: { ...state.gate, accepted: state.gate.accepted + 4 } };
    state = speedBucketUp(state, (step + 1) * 7_500);
    return perMinuteOf(state);
  });

  expect(rates).toEqual([55, 57, 60, 67, 80, 106]);
});

test('a small step up waits until four requests were accepted since the last one', () => {
  const slower = slowDown(bucketOf(60), 0);
  const accepted = (calls: number) => ({ ...slower, gate: { ...slower.gate, accepted: calls } });

  expect(perMinuteOf(speedBucketUp(accepted(3), 60_000))).toBe(54);
  expect(perMinuteOf(speedBucketUp(accepted(4), 60_000))).toBeGreaterThan(54);
});

test('the rate grows once it is due, and the next time an eighth of a minute later', () => {
  const state = { ...bucketOf(20), probe: { ...FIRST_PROBE, dueAt: 5_000 } };

  expect(speedBucketUp(state, 4_999)).toBe(state);
  const faster = speedBucketUp(state, 5_000);

  expect(perMinuteOf(faster)).toBe(30);
  expect(faster.probe).toMatchObject({ dueAt: 12_500, step: 1.5, acceptedAtStep: 0 });
});

test('the rate does not grow beyond the configured one, nor before the window is known', () => {
  const learning: LimiterState = { ...bucketOf(20), phase: 'learning' };

  expect(perMinuteOf(speedBucketUp(bucketOf(50), 0))).toBe(60);
  expect(speedBucketUp(learning, 0)).toBe(learning);
});

test('requests accepted before the last step do not count for the next one', () => {
  const state = bucketOf(20);
  const probe = { ...FIRST_PROBE, step: 1.1, acceptedAtStep: 8 };
  const after = (accepted: number) => ({ ...state, probe, gate: { ...state.gate, accepted } });

  expect([11, 12].map((accepted) => perMinuteOf(speedBucketUp(after(accepted), 0)))).toEqual([20, 22]);
});

test.each([
  [1.5, 1.125],
  [1.04, 1.02],
])('after a refusal of a bucket a step of %d becomes %d, due an eighth of a minute later', (step, next) => {
  const { probe } = slowDown({ ...bucketOf(60), probe: { ...FIRST_PROBE, step } }, 1_000);

  expect(probe.step).toBeCloseTo(next, 10);
  expect(probe.dueAt).toBe(8_500);
});

test('a pause of more than a minute shows that a probe was refused', () => {
  expect([60_000, 60_001].map((pauseMs) => wasProbeRefused({ ...FIRST_PROBE, pauseMs }))).toEqual([false, true]);
});
