import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chance, randomFrom, randomFromSeed, textHash } from '../../../src/mock-server/service/random.ts';

const BITS = 2n ** 32n;

/** sfc32 of PractRand, in arithmetic without overflow. */
function* sfc32(seeds: readonly number[]): Generator<number, never> {
  let [a = 0n, b = 0n, c = 0n, counter = 0n] = seeds.map((seed) => BigInt(seed) % BITS);
  for (;;) {
    const sum = (a + b + counter) % BITS;
    counter = (counter + 1n) % BITS;
    a = b ^ (b >> 9n);
    b = (c * 9n) % BITS;
    c = ((((c << 21n) % BITS) | (c >> 11n)) + sum) % BITS;
    yield Number(sum);
  }
}

/** The numbers of the model after the first `skipped`. */
function modelNumbers(
  seeds: readonly number[],
  { skipped, count }: { readonly skipped: number; readonly count: number },
) {
  const numbers = sfc32(seeds);
  const all = Array.from({ length: skipped + count }, () => numbers.next().value);
  return all.slice(skipped);
}

const uint32 = fc.nat(0xffffffff);

test('the random numbers are those of sfc32', () => {
  fc.assert(
    fc.property(fc.tuple(uint32, uint32, uint32, uint32), (seeds) => {
      const random = randomFrom(seeds);

      expect(Array.from({ length: 20 }, () => random.uint32())).toEqual(modelNumbers(seeds, { skipped: 0, count: 20 }));
    }),
  );
});

test('a seed of up to 53 bits starts the generator at its sixteenth number', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (seed) => {
      const random = randomFromSeed(seed);

      const numbers = Array.from({ length: 4 }, () => random.uint32());

      const seeds = [seed % 2 ** 32, Math.floor(seed / 2 ** 32), 0x9e3779b9, 1];
      expect(numbers).toEqual(modelNumbers(seeds, { skipped: 15, count: 4 }));
    }),
  );
});

test.each([
  // Test vectors of FNV-1a.
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('the hash of %j is that of FNV-1a', (text, hash) => {
  expect(textHash(text)).toBe(hash);
});

test('a chance is a number from 0 to below 1 that depends on all names', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (name, number) => {
      const value = chance(name, number);

      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
      expect(chance(name, number)).toBe(value);
      expect(chance(name, number + 1)).not.toBe(value);
    }),
  );
});
