/**
 * Invented rates: units of a currency for one US dollar, near what they were once. They are nobody's market data.
 * The first number is the value, the second how many decimals the currency is quoted with.
 */
const UNITS_PER_USD = {
  AUD: [1.52, 4],
  BRL: [5.43, 4],
  CAD: [1.37, 4],
  CHF: [0.81, 4],
  CNY: [7.15, 4],
  CZK: [21.3, 3],
  DKK: [6.47, 4],
  EUR: [0.9214, 4],
  GBP: [0.789, 4],
  HKD: [7.83, 4],
  HUF: [342, 2],
  IDR: [16350, 0],
  ILS: [3.41, 4],
  INR: [86.2, 3],
  ISK: [124, 2],
  JPY: [148.9, 2],
  KRW: [1385, 1],
  KWD: [0.3061, 5],
  MXN: [18.7, 3],
  NOK: [10.2, 3],
  NZD: [1.67, 4],
  PLN: [3.69, 4],
  RON: [4.41, 4],
  SEK: [9.57, 3],
  SGD: [1.29, 4],
  THB: [32.6, 3],
  TRY: [40.9, 3],
  USD: [1, 4],
  ZAR: [17.8, 3],
} as const satisfies Record<string, readonly [number, number]>;

export type Currency = keyof typeof UNITS_PER_USD;

export const CURRENCIES = Object.keys(UNITS_PER_USD) as readonly Currency[];

export function isCurrency(code: string): code is Currency {
  return Object.hasOwn(UNITS_PER_USD, code);
}

/** Which invented rates: the same seed, snapshot number and base always give the same. */
export interface RatesQuestion {
  readonly seed: number;
  readonly snapshot: number;
  readonly base: Currency;
}

/** Gives the units of a currency for one unit of the base. */
export function inventedRates({ seed, snapshot, base }: RatesQuestion): (currency: Currency) => number {
  const moment = `${seed} ${snapshot}`;
  const unitsOfBase = unitsPerUsd(base, moment);
  return (currency) => {
    const rate = unitsPerUsd(currency, moment) / unitsOfBase;
    const [, decimals] = UNITS_PER_USD[currency];
    // A weak currency against a strong one needs more digits to say anything.
    const digits = Math.max(decimals, 4 - Math.floor(Math.log10(rate)));
    return Number(rate.toFixed(Math.min(digits, 12)));
  };
}

function unitsPerUsd(currency: Currency, moment: string): number {
  const [units] = UNITS_PER_USD[currency];
  if (currency === 'USD') return units;
  // Up to half a percent around the value, different in every snapshot.
  return units * (1 + (hash32(`${moment} ${currency}`) / 2 ** 32 - 0.5) / 100);
}

/** FNV-1a: short, and the same everywhere. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
