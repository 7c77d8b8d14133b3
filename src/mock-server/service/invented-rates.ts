import { textHash } from './random.ts';

/** Units of `currency` for one unit of `base`, with six significant digits. */
type InventedRate = (base: Currency, currency: Currency) => number;

/**
 * The invented rates of one snapshot. They are consistent: the rate from a to c is the product of a to b and b to c, up
 * to rounding. They depend only on seed and time, also in other versions of Node.js.
 */
export function inventRates(seed: number, at: number): InventedRate {
  const minutes = at / 60_000;
  const units = new Map(CURRENCIES.map((currency) => [currency, unitsPerUsd(currency, { seed, minutes })]));
  const unitsOf = (currency: Currency) => units.get(currency) ?? 1;
  return (base, currency) => Number((unitsOf(currency) / unitsOf(base)).toPrecision(6));
}

function unitsPerUsd(currency: Currency, { seed, minutes }: { readonly seed: number; readonly minutes: number }) {
  if (currency === 'USD') return 1;
  return UNITS_PER_USD[currency] * randomWalk(minutes, { seed, name: textHash(currency) });
}

/**
 * A random walk around 1 whose value at any time is computed without the steps before it: the sum of waves from a
 * minute to half a year long, each √2 times as high as the one half as long (midpoint displacement). It changes by a few
 * hundredths of a percent in five minutes, and by a few percent in half a year.
 *
 * It uses only arithmetic, because `Math.pow` and `Math.log` may differ in the last digit between engines.
 */
function randomWalk(minutes: number, { seed, name }: { readonly seed: number; readonly name: number }): number {
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

/** A 32-bit hash of two numbers. Each bit depends on all bits of both. */
function mix(first: number, second: number): number {
  let hash = Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ second;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return hash ^ (hash >>> 15);
}

/**
 * The currencies of ISO 4217 as of 2025, funds and metals included, each with the units that one US dollar was worth
 * at about that time, the centre of the random walk of its rate. They are listed here, because `Intl` differs between
 * versions of Node.js. They are not market data.
 */
// biome-ignore format: a table, five to a line
const UNITS_PER_USD = {
  AED: 3.6725, AFN: 69.4, ALL: 83.5, AMD: 383.4, AOA: 917, ARS: 1342, AUD: 1.523, AWG: 1.79, AZN: 1.7, BAM: 1.673,
  BBD: 2, BDT: 121.6, BGN: 1.673, BHD: 0.376, BIF: 2982, BMD: 1, BND: 1.284, BOB: 6.91, BOV: 2.53, BRL: 5.43,
  BSD: 1, BTN: 87.6, BWP: 13.42, BYN: 3.27, BZD: 2.01, CAD: 1.372, CDF: 2868, CHE: 0.749, CHF: 0.8012, CHW: 0.864,
  CLF: 0.0245, CLP: 966, CNY: 7.152, COP: 4021, COU: 10.24, CRC: 504.6, CUP: 24, CVE: 94.3, CZK: 20.94, DJF: 177.7,
  DKK: 6.384, DOP: 62.8, DZD: 129.8, EGP: 48.5, ERN: 15, ETB: 141.7, EUR: 0.8553, FJD: 2.254, FKP: 0.7405, GBP: 0.7405,
  GEL: 2.695, GHS: 10.95, GIP: 0.7405, GMD: 72.1, GNF: 8670, GTQ: 7.664, GYD: 209.1, HKD: 7.806, HNL: 26.17, HTG: 130.9,
  HUF: 339.4, IDR: 16340, ILS: 3.342, INR: 87.6, IQD: 1309, IRR: 42100, ISK: 122.6, JMD: 160.3, JOD: 0.709, JPY: 147.2,
  KES: 129.2, KGS: 87.4, KHR: 4008, KMF: 420.8, KPW: 900, KRW: 1389, KWD: 0.3056, KYD: 0.8333, KZT: 537.6, LAK: 21680,
  LBP: 89500, LKR: 302.1, LRD: 200.8, LSL: 17.66, LYD: 5.41, MAD: 9.012, MDL: 16.71, MGA: 4440, MKD: 52.6, MMK: 2099,
  MNT: 3590, MOP: 8.04, MRU: 39.9, MUR: 45.9, MVR: 15.4, MWK: 1734, MXN: 18.64, MXV: 2.17, MYR: 4.222, MZN: 63.9,
  NAD: 17.66, NGN: 1534, NIO: 36.8, NOK: 10.08, NPR: 140.2, NZD: 1.7, OMR: 0.3845, PAB: 1, PEN: 3.533, PGK: 4.18,
  PHP: 57.1, PKR: 281.9, PLN: 3.652, PYG: 7228, QAR: 3.64, RON: 4.327, RSD: 100.2, RUB: 80.4, RWF: 1447, SAR: 3.75,
  SBD: 8.22, SCR: 14.2, SDG: 600.5, SEK: 9.511, SGD: 1.284, SHP: 0.7405, SLE: 23.3, SOS: 571, SRD: 38.6, SSP: 4722,
  STN: 20.96, SVC: 8.75, SYP: 13000, SZL: 17.66, THB: 32.4, TJS: 9.44, TMT: 3.5, TND: 2.892, TOP: 2.39, TRY: 41.0,
  TTD: 6.78, TWD: 30.4, TZS: 2480, UAH: 41.3, UGX: 3552, USD: 1, USN: 1, UYI: 6.38, UYU: 40.1, UYW: 0.00616,
  UZS: 12380, VED: 144.4, VES: 144.4, VND: 26350, VUV: 119.6, WST: 2.74, XAD: 3.67, XAF: 561.1, XAG: 0.02571, XAU: 0.000297,
  XCD: 2.7, XCG: 1.79, XDR: 0.7316, XOF: 561.1, XPD: 0.000891, XPF: 102.1, XPT: 0.000735, YER: 240.2, ZAR: 17.66, ZMW: 23.3,
  ZWG: 26.77,
} as const;

export type Currency = keyof typeof UNITS_PER_USD;

/** In alphabetical order. */
export const CURRENCIES = Object.keys(UNITS_PER_USD) as readonly Currency[];

export function isCurrency(code: string): code is Currency {
  return Object.hasOwn(UNITS_PER_USD, code);
}
