import { expect, test } from 'vitest';
import { BodyReader } from '../../../src/client/transport/transport.ts';

const text = Array.from({ length: 30_000 }, (_, index) => `${index},`).join('');
const bytes = Buffer.from(text);

test.each([[[1]], [[1, 5000]], [[5000, 1, 1]], [[100_000]], [[70_000, 3]], [[4096, 4095]]])(
  'joins chunks of %j bytes in order',
  (sizes) => {
    const body = new BodyReader(bytes.length);

    for (let start = 0, index = 0; start < bytes.length; index += 1) {
      const size = sizes[index % sizes.length]!;
      expect(body.add(Uint8Array.from(bytes.subarray(start, start + size)))).toBe(true);
      start += size;
    }

    expect(body.end()).toEqual({ text, problem: undefined });
  },
);

test('copies a short chunk, and a chunk that is a small part of its buffer', () => {
  const body = new BodyReader(1e6);
  const large = Buffer.alloc(100_000, 'x');

  body.add(Buffer.from('a'));
  const chunks = [Buffer.from('b'), large.subarray(0, 10_000)];
  for (const chunk of chunks) body.add(chunk);
  for (const chunk of chunks) chunk.fill('-');

  expect(body.end().text).toBe(`ab${'x'.repeat(10_000)}`);
});

test('keeps a large chunk instead of copying it', () => {
  const body = new BodyReader(1e6);
  const large = new Uint8Array(10_000).fill(0x78);

  body.add(Buffer.from('a'));
  body.add(large);
  large.fill(0x79);

  expect(body.end().text).toBe(`a${'y'.repeat(10_000)}`);
});
