import { randomFromSeed } from '../service/random.ts';
import { textHash } from '../service/text-hash.ts';

/** A number from 0 to below 1 that its names alone decide: the same in whatever order requests of different keys come. */
export function chance(...names: readonly (string | number)[]): number {
  return randomFromSeed(textHash(names.join('\n'))).uint32() / 2 ** 32;
}
