import { expect, test } from 'vitest';
import {
  acceptBehindGate,
  closeGate,
  type Gate,
  isStale,
  OPEN_GATE,
  rampSize,
  recordRefusal,
  stayClosedUntil,
} from '../../../src/client/limits/gate.ts';

function accept(gate: Gate, calls: number): Gate {
  return Array.from({ length: calls }).reduce<Gate>((before) => acceptBehindGate(before), gate);
}

test('a known limit needs no ramp, an unknown one starts with four calls and an eighth of what was accepted', () => {
  expect(rampSize(OPEN_GATE, true)).toBe(Number.POSITIVE_INFINITY);

  expect([0, 16, 40, 2_000].map((calls) => rampSize(accept(OPEN_GATE, calls), false))).toEqual([4, 4, 5, 64]);
});

test('after it was closed one call goes first, then one more than were accepted, then a part of them', () => {
  const closed = closeGate(accept(OPEN_GATE, 5), 1_000);

  expect([0, 1, 2, 8, 20].map((calls) => rampSize(accept(closed, calls), true))).toEqual([1, 2, 3, 4, 10]);
  expect([0, 1, 2, 8, 40].map((calls) => rampSize(accept(closed, calls), false))).toEqual([1, 2, 3, 4, 5]);
  expect([closed.isHalfOpen, accept(closed, 1).isHalfOpen]).toEqual([true, false]);
});

test('opens when the longest wait that was asked for has passed', () => {
  const closed = closeGate(stayClosedUntil(stayClosedUntil(OPEN_GATE, 5_000), 2_000), 3_000);

  expect(closed.opensAt).toBe(5_000);
});

test('answers to requests sent before it opened are stale', () => {
  const closed = closeGate(OPEN_GATE, 1_000);

  expect(isStale(closed, 999)).toBe(true);
  expect(isStale(closed, 1_000)).toBe(false);
});

test('if more is refused than accepted, it closes twice as long each time, up to 16 s', () => {
  let gate = OPEN_GATE;
  const closedMs = Array.from({ length: 13 }, (_, place) => {
    const now = place * 100_000;
    gate = recordRefusal(stayClosedUntil(gate, now), now);
    expect(gate.staleBefore).toBe(gate.opensAt);
    return gate.opensAt - now;
  });

  expect(closedMs).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000, 16_000, 16_000, 16_000]);
});

test('each accepted call cancels one refusal', () => {
  let gate = OPEN_GATE;
  for (let round = 0; round < 20; round += 1) gate = acceptBehindGate(recordRefusal(gate, round));

  expect(gate).toMatchObject({ opensAt: Number.NEGATIVE_INFINITY, pressure: 0, accepted: 20 });
});
