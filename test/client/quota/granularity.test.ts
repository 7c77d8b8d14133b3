import fc from 'fast-check';
import { expect, test } from 'vitest';
import { granularityMs } from '../../../src/client/quota/quota-ledger.ts';

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
