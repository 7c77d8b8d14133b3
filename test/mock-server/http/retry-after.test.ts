import { expect, test } from 'vitest';
import { Behaviour, type BehaviourOptions } from '../../../src/mock-server/behaviour/behaviour.ts';
import { retryAfter } from '../../../src/mock-server/http/responses.ts';

const DECIMAL = { retryAfterFormat: 'decimal' } as const;
const MILLISECONDS = { retryAfterUnit: 'milliseconds' } as const;

test.each<[number, BehaviourOptions, string]>([
  [60_000, {}, '60'],
  [59_001, {}, '60'],
  [59_000, {}, '59'],
  [1, {}, '1'],
  [1, { retryAfterRounding: 'nearest' }, '1'],
  [1, { retryAfterRounding: 'nearest', retryAfterMin: 0 }, '0'],
  [59_499, { retryAfterRounding: 'nearest' }, '59'],
  [59_500, { retryAfterRounding: 'nearest' }, '60'],
  [59_999, { retryAfterRounding: 'down' }, '59'],
  [999, { retryAfterRounding: 'down' }, '1'],
  [999, { retryAfterRounding: 'down', retryAfterMin: 0 }, '0'],
  [59_001, DECIMAL, '59.001'],
  [59_100, DECIMAL, '59.1'],
  [59_000, DECIMAL, '59'],
  [1, DECIMAL, '0.001'],
  [0.25, DECIMAL, '0.001'],
  [59_001, MILLISECONDS, '59001'],
  [59_000.5, MILLISECONDS, '59001'],
  [59_000.5, { ...MILLISECONDS, ...DECIMAL }, '59000.5'],
  [1234, { retryAfterValue: 'whole-minute' }, '60'],
  [1234, { ...MILLISECONDS, retryAfterValue: 'whole-minute' }, '60000'],
])('a wait of %d ms, with %j, is written as %s', (waitMs, options, value) => {
  expect(retryAfter(waitMs, new Behaviour(options))).toBe(value);
});
