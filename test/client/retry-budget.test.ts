import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RetryBudget } from '../../src/client/retry-budget.ts';

test('allows twenty retries in a row', () => {
  const budget = new RetryBudget();

  const taken = Array.from({ length: 25 }, () => budget.take());

  expect(taken.filter(Boolean)).toHaveLength(20);
  expect(taken.indexOf(false)).toBe(20);
});

test('five successes earn one retry', () => {
  const budget = new RetryBudget();
  while (budget.take());

  for (let success = 0; success < 4; success += 1) budget.succeeded();
  expect(budget.take()).toBe(false);
  budget.succeeded();

  expect(budget.take()).toBe(true);
  expect(budget.take()).toBe(false);
});

test('however it is used, retries are at most twenty and a fifth of the successes', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), (outcomes) => {
      const budget = new RetryBudget();
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
