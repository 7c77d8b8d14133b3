import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, hintedLimitMs, RetryBudget, unhintedLimitMs } from '../../src/client/retry-policy.ts';

test.each([
  [0, 250, 500],
  [1, 500, 1000],
  [2, 1000, 2000],
  [4, 4000, 8000],
  [5, 4000, 8000],
  [2000, 4000, 8000],
])('retry %i waits from %i to %i ms', (retry, least, most) => {
  expect(backoffMs(retry, () => 0)).toBe(least);
  expect(backoffMs(retry, () => 1)).toBe(most);
});

test.each([
  [0, 2500, 5000],
  [1, 5000, 10_000],
  [4, 30_000, 60_000],
  [2000, 30_000, 60_000],
])('refusal %i that does not say when waits from %i to %i ms', (refusals, least, most) => {
  expect(unhintedLimitMs(refusals, () => 0)).toBe(least);
  expect(unhintedLimitMs(refusals, () => 1)).toBe(most);
});

test.each([
  [1, 250, 500],
  [2000, 2000, 2250],
  [2500, 2500, 2750],
  [5000, 5000, 5500],
  [30_000, 30_000, 31_000],
  [60_000, 60_000, 61_000],
])('a refusal that says %i ms waits from %i to %i ms', (hintMs, least, most) => {
  expect(hintedLimitMs(hintMs, () => 0)).toBe(least);
  expect(hintedLimitMs(hintMs, () => 1)).toBe(most);
});

test('more chance never means less waiting, and no wait is near zero', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (retry, chance) => {
      const waitMs = backoffMs(retry, () => chance);

      expect(waitMs).toBeGreaterThanOrEqual(backoffMs(retry, () => 0));
      expect(waitMs).toBeGreaterThanOrEqual(250);
      expect(waitMs).toBeLessThanOrEqual(8000);
    }),
  );
});

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
