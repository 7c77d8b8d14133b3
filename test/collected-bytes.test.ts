import { expect, test } from 'vitest';
import { CollectedBytes } from '../src/collected-bytes.ts';
import { decoded, isDecodingError } from '../src/content-encoding.ts';

test('a million chunks of one byte take at most three times their bytes', () => {
  const body = new CollectedBytes();

  for (let byte = 0; byte < 1_000_000; byte += 1) body.add(Uint8Array.of(byte % 251));

  expect(body.length).toBe(1_000_000);
  expect([...body.bytes().subarray(250, 253)]).toEqual([250, 0, 1]);
  expect(body.bytes().buffer.byteLength).toBeLessThanOrEqual(3_000_000);
});

test.each([6, 3000])('a body with %i codings is a decoding error that says so', async (count) => {
  const read = async () => {
    for await (const _ of decoded([Buffer.from('x')], Array(count).fill('gzip').join(', ')));
  };

  const error = await read().catch((thrown: unknown) => thrown);

  expect(isDecodingError(error)).toBe(true);
  expect(error).toMatchObject({ message: `content-encoding names ${count} codings, at most 5 are read` });
});
