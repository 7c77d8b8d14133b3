import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson, leaves, parseJsonPath, prettyJson, selectValue } from '../../../src/cli/terminal/json-text.ts';
import { visible } from '../../../src/text.ts';
import { jsonText, stripped } from '../../helpers/cli-json-text.ts';

const BODY =
  '{"success":true,"data":{ "rates" : {"EUR":1.10,"a.b":{"/~":[0,"x"]}},"list":[ 10 ,{"n":1E-7}]},"data2":null}';

test.each([
  ['data.rates.EUR', '1.10'],
  ['.data.rates.EUR', '1.10'],
  ['/data/rates/EUR', '1.10'],
  ['data.rates', '{"EUR":1.10,"a.b":{"/~":[0,"x"]}}'],
  ['/data/rates/a.b/~1~0/1', '"x"'],
  ['data.list.0', '10'],
  ['data.list.1.n', '1E-7'],
  ['data2', 'null'],
])('%s is %s, exactly as in the text', (path, expected) => {
  expect(selectValue(BODY, parseJsonPath(path))).toBe(expected);
});

test.each(['data.rates.USD', 'data.list.2', 'data.list.-1', 'data2.x', 'success.x', 'data.rates.EUR.x', '', '/'])(
  "'%s' does not exist",
  (path) => {
    expect(selectValue(BODY, parseJsonPath(path))).toBeUndefined();
  },
);

test('finds the same value as JSON.parse, in any text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      for (const [path, value] of everyPath(JSON.parse(text))) {
        expect(JSON.parse(selectValue(text, path) ?? 'missing')).toEqual(value);
      }
    }),
    { numRuns: 500 },
  );
});

test('selects a value below 10 000 levels', () => {
  const text = `${'{"a":'.repeat(10_000)}1.10${'}'.repeat(10_000)}`;

  expect(selectValue(text, ['a', 'a', 'a'])?.length).toBe(text.length - 3 * 6);
});

function* everyPath(value: unknown, path: readonly string[] = []): Generator<readonly [readonly string[], unknown]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, name)?.value;
    yield* everyPath(member, [...path, name]);
  }
}

test('lists every value without members, in order, with its path', () => {
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

test('a text that is one scalar has one leaf without a path', () => {
  expect([...leaves(' 1.10 ')]).toEqual([{ path: [], lexeme: '1.10' }]);
});

test('the path of every leaf leads to it, in any JSON text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const last = new Map([...leaves(text)].map(({ path, lexeme }) => [JSON.stringify(path), lexeme]));
      for (const [path, lexeme] of last) {
        const value = selectValue(text, JSON.parse(path));
        // If a name occurs twice, only the later value can be selected.
        if (value !== undefined && !/^[[{]/.test(value)) expect(value).toBe(lexeme);
      }
      expect(last.size > 0 || text === '').toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('an object or list below 32 levels is one leaf', () => {
  const text = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

  const [leaf, ...others] = leaves(`${text.slice(0, 40)}1,{"a":[2]}${text.slice(-40)}`);

  expect(others).toEqual([]);
  expect(leaf).toEqual({ path: Array(32).fill('0'), lexeme: '[[[[[[[[1,{"a":[2]}]]]]]]]]' });
  expect([...leaves(text)].map(({ lexeme }) => lexeme.length)).toEqual([text.length - 64]);
});

test('a name of a megabyte is cut in the paths of its values', () => {
  const name = 'n'.repeat(1_000_000);

  const [leaf] = leaves(`{"${name}":{"a":1}}`);

  expect(leaf?.path).toEqual([`${'n'.repeat(200)}…`, 'a']);
});

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
