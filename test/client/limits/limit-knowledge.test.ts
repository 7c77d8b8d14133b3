import { expect, test } from 'vitest';
import { LimitKnowledge } from '../../../src/client/limits/limit-knowledge.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';

const MINUTE = 60_000;
const MANY = { now: 0, calls: 31 };

function stateOf(perMinute: number, accepted = 0): LimiterState {
  const state = initialState(perMinute);
  for (let call = 0; call < accepted; call += 1) state.log.add(0, 0);
  return state;
}

test('an unknown limit is asked for when more calls come than the smallest plan allows', () => {
  const knowledge = new LimitKnowledge();
  const unknown = stateOf(Number.POSITIVE_INFINITY);

  expect(knowledge.isWanted(unknown, MANY)).toBe(true);
  expect(knowledge.isWanted(unknown, { now: 0, calls: 30 })).toBe(false);
  expect(knowledge.isWanted(stateOf(Number.POSITIVE_INFINITY, 29), { now: 0, calls: 2 })).toBe(true);
  expect(knowledge.isWanted(stateOf(Number.POSITIVE_INFINITY, 40), { now: 0, calls: 1 })).toBe(false);
});

test('while the window is being learned two calls are enough', () => {
  const learning: LimiterState = { ...stateOf(Number.POSITIVE_INFINITY), phase: 'learning' };

  expect(new LimitKnowledge().isWanted(learning, { now: 0, calls: 2 })).toBe(true);
  expect(new LimitKnowledge().isWanted(learning, { now: 0, calls: 1 })).toBe(false);
});

test('a limit that was read is asked for again after two minutes', () => {
  const knowledge = new LimitKnowledge();
  knowledge.configured(0);

  expect(knowledge.isWanted(stateOf(30), { ...MANY, now: 2 * MINUTE - 1 })).toBe(false);
  expect(knowledge.isWanted(stateOf(30), { ...MANY, now: 2 * MINUTE })).toBe(true);
});

test('a refusal long before the limit contradicts it until it is read again', () => {
  const knowledge = new LimitKnowledge();
  knowledge.configured(0);

  knowledge.refused(stateOf(30, 27));
  const afterNearlyAll = knowledge.isWanted(stateOf(30), MANY);
  knowledge.refused(stateOf(30, 26));
  const afterLess = knowledge.isWanted(stateOf(30), MANY);
  knowledge.configured(1);

  expect([afterNearlyAll, afterLess, knowledge.isWanted(stateOf(30), MANY)]).toEqual([false, true, false]);
});
