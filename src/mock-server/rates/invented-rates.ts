import { textHash } from '../service/random.ts';
import { CURRENCIES, type Currency, usualUnitsPerUsd } from './currencies.ts';

/** The invented rates of one snapshot. They agree with each other: a to b and b to c give a to c, up to rounding. */
export interface InventedRates {
  /** Units of `currency` for one unit of `base`, with six significant digits. */
  rate(base: Currency, currency: Currency): number;
}

/** The same seed and moment always give the same rates, on every version of Node. */
export function inventRates(seed: number, at: number): InventedRates {
  const minutes = at / 60_000;
  const units = new Map(CURRENCIES.map((currency) => [currency, unitsPerUsd(currency, { seed, minutes })]));
  const unitsOf = (currency: Currency) => units.get(currency) ?? 1;
  return { rate: (base, currency) => Number((unitsOf(currency) / unitsOf(base)).toPrecision(6)) };
}

function unitsPerUsd(currency: Currency, { seed, minutes }: { readonly seed: number; readonly minutes: number }) {
  if (currency === 'USD') return 1;
  return usualUnitsPerUsd(currency) * randomWalk(minutes, { seed, name: textHash(currency) });
}

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
