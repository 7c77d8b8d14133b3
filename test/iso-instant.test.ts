import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIsoInstant } from '../src/iso-instant.ts';

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T23:59Z', '2026-01-31T23:59:00.000Z'],
  ['2026-01-31T23:59:30.5+05:30', '2026-01-31T18:29:30.500Z'],
  ['2026-03-01T00:30:00+01:00', '2026-02-28T23:30:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['2026-01-01T24:00:00Z', '2026-01-02T00:00:00.000Z'],
])('%s is %s', (text, iso) => {
  expect(new Date(parseIsoInstant(text)).toISOString()).toBe(iso);
});

test.each([
  ...[
    '2026-02-30T00:00:00Z',
    '2026-02-29',
    '1900-02-29T00:00:00Z',
    '2026-04-31T12:00:00+02:00',
    '2026-13-01T00:00:00Z',
  ],
  ...['2026-01-00', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00', '2026-1-1', '+010000-01-01T00:00:00Z', 'noon', ''],
])('%j is not an instant', (text) => {
  expect(parseIsoInstant(text)).toBeNaN();
});

test('a day is an instant exactly if the calendar has it', () => {
  const number = (value: number, digits: number) => String(value).padStart(digits, '0');
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(13), fc.nat(32), (year, month, day) => {
      const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
      const daysOfMonth = [0, 31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0][month] ?? 0;

      const at = parseIsoInstant(`${number(year, 4)}-${number(month, 2)}-${number(day, 2)}T12:00:00Z`);

      expect(Number.isNaN(at)).toBe(!(day >= 1 && day <= daysOfMonth));
      if (!Number.isNaN(at)) expect(new Date(at).getUTCDate()).toBe(day);
    }),
    {
      examples: [
        [2000, 2, 29],
        [1900, 2, 29],
        [2024, 2, 29],
        [2026, 2, 29],
        [2026, 2, 30],
      ],
    },
  );
});
