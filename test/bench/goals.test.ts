import { expect, test } from 'vitest';
import { goalsMissed } from '../../bench/limits/wild/goals.ts';
import type { Outcome } from '../../bench/limits/wild/run.ts';

const SCENARIO = { name: 'test', server: { kind: 'fixed-minute', limit: 30 }, job: { calls: 100 } } as const;

function outcome(changes: Partial<Outcome>): Outcome {
  const counts = { calls: 100, served: 100, aborted: 0, avoidable: 0, unsettled: 0, requests: 100, refused: 0 };
  const bound = { makespanMs: 1_000, served: 100, meanMs: 1_000 };
  const times = { mostPerMinute: 30, early: 0, inKnownOutage: 0, makespanMs: 1_000, meanMs: 1_000 };
  return { ...counts, ...times, failed: {}, bound, ...changes };
}

test.each([
  ['three refusals per 100 calls', { refused: 3 }, [], []],
  ['as many refusals as requests in flight, and one more', { refused: 17 }, [], ['refusedPer100 17 > 3']],
  ['more refusals', { refused: 18 }, ['refusedPer100 18 > 3'], []],
  ['a longer time, by 1.5 s', { makespanMs: 2_750 }, [], ['ratio 2.75 > 1.25']],
  ['a longer time, by more', { makespanMs: 2_751 }, ['ratio 2.75 > 1.25'], []],
  ['a call that fails', { avoidable: 1, makespanMs: 2_000 }, ['failedPart 0.01 > 0'], ['ratio 2 > 1.25']],
])('a goal is met, met only by an exemption, or missed: %s', (_, changes, missed, exempt) => {
  expect(goalsMissed(SCENARIO, outcome(changes))).toEqual({ missed, exempt });
});
