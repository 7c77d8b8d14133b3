import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson, prettyJson } from '../../../src/cli/json/pretty-json.ts';
import { visible } from '../../../src/text.ts';
import { jsonText, stripped } from '../../helpers/cli-json-text.ts';

const same = (lexeme: string) => lexeme;
const plain = { name: same, string: same, number: same, faint: same };

test.each([
  ['keeps trailing zeros', '{"rate":1.10}', '{\n  "rate": 1.10\n}'],
  ['keeps exponents', '[1E-7,1e+3]', '[\n  1E-7,\n  1e+3\n]'],
  ['keeps a negative zero', '-0.0', '-0.0'],
  ['keeps more digits than a double has', '[12345678901234567890.123456789]', '[\n  12345678901234567890.123456789\n]'],
  ['keeps repeated names and their order', '{"b":1,"a":2,"b":3}', '{\n  "b": 1,\n  "a": 2,\n  "b": 3\n}'],
  ['keeps names like integers where they are', '{"10":1,"2":2}', '{\n  "10": 1,\n  "2": 2\n}'],
  ['keeps escapes as they were written', '"\\u00e9\\/\\ud800"', '"\\u00e9\\/\\ud800"'],
  ['keeps empty containers on one line', '{"a":{},"b":[ ]}', '{\n  "a": {},\n  "b": []\n}'],
  ['does not take brackets in strings for brackets', '{"{\\"":"]}"}', '{\n  "{\\"": "]}"\n}'],
])('%s', (_, text, expected) => {
  expect(prettyJson(text, plain)).toBe(expected);
});

test('changes nothing but white space, in any JSON text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const pretty = prettyJson(text, plain);
      expect(stripped(pretty)).toBe(visible(stripped(text)));
      expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
    }),
    { numRuns: 1000 },
  );
});

test('compact JSON has all tokens and no white space between them', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      expect(compactJson(text)).toBe(stripped(text));
    }),
    { numRuns: 1000 },
  );
});

test('formats 10 000 levels without overflowing the stack or the screen', () => {
  const text = `${'['.repeat(10_000)}1.10${']'.repeat(10_000)}`;

  const pretty = prettyJson(text, plain);

  expect(stripped(pretty)).toBe(text);
  expect(pretty.length).toBeLessThan(2_000_000);
});

test('formats a string of megabytes', () => {
  const text = JSON.stringify({ long: '\\"'.repeat(2_000_000) });

  expect(compactJson(text)).toBe(text);
});

test('distinguishes names, strings, numbers and literals', () => {
  const paint = {
    name: (lexeme: string) => `N${lexeme}`,
    string: (lexeme: string) => `S${lexeme}`,
    number: (lexeme: string) => `#${lexeme}`,
    faint: (lexeme: string) => `L${lexeme}`,
  };

  expect(prettyJson('{"a" : "b","c":[1,true]}', paint)).toBe('{\n  N"a": S"b",\n  N"c": [\n    #1,\n    Ltrue\n  ]\n}');
});
