import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CollectedBytes, isDecodingError } from '../src/body-bytes.ts';
import { Heap } from '../src/heap.ts';
import { parseIsoInstant } from '../src/iso-instant.ts';
import { utf8Text } from '../src/text.ts';

test('a heap pops in order what was not removed, and removes an entry once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(50), fc.boolean()), { size: 'medium' }), (pushed) => {
      const heap = new Heap<(typeof pushed)[number]>(([one], [other]) => one < other);
      const leaving = pushed.map((entry) => heap.push(entry)).filter(({ entry: [, isRemoved] }) => isRemoved);
      expect([leaving, leaving].map((nodes) => nodes.filter((node) => heap.remove(node)))).toEqual([leaving, []]);

      const kept = pushed.filter(([, isRemoved]) => !isRemoved).map(([key]) => key);
      expect(kept.map(() => heap.pop()?.[0])).toEqual(kept.toSorted((one, other) => one - other));
      expect(heap.size).toBe(0);
    }),
  );
});

test('an entry more costs as many comparisons as the heap has levels', () => {
  let comparisons = 0;
  const heap = new Heap<{ readonly key: number }>((a, b) => {
    comparisons += 1;
    return a.key < b.key;
  });
  const all = Array.from({ length: 10_000 }, (_, place) => ({ key: (place * 7_919) % 10_007 }));
  const nodes = all.map((entry) => heap.push(entry));
  for (const node of nodes) heap.remove(node);

  const levels = Math.log2(all.length);
  expect(comparisons).toBeLessThan(3 * levels * all.length);
});

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T23:59Z', '2026-01-31T23:59:00.000Z'],
  ['2026-01-31T23:59:30.5+05:30', '2026-01-31T18:29:30.500Z'],
  ['2026-03-01T00:30:00+01:00', '2026-02-28T23:30:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['2026-01-01T24:00:00Z', '2026-01-02T00:00:00.000Z'],
])('%s is %s', (text, iso) => {
  expect(new Date(parseIsoInstant(text)).toISOString()).toBe(iso);
});

test.each([
  ...'2026-02-30T00:00:00Z 2026-02-29 1900-02-29T00:00:00Z 2026-04-31T12:00:00+02:00 2026-13-01T00:00:00Z'.split(' '),
  ...'2026-01-00 2026-01-01T25:00:00Z 2026-01-01T00:00:00 2026-1-1 +010000-01-01T00:00:00Z noon'.split(' '),
  '',
])('%j is not an instant', (text) => {
  expect(parseIsoInstant(text)).toBeNaN();
});

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

test('a million chunks of one byte take at most three times their bytes', () => {
  const body = new CollectedBytes();

  for (let byte = 0; byte < 1_000_000; byte += 1) body.add(Uint8Array.of(byte % 251));

  expect(body.length).toBe(1_000_000);
  expect([...body.bytes().subarray(250, 253)]).toEqual([250, 0, 1]);
  expect(body.bytes().buffer.byteLength).toBeLessThanOrEqual(3_000_000);
});

test('a chunk of a stream is never changed by the chunks after it', () => {
  const body = new CollectedBytes();
  const chunks = ['ab', '', 'cd', 'e'].map((text) => Buffer.from(text));

  for (const chunk of chunks) body.add(chunk);

  expect(String(body.bytes())).toBe('abcde');
  expect(chunks.map(String)).toEqual(['ab', '', 'cd', 'e']);
});

test('an error that is its own cause, as of a body, is read once', () => {
  const error = new Error('broken');
  error.cause = error;

  expect(isDecodingError(error)).toBe(false);
});
