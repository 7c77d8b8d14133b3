import { expect, test } from 'vitest';
import { reportText } from '../../../src/cli/output/report.ts';
import { createPalette } from '../../../src/cli/terminal/screen.ts';

const style = { isTTY: true, canRedraw: false, hasColor: false, columns: 40, width: 40, palette: createPalette(false) };

test('a remark that fits exactly is beside the value, a longer one below it', () => {
  const beside = '(16 characters.)';
  const below = '(17 characters..)';

  expect(reportText([{ label: 'Size', value: '1234567890', remark: beside }], style)).toBe(
    `Size        1234567890  ${beside}\n`,
  );
  expect(reportText([{ label: 'Size', value: '1234567890', remark: below }], style)).toBe(
    `Size        1234567890\n            ${below}\n`,
  );
});
