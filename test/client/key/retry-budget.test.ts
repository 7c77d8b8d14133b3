import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QUEUED_RETRIES, RetryBudget, UNQUEUED_RETRIES } from '../../../src/client/key/key-state.ts';

test.each([
  { size: UNQUEUED_RETRIES, inARow: 20 },
  { size: QUEUED_RETRIES, inARow: 100 },
])('allows $inARow retries in a row', ({ size, inARow }) => {
  const budget = new RetryBudget(size);

  const taken = Array.from({ length: inARow + 5 }, () => budget.take());

  expect(taken.filter(Boolean)).toHaveLength(inARow);
  expect(taken.indexOf(false)).toBe(inARow);
});

test.each([
  { size: UNQUEUED_RETRIES, successes: 5 },
  { size: QUEUED_RETRIES, successes: 2 },
])('$successes successes add one retry', ({ size, successes }) => {
  const budget = new RetryBudget(size);
  while (budget.take());

  for (let success = 0; success < successes - 1; success += 1) budget.succeeded();
  expect(budget.take()).toBe(false);
  budget.succeeded();

  expect(budget.take()).toBe(true);
  expect(budget.take()).toBe(false);
});

test('retries are at most twenty plus a fifth of the successes, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), (outcomes) => {
      const budget = new RetryBudget(UNQUEUED_RETRIES);
      let retries = 0;
      let successes = 0;

      for (const isSuccess of outcomes) {
        if (isSuccess) {
          budget.succeeded();
          successes += 1;
        } else if (budget.take()) retries += 1;

        expect(retries).toBeLessThanOrEqual(20 + successes / 5);
      }
    }),
  );
});
