import fc from 'fast-check';
import { expect, test } from 'vitest';
import { granularityMs, isExhausted, remainingOf } from '../../../src/client/state/quota-record.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

test.each([
  ['5min', 300_000],
  ['1min', 60_000],
  ['60min', 3_600_000],
  ['15 minutes', 900_000],
  ['1 minute', 60_000],
  ['10m', 600_000],
  ['30s', 30_000],
  ['45 sec', 45_000],
  ['1h', 3_600_000],
  ['2 hours', 7_200_000],
  ['1hr', 3_600_000],
  ['1d', 86_400_000],
  ['1 Day', 86_400_000],
  [' 5MIN ', 300_000],
])('%j is %i ms', (text, ms) => {
  expect(granularityMs(text)).toBe(ms);
});

test.each([
  '',
  'min',
  '5',
  '0min',
  '-5min',
  '1.5h',
  '5min ago',
  '500ms',
  '5 ss',
  '5mo',
  '1 fortnight',
  'realtime',
  'PT5M',
  '5constructor',
  `${'9'.repeat(400)}min`,
])('%j cannot be parsed', (text) => {
  expect(granularityMs(text)).toBeUndefined();
});

test('returns a positive number of milliseconds or undefined, for any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d+ ?[a-z]+$/)), (text) => {
      const ms = granularityMs(text);

      expect(ms === undefined || (Number.isSafeInteger(ms) && ms > 0)).toBe(true);
    }),
  );
});

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

test.each([0, '0'])('a limit of %j is none for the plan called unlimited', (limit) => {
  const quota = quotaRecord({ plan: 'unlimited', monthly_limit: limit, monthly_used: 5 });

  expect(remainingOf(quota)).toBeUndefined();
  expect(isExhausted(quota)).toBe(false);
});
