/** Random numbers that depend only on the seed: the same seed produces the same keys and rates (sfc32). */
export interface Random {
  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number;
  save(): readonly number[];
}

/** Starts from a seed, any whole number. */
export function randomFromSeed(seed: number): Random {
  const random = randomFrom([seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1]);
  // The first numbers after seeding still resemble the seed.
  for (let round = 0; round < 15; round += 1) random.uint32();
  return random;
}

/** Continues from the numbers of `save()`. */
export function randomFrom([first = 0, second = 0, third = 0, counter = 1]: readonly number[]): Random {
  let a = first;
  let b = second;
  let c = third;
  let d = counter;
  return {
    uint32() {
      const sum = (a + b + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum;
      c |= 0;
      return sum >>> 0;
    },
    save: () => [a, b, c, d],
  };
}

/** A 32-bit hash of a text (FNV-1a). Not for secrets. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** A number from 0 to below 1 that depends only on its names, not on the order of requests. */
export function chance(...names: readonly (string | number)[]): number {
  return randomFromSeed(textHash(names.join('\n'))).uint32() / 2 ** 32;
}
