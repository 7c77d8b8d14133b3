/**
 * A random walk around 1 whose value at any moment is known without the steps before it: the sum of waves from a
 * minute to half a year long, each √2 times as high as the one half as long (midpoint displacement). A few hundredths
 * of a percent from one five minutes to the next, a few percent in half a year.
 *
 * Arithmetic alone, no `Math.pow` or `Math.log`: those may differ in the last digit between engines.
 */
export function randomWalk(minutes: number, { seed, name }: { readonly seed: number; readonly name: number }): number {
  const start = mix(mix(name, seed), Math.floor(seed / 2 ** 32));
  let value = 1;
  let height = LOWEST_WAVE;
  let length = 1;
  for (let wave = 0; wave < WAVES; wave += 1) {
    const position = minutes / length;
    const node = Math.floor(position);
    const salt = mix(start, wave);
    const [left, right] = [noise(salt, node), noise(salt, node + 1)];
    value += height * (left + (right - left) * (position - node));
    height *= Math.SQRT2;
    length *= 2;
  }
  return value;
}

const WAVES = 18;
const LOWEST_WAVE = 0.000_05;

/** From -1 to 1. */
function noise(salt: number, node: number): number {
  return (mix(salt, node) >>> 0) / 2 ** 31 - 1;
}

/** Two numbers stirred into one of 32 bits, each bit of which depends on all of theirs. */
function mix(first: number, second: number): number {
  let hash = Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ second;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return hash ^ (hash >>> 15);
}
