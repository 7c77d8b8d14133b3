import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson, prettyJson } from '../../../src/cli/terminal/json-text.ts';
import { visible } from '../../../src/text.ts';
import { jsonText, stripped } from '../../helpers/cli-json-text.ts';

const same = (lexeme: string) => lexeme;
const plain = { name: same, string: same, faint: same };

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

test('distinguishes names, strings and literals', () => {
  const paint = {
    name: (lexeme: string) => `N${lexeme}`,
    string: (lexeme: string) => `S${lexeme}`,
    faint: (lexeme: string) => `L${lexeme}`,
  };

  expect(prettyJson('{"a" : "b","c":[1,true]}', paint)).toBe('{\n  N"a": S"b",\n  N"c": [\n    1,\n    Ltrue\n  ]\n}');
});
