import { expect, test } from 'vitest';
import {
  acceptBehindGate,
  closeGate,
  isStale,
  lastSlotAt,
  OPEN_GATE,
  rampSize,
  recordRefusal,
  stayClosedUntil,
} from '../../../src/client/limits/grant.ts';
import type { Gate } from '../../../src/client/limits/limiter-state.ts';
import { LimiterRun, ROUND_TRIP_MS, usedUpRun } from '../../helpers/limiter-run.ts';

const MINUTE = 60_000;

test('sends as many calls as the configured limit, then one more to learn the window', () => {
  const run = new LimiterRun(3);

  expect(run.ask(0)).toMatchObject({ count: 3, isProbe: false });
  expect(run.ask(50)).toEqual({ count: 0, isProbe: false, askAgainAt: undefined });
  run.accept(0, { calls: 3 });
  expect(run.ask(100)).toEqual({ count: 1, isProbe: true, askAgainAt: undefined });
});

test('after a grant of fewer calls than wanted it does not ask again for the slots it has just granted', () => {
  expect(new LimiterRun(3).ask(0)).toEqual({ count: 3, isProbe: false, askAgainAt: undefined });
});

test('without probes it waits until its oldest call is a minute old', () => {
  const run = new LimiterRun(3, { mayProbe: false });
  run.ask(0);
  run.accept(0, { calls: 3 });

  expect(run.ask(100)).toEqual({ count: 0, isProbe: false, askAgainAt: MINUTE + 100 });
  expect(run.ask(MINUTE + 100)).toMatchObject({ count: 3, isProbe: false });
});

test('sends nothing while the gate is closed, and asks again when it opens', () => {
  const run = new LimiterRun();
  run.ask(0, 1);
  run.refuse(0, { retryAfter: '30' });

  expect(run.ask(30_099)).toEqual({ count: 0, isProbe: false, askAgainAt: 30_100 });
  expect(run.ask(30_100)).toMatchObject({ count: 1 });
});

test('with an unknown limit four calls are sent first', () => {
  expect(new LimiterRun().ask(0)).toEqual({ count: 4, isProbe: false, askAgainAt: undefined });
});

/** Asks, and has everything accepted, round after round; returns how many were sent in each. */
function rounds(run: LimiterRun, from: number, count: number): number[] {
  return Array.from({ length: count }, (_, round) => {
    const now = from + round * 200;
    const { count, isProbe } = run.ask(now, 100);
    run.accept(now, { calls: count, isProbe });
    return count;
  });
}

test('near the number of calls at the first refusal, sends one call at a time, then more again', () => {
  const run = new LimiterRun();
  rounds(run, 0, 4);
  run.ask(800, 1);
  run.refuse(800, { retryAfter: '1' });

  // 16 were accepted before the refusal.
  expect(rounds(run, 1_900, 12)).toEqual([1, 2, 4, 4, 4, 1, 1, 1, 2, 4, 4, 4]);
});

test('after the refusal of a call in a known slot, sends one call after another', () => {
  const run = new LimiterRun(30);
  rounds(run, 0, 1);
  run.ask(200, 1);
  run.refuse(200, { retryAfter: '60', isProbe: true });
  run.ask(60_300, 12);
  run.accept(60_300, { calls: 12 });
  run.ask(60_500, 1);
  run.refuse(60_500);

  expect(rounds(run, 120_700, 4)).toEqual([1, 2, 4, 4]);
});

test('if an idle time interrupts learning, the calls after it are not sent one after another', () => {
  const run = new LimiterRun(30);
  run.ask(0, 15);
  run.accept(0, { calls: 15 });
  run.ask(8_000, 15);
  run.accept(8_000, { calls: 15 });
  run.ask(8_200, 1);
  run.refuse(8_200, { retryAfter: '60', isProbe: true });
  rounds(run, 68_400, 4);
  expect(run.window).toBe('unknown');

  expect(rounds(run, 200_000, 5)).toEqual([1, 2, 4, 4, 5]);
  expect(run.state.window).toMatchObject({ startsAt: 188_300 });
});

test('a returned slot is free again', () => {
  const run = new LimiterRun(3);
  run.ask(0);

  run.giveBack();

  expect(run.state.inFlight).toBe(2);
  expect(run.ask(1)).toMatchObject({ count: 1, isProbe: false });
});

test('a returned token is in the bucket again', () => {
  const run = new LimiterRun(3);
  const bucket = { kind: 'bucket', perMs: 0.001, capacity: 3, tokens: 2, at: 0 } as const;
  run.state = { ...run.state, phase: 'known', window: bucket };
  expect(run.ask(0).count).toBe(2);
  expect(run.ask(0).count).toBe(0);

  run.giveBack();

  expect(run.ask(0).count).toBe(1);
});

test('a burst limit applies in addition to the limit per minute', () => {
  const run = new LimiterRun(100);
  run.state = { ...run.state, burst: { calls: 2, periodMs: 1_000, proven: 0, growsAt: MINUTE, pauseMs: 4_000 } };

  expect(run.ask(0)).toMatchObject({ count: 2 });
  run.accept(0, { calls: 2 });
  expect(run.ask(500)).toEqual({ count: 0, isProbe: false, askAgainAt: 1_100 });
  expect(run.ask(1_101)).toMatchObject({ count: 2 });
});

test('the time of the n-th call is that of its window', () => {
  const run = usedUpRun('59.9');

  expect(run.window).toBe('sliding');
  expect([0, 2, 3, 6].map((ahead) => run.slotAt(1_000, ahead))).toEqual([60_100, 60_100, 120_100, 180_100]);
});

test('while the window is unknown, a slot can become free when the gate opens', () => {
  const run = usedUpRun('30');

  expect([0, 50].map((ahead) => run.slotAt(1_000, ahead))).toEqual([30_200, 30_200]);
});

test('a limit lowered below the number of calls since the gate opened is known', () => {
  const run = usedUpRun('30');
  run.ask(30_200);
  run.accept(30_200);
  run.configure(1);

  const { askAgainAt: at } = run.ask(30_400);

  expect(run.state).toMatchObject({ phase: 'known', limit: 1 });
  expect(at).toBeGreaterThan(30_400);
});

test.each(['known', 'unknown'] as const)(
  'in a window that is %s, probes double while they are accepted, up to a thirty-second of the limit',
  (phase) => {
    const run = new LimiterRun(phase === 'known' ? 250 : 192);
    run.state = { ...run.state, phase, limit: 192 };
    const batches: number[] = [];
    run.ask(5_000, 192);
    run.accept(5_000, { calls: 192 });
    for (let round = 1; round < 6; round += 1) {
      const now = 5_000 + round * 200;
      const { count, isProbe } = run.ask(now, 192);
      batches.push(count);
      expect(isProbe).toBe(true);
      run.accept(now, { calls: count, isProbe: true });
    }

    expect(batches).toEqual(phase === 'known' ? [1, 2, 4, 7, 7] : [1, 2, 4, 4, 6]);
  },
);

test('probes only when due, and never while calls are in flight', () => {
  const run = new LimiterRun(1_000);
  run.state = { ...run.state, phase: 'known', limit: 2, probe: { ...run.state.probe, dueAt: 5_000 } };
  run.ask(0);
  run.accept(0, { calls: 1 });

  expect(run.ask(6_000)).toMatchObject({ count: 0 });
  run.accept(0, { calls: 1 });
  expect(run.ask(4_999)).toEqual({ count: 0, isProbe: false, askAgainAt: 5_000 });
  expect(run.ask(5_000)).toMatchObject({ count: 1, isProbe: true });
});

test('the last of many calls is sent after as many minutes as the limit requires', () => {
  const fresh = new LimiterRun(3);
  expect(lastSlotAt(fresh.state, 0, 3)).toBe(0);
  expect(lastSlotAt(fresh.state, 0, 4)).toBe(MINUTE);
  expect(lastSlotAt(fresh.state, 0, 300)).toBe(99 * MINUTE);

  const run = usedUpRun('60');
  expect(lastSlotAt(run.state, 10_000, 1)).toBe(MINUTE + 200);
  expect(lastSlotAt(run.state, 10_000, 4)).toBe(2 * MINUTE + 100);
  expect(lastSlotAt({ ...run.state, phase: 'learning' }, 10_000, 4)).toBe(2 * MINUTE + 100);
});

test('an unknown limit does not delay the last of many calls, but a closed gate does', () => {
  const run = new LimiterRun();
  expect(lastSlotAt(run.state, 7, 1_000)).toBe(7);

  run.ask(0, 1);
  run.refuse(0, { retryAfter: '30' });
  expect(lastSlotAt({ ...run.state, limit: Number.POSITIVE_INFINITY }, 200, 1_000)).toBe(30_100);
});

function accept(gate: Gate, calls: number): Gate {
  return Array.from({ length: calls }).reduce<Gate>((before) => acceptBehindGate(before), gate);
}

test('a known limit has no ramp, an unknown one starts with four calls and an eighth of the accepted ones', () => {
  expect(rampSize(OPEN_GATE, true)).toBe(Number.POSITIVE_INFINITY);

  expect([0, 16, 40, 2_000].map((calls) => rampSize(accept(OPEN_GATE, calls), false))).toEqual([4, 4, 5, 64]);
});

test('after closing, allows one call first, then one more than were accepted, then a part of them', () => {
  const closed = closeGate(accept(OPEN_GATE, 5), 1_000);

  expect([0, 1, 2, 8, 20].map((calls) => rampSize(accept(closed, calls), true))).toEqual([1, 2, 3, 4, 10]);
  expect([0, 1, 2, 8, 40].map((calls) => rampSize(accept(closed, calls), false))).toEqual([1, 2, 3, 4, 5]);
  expect([closed.accepted, accept(closed, 1).accepted]).toEqual([0, 1]);
});

test('opens after the longest wait of all responses', () => {
  const closed = closeGate(stayClosedUntil(stayClosedUntil(OPEN_GATE, 5_000), 2_000), 3_000);

  expect(closed.opensAt).toBe(5_000);
});

test('responses to requests sent before it opened are stale', () => {
  const closed = closeGate(OPEN_GATE, 1_000);

  expect(isStale(closed, 999)).toBe(true);
  expect(isStale(closed, 1_000)).toBe(false);
});

test('if more calls are refused than accepted, it adds twice as much to the wait each time, up to 16 s', () => {
  let gate = OPEN_GATE;
  const addedMs = Array.from({ length: 10 }, (_, place) => {
    const now = place * 100_000;
    gate = recordRefusal(stayClosedUntil(gate, now + 30_000), now, false);
    expect(gate.staleBefore).toBe(gate.opensAt);
    return gate.opensAt - now - 30_000;
  });

  expect(addedMs).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
});

test('if nothing is accepted for more than a minute, it closes for up to five minutes', () => {
  let gate = OPEN_GATE;
  const closedMs = Array.from({ length: 14 }, (_, place) => {
    const now = place * 1_000_000;
    gate = recordRefusal(gate, now, true);
    return gate.opensAt - now;
  });

  expect(closedMs.slice(8)).toEqual([32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
});

/** Asks again and again of a service that blocks the key for `blockMs` at each refusal; returns the number of refusals. */
function refusalsOfBlockedKey(run: LimiterRun, blockMs: number, retryAfter: string | undefined): number {
  let blockedUntil = 60_000;
  let refusals = 0;
  for (let now = 100; refusals < 20; ) {
    const { count, isProbe, askAgainAt = now + ROUND_TRIP_MS } = run.ask(now, 1);
    if (count > 0 && now >= blockedUntil) break;
    if (count > 0) {
      run.refuse(now, { retryAfter, isProbe });
      blockedUntil = now + blockMs;
      refusals += 1;
    }
    now = Math.max(now + ROUND_TRIP_MS, askAgainAt);
  }
  return refusals;
}

test.each([
  ['no hint', 60_000, undefined],
  ['a hint that is too short', 60_000, '58.5'],
  ['a hint that is rounded down', 30_400, '30'],
])('a service that blocks the key again at each refusal, with %s, accepts a request in the end', (_, blockMs, hint) => {
  const run = new LimiterRun(30);
  run.ask(0, 30);
  run.accept(0, { calls: 30 });

  expect(refusalsOfBlockedKey(run, blockMs, hint)).toBeLessThan(15);
});

test('each accepted call cancels one refusal', () => {
  let gate = OPEN_GATE;
  for (let round = 0; round < 20; round += 1) gate = acceptBehindGate(recordRefusal(gate, round, false));

  expect(gate).toMatchObject({ opensAt: Number.NEGATIVE_INFINITY, pressure: 0, accepted: 20 });
});
