import { expect, test } from 'vitest';
import {
  durationOption,
  durationOptionAbove,
  formatDuration,
  parseDuration,
} from '../../../src/cli/settings/duration.ts';

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['0', 0],
  ['0s', 0],
  ['inf', Number.POSITIVE_INFINITY],
])("'%s' is %d ms", (text, ms) => {
  expect(parseDuration(text, '--timeout')).toBe(ms);
});

test.each(['30', '', ' 30s', '30 s', '-1s', '1e3s', '1d', 's', '0x10s', 'Infinity'])(
  "'%s' is not a duration",
  (text) => {
    expect(() => parseDuration(text, '--timeout')).toThrow(`--timeout expects a duration, got '${text}'`);
  },
);

test.each([
  [1, '1 s'],
  [999, '1 s'],
  [1001, '2 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [95_000, '1 min 35 s'],
  [3_600_000, '1 h'],
  [3_660_000, '1 h 1 min'],
  [86_400_000, '1 day'],
  [10 * 86_400_000 + 9 * 3_600_000, '10 days 9 h'],
])('%d ms read as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [1, '1s'],
  [119_000, '119s'],
  [119_001, '2m'],
  [120_000, '2m'],
  [121_000, '3m'],
])('%d ms as an option value are %s: never too short', (ms, text) => {
  expect(durationOptionAbove(ms)).toBe(text);
});

test.each([
  [300, '300ms'],
  [1_500, '1500ms'],
  [30_000, '30s'],
  [90_000, '90s'],
  [120_000, '2m'],
  [121_000, '121s'],
  [7_200_000, '120m'],
])('%d ms as an option value are exactly %s', (ms, text) => {
  expect(durationOption(ms)).toBe(text);
  expect(parseDuration(text, '--timeout')).toBe(ms);
});
