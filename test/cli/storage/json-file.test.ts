import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonFile } from '../../../src/cli/storage/json-file.ts';
import { jsonText } from '../../helpers/cli-json-text.ts';

test.each([
  ['', 1, 1],
  ['{"a": 1,}', 1, 9],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ["{'a': 1}", 1, 2],
  ['{"a": tru}', 1, 10],
  ['{"a": x}', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{"a": "open', 1, 12],
  ['{"a": "\\u12x"}', 1, 12],
  ['{"a": 1', 1, 8],
  ['{} {}', 1, 4],
  ['[}', 1, 2],
])('the file %j stops being JSON in line %d, column %d', (text, line, column) => {
  expect(parseJsonFile(Buffer.from(text))).toEqual({
    problem: `it is not valid JSON: line ${line}, column ${column}`,
  });
});

test('names a place in the text for every fault', () => {
  fc.assert(
    fc.property(jsonText, fc.nat(), fc.constantFrom('', ',', '}', '"', ':', '0', 'x'), (json, at, extra) => {
      const text = json.slice(0, at % (json.length + 1)) + extra + json.slice((at % (json.length + 1)) + 1);

      const bytes = Buffer.from(text);

      const parsed = parseJsonFile(bytes);

      if ('value' in parsed) {
        expect(parsed.value).toEqual(JSON.parse(bytes.toString()));
      } else {
        const [, line, column] = /: line (\d+), column (\d+)$/.exec(parsed.problem) ?? [];
        expect(text.split('\n')[Number(line) - 1]?.length).toBeGreaterThanOrEqual(Number(column) - 1);
      }
    }),
  );
});

test('does not search for a fault in a long text', () => {
  expect(parseJsonFile(Buffer.from('['.repeat(1_000_001)))).toEqual({ problem: 'it is not valid JSON' });
});
