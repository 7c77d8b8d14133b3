import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEntry, encodeEntry } from '../../../src/client/steps/cache.ts';

const entry = () => ({ storedAtMs: 1_768_000_000_000, status: 200, headers: [], rawBody: '{"a":1.10}' });
/** An entry whose first line is another one. */
const stored = (changes: object) => {
  const [line = '', body] = encodeEntry(entry()).split('\n');
  return `${JSON.stringify({ ...JSON.parse(line), ...changes })}\n${body}`;
};

test('an entry is decoded exactly as it was encoded', () => {
  const headers = fc
    .array(fc.tuple(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), fc.stringMatching(/^[!-~]{1,12}$/)))
    .map((pairs) => [...new Headers(pairs)]);
  const entries = fc.record({
    storedAtMs: fc.integer({ min: 0, max: 4e12 }),
    snapshotMs: fc.option(fc.nat(), { nil: undefined }),
    status: fc.integer({ min: 200, max: 299 }),
    headers,
    rawBody: fc.string({ unit: 'binary' }),
  });
  fc.assert(
    fc.property(entries, (given) => {
      expect(decodeEntry(encodeEntry(given))).toEqual(given);
    }),
  );
});

test('keeps several headers of one name', () => {
  const headers = [['set-cookie', 'a=1'] as const, ['set-cookie', 'b=2'] as const];

  expect(decodeEntry(encodeEntry({ ...entry(), headers }))?.headers).toEqual(headers);
});

test('decodes an entry from bytes', () => {
  expect(decodeEntry(Buffer.from(encodeEntry(entry())))).toMatchObject({ rawBody: '{"a":1.10}' });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['an object', { version: 1 }],
  ['text that is no JSON', 'not json'],
  ['half an entry', encodeEntry(entry()).slice(0, 40)],
  ['JSON null', 'null'],
  ['a JSON list', '[]'],
  ['another version', stored({ version: 2 })],
  ['no version', stored({ version: undefined })],
  ['no time', stored({ storedAtMs: undefined })],
  ['a time that is text', stored({ storedAtMs: '1' })],
  ['a time without end', encodeEntry(entry()).replace('1768000000000', '1e999')],
  ['no status', stored({ status: undefined })],
  ['a status that is none', stored({ status: 'ok' })],
  ['no second line', encodeEntry(entry()).replace('\n', '')],
  ['no headers', stored({ headers: undefined })],
  ['headers as an object', stored({ headers: { a: 'b' } })],
  ['headers that are no pairs', stored({ headers: ['a'] })],
  ['headers of three', stored({ headers: [['a', 'b', 'c']] })],
  ['a header that cannot be', stored({ headers: [['bad name\n', 'x']] })],
  ['a header with a line break', stored({ headers: [['a', 'x\r\ny']] })],
])('%s is not an entry', (_, value) => {
  expect(decodeEntry(value)).toBeUndefined();
});
