import { expect, test } from 'vitest';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { configured, initialState, isLimitWanted, refused } from '../../../src/client/limits/transitions.ts';

const MINUTE = 60_000;
const MANY = { now: 0, waiting: 31 };

/** Read at 0, if it is known. */
function stateOf(perMinute: number, accepted = 0): LimiterState {
  const unknown = initialState(Number.POSITIVE_INFINITY);
  const state = Number.isFinite(perMinute) ? configured(unknown, perMinute, 0) : unknown;
  for (let call = 0; call < accepted; call += 1) state.log.add(0, 0);
  return state;
}

test('requests the quota for an unknown limit if more calls wait than the smallest plan allows', () => {
  const unknown = stateOf(Number.POSITIVE_INFINITY);

  expect(isLimitWanted(unknown, MANY)).toBe(true);
  expect(isLimitWanted(unknown, { now: 0, waiting: 30 })).toBe(false);
  expect(isLimitWanted({ ...unknown, inFlight: 1 }, { now: 0, waiting: 30 })).toBe(true);
  expect(isLimitWanted(stateOf(Number.POSITIVE_INFINITY, 29), { now: 0, waiting: 2 })).toBe(true);
  expect(isLimitWanted(stateOf(Number.POSITIVE_INFINITY, 40), { now: 0, waiting: 1 })).toBe(false);
  expect(isLimitWanted({ ...unknown, inFlight: 40 }, { now: 0, waiting: 0 })).toBe(false);
});

test('while the window is being learned, two calls are enough for that', () => {
  const learning: LimiterState = { ...stateOf(Number.POSITIVE_INFINITY), phase: 'learning' };

  expect(isLimitWanted(learning, { now: 0, waiting: 2 })).toBe(true);
  expect(isLimitWanted(learning, { now: 0, waiting: 1 })).toBe(false);
});

test('requests the quota again after two minutes', () => {
  expect(isLimitWanted(stateOf(30), { ...MANY, now: 2 * MINUTE - 1 })).toBe(false);
  expect(isLimitWanted(stateOf(30), { ...MANY, now: 2 * MINUTE })).toBe(true);
});

test('a refusal far below the limit contradicts it until the quota is read again', () => {
  const refuse = (state: LimiterState) => {
    const response = { now: 0, sentAt: 0, isProbe: false };
    return refused({ ...state, inFlight: 1 }, response, { maxRetryAfterMs: MINUTE, retryAfterUnit: 'auto' });
  };

  const afterNearlyAll = refuse(stateOf(30, 27));
  const afterLess = refuse(stateOf(30, 26));

  expect([afterNearlyAll, afterLess].map((state) => isLimitWanted(state, MANY))).toEqual([false, true]);
  expect(isLimitWanted(configured(afterLess, 30, 1), MANY)).toBe(false);
});
