import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leaves } from '../../../src/cli/json/leaves.ts';
import { selectValue } from '../../../src/cli/json/select-value.ts';
import { jsonText } from '../../helpers/cli-json-text.ts';

test('gives every value without members, in order, with its path', () => {
  const text = '{"base":"USD","rates":{"EUR":1.10,"x":{}},"list":[1,[],{"a":null}],"last":true}';

  const found = [...leaves(text)].map(({ path, lexeme }) => `${path.join('.')} ${lexeme}`);

  expect(found).toEqual([
    'base "USD"',
    'rates.EUR 1.10',
    'rates.x {}',
    'list.0 1',
    'list.1 []',
    'list.2.a null',
    'last true',
  ]);
});

test('a text that is one scalar is one leaf without a path', () => {
  expect([...leaves(' 1.10 ')]).toEqual([{ path: [], lexeme: '1.10' }]);
});

test('every leaf stands where its path says, in any JSON text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const last = new Map([...leaves(text)].map(({ path, lexeme }) => [JSON.stringify(path), lexeme]));
      for (const [path, lexeme] of last) {
        const value = selectValue(text, JSON.parse(path));
        // An earlier one of two equal names can hide behind the later one.
        if (value !== undefined && !/^[[{]/.test(value)) expect(value).toBe(lexeme);
      }
      expect(last.size > 0 || text === '').toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('takes 10 000 levels', () => {
  const text = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

  expect([...leaves(text)]).toMatchObject([{ lexeme: '[]' }]);
});
