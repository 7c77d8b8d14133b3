import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from '../../../src/cli/storage/json-file.ts';
import { jsonText } from '../../helpers/cli-json-text.ts';

test.each([
  ['', 1, 1],
  ['{"a": 1,}', 1, 9],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ['{"a" 1}', 1, 6],
  ["{'a': 1}", 1, 2],
  ['[1 2]', 1, 4],
  ['{"a": tru}', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{"a": "open', 1, 7],
  ['{"a": 1', 1, 8],
  ['{} {}', 1, 4],
  ['[}', 1, 2],
  ['{,}', 1, 2],
  [']', 1, 1],
])('%j stops being JSON in line %d, column %d', (text, line, column) => {
  expect(jsonFault(text)).toEqual({ line, column });
});

test('finds a syntax error exactly where JSON.parse does', () => {
  const broken = fc
    .tuple(jsonText, fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ':', '0', 'x', '{'))
    .map(
      ([text, at, extra]) => text.slice(0, at % (text.length + 1)) + extra + text.slice((at % (text.length + 1)) + 1),
    );

  fc.assert(
    fc.property(fc.oneof(jsonText, broken), (text) => {
      expect(jsonFault(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 2000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
