import { expect, test } from 'vitest';
import { visible } from '../../../src/text.ts';

test.each([
  ['an escape sequence', 'a\u001b[31mb', 'a\\u001b[31mb'],
  ['a title change', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
  ['an 8-bit control sequence', '\u009b31m', '\\u009b31m'],
  ['a change of direction', 'EUR\u202e01.1', 'EUR\\u202e01.1'],
  ['an invisible character', 'E\u200bUR\ufeff', 'E\\u200bUR\\ufeff'],
  ['a tag character', '\u{e0041}', '\\udb40\\udc41'],
  ['a carriage return that would overwrite the line', 'good\rbad', 'good\\u000dbad'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
])('%s is shown escaped', (_, text, expected) => {
  expect(visible(text)).toBe(expected);
});

test('letters, digits, line breaks and tabs are unchanged', () => {
  expect(visible('€ 1.10\té漢😀\r\nnext\n')).toBe('€ 1.10\té漢😀\nnext\n');
});
