import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, hintedLimitMs, unhintedLimitMs } from '../../../src/client/middleware/backoff.ts';

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
])('429 number %i without Retry-After waits from %i to %i ms', (refusals, least, most) => {
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
])('a 429 with a Retry-After of %i ms waits from %i to %i ms', (hintMs, least, most) => {
  expect(hintedLimitMs(hintMs, () => 0)).toBe(least);
  expect(hintedLimitMs(hintMs, () => 1)).toBe(most);
});

test('a wait never decreases with the random number and is never near zero', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (retry, chance) => {
      const waitMs = backoffMs(retry, () => chance);

      expect(waitMs).toBeGreaterThanOrEqual(backoffMs(retry, () => 0));
      expect(waitMs).toBeGreaterThanOrEqual(250);
      expect(waitMs).toBeLessThanOrEqual(8000);
    }),
  );
});
