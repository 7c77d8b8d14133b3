import { textHash } from '../service/text-hash.ts';
import { CURRENCIES, type Currency, usualUnitsPerUsd } from './currencies.ts';
import { randomWalk } from './random-walk.ts';

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
