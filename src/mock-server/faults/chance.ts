import { randomFromSeed } from '../service/random.ts';

/** A number from 0 to below 1 that its names alone decide: the same in whatever order requests of different keys come. */
export function chance(...names: readonly (string | number)[]): number {
  return randomFromSeed(hash(names.join('\n'))).uint32() / 2 ** 32;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
