import { expect, test } from 'vitest';
import { utf8Text } from '../src/text.ts';

const JSON_TEXT = '{"a":"é"}';

test.each([
  ['UTF-8', Buffer.from(JSON_TEXT), JSON_TEXT],
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${JSON_TEXT}`), JSON_TEXT],
  ['empty', Buffer.from(''), ''],
  ['one byte', Buffer.from('1'), '1'],
  ['UTF-16', Buffer.from(JSON_TEXT, 'utf16le'), undefined],
  ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${JSON_TEXT}`, 'utf16le'), undefined],
  ['big-endian UTF-16', Buffer.from(JSON_TEXT, 'utf16le').swap16(), undefined],
  ['big-endian UTF-16 with a mark', Buffer.from(`\uFEFF${JSON_TEXT}`, 'utf16le').swap16(), undefined],
])('reads a file in %s', (_, bytes, text) => {
  expect(utf8Text(bytes)).toBe(text);
});
