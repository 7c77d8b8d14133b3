import { expect, test } from 'vitest';
import {
  acceptBehindGate,
  knownSlots,
  lastSlotAt,
  OPEN_GATE,
  recordRefusal,
} from '../../../src/client/limits/grant.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { LimiterRun } from '../../helpers/limiter-run.ts';

const MINUTE = 60_000;
const BUCKET = { kind: 'bucket', perMs: 10 / MINUTE, capacity: 5, tokens: 0, at: 0 } as const;
const FIXED = { kind: 'fixed', startsAt: 0, guardMs: 500, boundary: 'assumed' } as const;

interface Known extends Partial<LimiterState> {
  readonly perMinute?: number;
  /** Requests that were accepted at 100. */
  readonly accepted?: number;
}

/** A run in the phase `known` that has sent nothing, changed as given. */
function knownRun({ perMinute = 10, accepted = 0, ...changes }: Known = {}): LimiterRun {
  const run = new LimiterRun(perMinute);
  run.state = { ...run.state, phase: 'known', ...changes };
  for (let call = 0; call < accepted; call += 1) run.state.log.add(0, 100);
  return run;
}

test('the first boundary of a fixed window is tested by one request, after its guard', () => {
  const run = knownRun({ window: FIXED, accepted: 10 });

  expect(run.ask(MINUTE)).toEqual({ count: 0, isProbe: false, askAgainAt: MINUTE + 500 });
  expect(run.ask(MINUTE + 500).count).toBe(1);
  expect(run.state.window).toMatchObject({ startsAt: MINUTE, boundary: 'testing' });
});

test('after the request that tests the boundary, two follow, also if a burst limit grows meanwhile', () => {
  const burst = { calls: 1, periodMs: 1_000, proven: 1, growsAt: MINUTE + 650, pauseMs: 4_000 };
  const run = knownRun({ window: FIXED, burst, accepted: 4 });
  run.ask(MINUTE + 500);
  expect(run.ask(MINUTE + 550).count).toBe(0);
  run.accept(MINUTE + 500);
  run.ask(MINUTE + 700, 0);
  expect(run.state.burst.calls).toBe(2);

  expect(run.ask(MINUTE + 1_650).count).toBe(2);
});

test('a request that was in flight at the boundary does not test it', () => {
  const run = knownRun({ window: FIXED, accepted: 4 });
  run.ask(MINUTE - 50, 1);
  run.ask(MINUTE);
  run.accept(MINUTE - 50);

  expect(run.ask(MINUTE + 500).count).toBe(1);
});

test('the boundary of a window that is confirmed needs no test', () => {
  const run = knownRun({ window: { ...FIXED, boundary: 'confirmed' }, accepted: 10 });

  expect(run.ask(MINUTE).count).toBe(0);
  expect(run.ask(MINUTE + 500).count).toBe(10);
  expect(run.state.gate).toEqual(OPEN_GATE);
});

test('a burst limit that is used up grows when it is due', () => {
  const burst = { calls: 2, periodMs: 1_000, proven: 2, growsAt: 500, pauseMs: 4_000 };
  const run = knownRun({ burst, accepted: 2 });

  run.ask(499);
  expect(run.state.burst).toEqual(burst);
  run.ask(500);
  expect(run.state.burst).toMatchObject({ calls: 3, proven: 2 });
});

test('a grant of all calls that are wanted names no time to ask again, one of fewer the next slot', () => {
  expect(new LimiterRun().ask(0, 2)).toEqual({ count: 2, isProbe: false, askAgainAt: undefined });

  const run = knownRun({ perMinute: 3, accepted: 1 });
  expect(run.ask(200)).toEqual({ count: 2, isProbe: false, askAgainAt: MINUTE + 100 });
  expect(run.state.window).toEqual({ kind: 'log' });
});

test('behind a gate that has just opened, the others wait for the response to the first', () => {
  const gate = { ...OPEN_GATE, opensAt: 100, wasClosed: true };
  const run = knownRun({ gate });

  expect(run.ask(200)).toMatchObject({ count: 1, askAgainAt: undefined });
  expect(run.ask(300)).toEqual({ count: 0, isProbe: false, askAgainAt: undefined });
});

test.each([
  // The gate that was closed lets one more pass than were accepted, until the limit was used once.
  [{ wasClosed: true, accepted: 2 }, 3],
  [{ wasClosed: true, accepted: 9 }, 4],
  [{ wasClosed: true, accepted: 10 }, 10],
  [{ wasClosed: false, accepted: 2 }, 10],
])('with a gate of %j, %i calls are sent at once', (gate, n) => {
  expect(knownRun({ gate: { ...OPEN_GATE, ...gate } }).ask(0).count).toBe(n);
});

test('while learning, requests in flight are subtracted from the limit and from the calls before the next refusal', () => {
  const gate = { ...OPEN_GATE, wasClosed: true, accepted: 8 };
  const learning = { phase: 'learning', limit: 100, firstBurst: 8, gate } as const;

  expect([0, 1].map((inFlight) => knownRun({ ...learning, perMinute: 100, inFlight }).ask(0).count)).toEqual([1, 0]);
  expect(knownSlots(knownRun({ ...learning, inFlight: 2 }).state, 0)).toBe(90);
});

test('while learning, only an response brings the next slot', () => {
  const gate = { ...OPEN_GATE, wasClosed: true, accepted: 2 };
  const run = knownRun({ phase: 'learning', perMinute: 3, limit: 3, firstBurst: 9, gate, inFlight: 1, accepted: 2 });

  expect(run.ask(200)).toEqual({ count: 0, isProbe: false, askAgainAt: undefined });
});

test('a share that can grow has its next slot when the next probe is due', () => {
  const run = knownRun({ limit: 4, accepted: 4 });
  run.state = { ...run.state, probe: { ...run.state.probe, dueAt: 5_000 } };

  expect([0, 9, 10, 20].map((ahead) => run.slotAt(1_000, ahead))).toEqual([5_000, 5_000, 65_000, 125_000]);
  expect(run.slotAt(7_000, 0)).toBe(7_000);
  run.state = { ...run.state, gate: { ...OPEN_GATE, opensAt: 20_000 } };
  expect(run.slotAt(1_000, 0)).toBe(20_000);
});

test('a share of a bucket has its next slot with the next token', () => {
  const slow = knownRun({ limit: 4, window: { ...BUCKET, perMs: 4 / MINUTE } });

  expect([0, 9, 10].map((ahead) => slow.slotAt(0, ahead))).toEqual([15_000, 15_000, 75_000]);
  expect(knownRun({ window: BUCKET }).slotAt(0, 1)).toBe(12_000);
});

test('the last of many calls in a fixed window or a bucket is sent when those say', () => {
  const fixed = knownRun({ perMinute: 3, window: { ...FIXED, boundary: 'confirmed' }, accepted: 3 });
  expect([1, 3, 4].map((calls) => lastSlotAt(fixed.state, 1_000, calls))).toEqual([60_500, 60_500, 120_500]);

  const gate = { ...OPEN_GATE, opensAt: 90_000 };
  expect(lastSlotAt({ ...fixed.state, gate }, 1_000, 1)).toBe(90_000);
  expect(lastSlotAt(knownRun({ window: BUCKET }).state, 0, 2)).toBe(12_000);
});

test('the last of many calls waits for a bucket that was learned without a configured limit', () => {
  const { state } = knownRun({ perMinute: Number.POSITIVE_INFINITY, window: BUCKET });

  expect([1, 10].map((calls) => lastSlotAt(state, 0, calls))).toEqual([6_000, MINUTE]);
});

test('the last of many calls waits a minute for those before it, whether they were sent or not', () => {
  const fresh = knownRun({ perMinute: 3 });
  const learning = knownRun({ phase: 'learning', perMinute: 3, window: { ...FIXED, startsAt: 50 }, accepted: 3 });

  expect([3, 4, 7].map((calls) => lastSlotAt(fresh.state, 1_000, calls))).toEqual([1_000, 61_000, 121_000]);
  expect(lastSlotAt(learning.state, 1_000, 1)).toBe(MINUTE + 100);
});

test('the last of many calls waits for those in flight', () => {
  const run = knownRun({ phase: 'unknown', perMinute: 3, inFlight: 1 });

  expect([2, 3].map((calls) => lastSlotAt(run.state, 1_000, calls))).toEqual([1_000, 1_000 + MINUTE]);
});

test('where a burst limit and the window are used up, the later slot counts', () => {
  const burst = { calls: 2, periodMs: 1_000, proven: 0, growsAt: MINUTE, pauseMs: 4_000 };

  expect(knownRun({ perMinute: 2, burst, accepted: 2 }).ask(200)).toEqual({
    count: 0,
    isProbe: false,
    askAgainAt: MINUTE + 100,
  });
  expect(knownRun({ burst, inFlight: 2 }).ask(200)).toEqual({ count: 0, isProbe: false, askAgainAt: undefined });
});

test('a share asks again at the next slot of its window if that is before the next probe', () => {
  const share = knownRun({ limit: 2, accepted: 2 });
  share.state = { ...share.state, probe: { ...share.state.probe, dueAt: 90_000 } };

  expect(share.ask(1_000)).toEqual({ count: 0, isProbe: false, askAgainAt: MINUTE + 100 });
});

test('neither a bucket nor a share with a request in flight is probed', () => {
  const bucket = knownRun({ limit: 4, window: { ...BUCKET, perMs: 4 / MINUTE } });
  bucket.state = { ...bucket.state, probe: { ...bucket.state.probe, dueAt: 5_000 } };
  expect(bucket.ask(0)).toEqual({ count: 0, isProbe: false, askAgainAt: 15_000 });

  const share = knownRun({ limit: 2, inFlight: 1, accepted: 1 });
  share.state = { ...share.state, probe: { ...share.state.probe, dueAt: 5_000 } };
  expect(share.ask(1_000)).toEqual({ count: 0, isProbe: false, askAgainAt: MINUTE + 100 });
});

test('an accepted call cancels one of several refusals', () => {
  const gate = acceptBehindGate([1, 2, 3].reduce((gate) => recordRefusal(gate, 0, false), OPEN_GATE));

  expect(gate.pressure).toBe(2);
});
