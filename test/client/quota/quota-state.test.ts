import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExhausted, remainingOf } from '../../../src/client/quota/quota-state.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

test.each([
  [1000, 0, 1000],
  [1000, 742, 258],
  [1000, 1000, 0],
  [1000, 1001, 0],
  ['1000', 999, 1],
  [0, 0, 0],
  [null, 5, undefined],
  [undefined, 5, undefined],
  ['unlimited', 5, undefined],
  ['', 5, undefined],
  ['1e3', 5, undefined],
  [-1, 5, undefined],
] as const)('of a limit of %j with %i used, %j is left', (limit, used, left) => {
  const { monthly_limit: _, ...rest } = quotaRecord({ monthly_used: used });
  const quota = limit === undefined ? rest : { ...rest, monthly_limit: limit };

  expect(remainingOf(quota)).toBe(left);
  expect(isExhausted(quota)).toBe(left === 0);
});

test('a plan without a number is never exhausted, and nothing is ever left below zero', () => {
  const limits = fc.oneof(fc.integer(), fc.string(), fc.constant(null));
  fc.assert(
    fc.property(limits, fc.nat(), (limit, used) => {
      const left = remainingOf(quotaRecord({ monthly_limit: limit, monthly_used: used }));

      expect(left === undefined || left >= 0).toBe(true);
    }),
  );
});
