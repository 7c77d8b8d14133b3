import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reportText } from '../../../src/cli/output/report.ts';
import { valuesTable } from '../../../src/cli/output/values-table.ts';
import { createPalette } from '../../../src/cli/terminal/screen.ts';

const style = (width: number) => ({
  isTTY: true,
  indentsJson: false,
  columns: Math.min(width, 100),
  width,
  palette: createPalette(false),
});

const RATES = '{"base":"USD","rates":{"EUR":0.90,"JPY":157.1,"KRW":1364,"XAU":0.000299761}}';

test('numbers are in columns, aligned at the decimal point', () => {
  expect(valuesTable(RATES, style(80))).toBe(`base  USD

rates
EUR     0.90           KRW  1364
JPY   157.1            XAU     0.000299761`);
  expect(valuesTable(RATES, style(40))).toBe(`base  USD

rates
EUR     0.90
JPY   157.1
KRW  1364
XAU     0.000299761`);
});

test('a long text is wrapped beside its name', () => {
  const text = 'a text that is much longer than the screen is wide';

  expect(valuesTable(JSON.stringify({ note: text }), style(40))).toBe(`note  a text that is much longer than
      the screen is wide`);
});

test('a line end or a tab in a value does not break the table', () => {
  expect(valuesTable('{"a":"x\\ny\\tz","b":1}', style(80))).toBe('a  x\\ny\\tz\nb  1');
});

test.each(['1', '"text"', JSON.stringify(Array.from({ length: 9 }, () => ({ day: 1 })))])(
  'a single value and nested data have no table: %s',
  (json) => {
    expect(valuesTable(json, style(80))).toBeUndefined();
  },
);

test('no line is wider than the screen, and no value is missing', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[A-Z]{3}$/), fc.double({ noNaN: true, noDefaultInfinity: true }), {
        minKeys: 1,
      }),
      fc.integer({ min: 40, max: 200 }),
      (rates, width) => {
        const table = valuesTable(JSON.stringify({ rates }), style(width)) ?? '';

        for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(Math.max(width, 50));
        for (const [name, rate] of Object.entries(rates)) {
          expect(table).toMatch(new RegExp(`${name} +${JSON.stringify(rate).replace(/[.+]/g, '\\$&')}( |\\n|$)`));
        }
      },
    ),
  );
});

test('a table can have more values than a function call has arguments', () => {
  const values = Array.from({ length: 130_000 }, (_, place) => [`note${place}`, 'a text']);
  const numbers = Array.from({ length: 130_000 }, (_, place) => [`n${place}`, place]);

  expect(valuesTable(JSON.stringify(Object.fromEntries(values)), style(80))).toContain('note129999  a text');
  expect(valuesTable(JSON.stringify(Object.fromEntries(numbers)), style(80))).toContain('n129999  129999');
});

test('a remark is beside the value, and is broken at words like it', () => {
  const beside = '(16 characters.)';
  const longer = '(18 characters...)';

  expect(reportText([{ label: 'Size', value: '1234567890', remark: beside }], style(40))).toBe(
    `Size        1234567890  ${beside}\n`,
  );
  expect(reportText([{ label: 'Size', value: '1234567890', remark: longer }], style(40))).toBe(
    'Size        1234567890  (18\n            characters...)\n',
  );
});
