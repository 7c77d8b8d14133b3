import * as z from 'zod';
import { expected, type Immutable } from '../input/checked-input.ts';
import { chance } from '../service/random.ts';

const WORDS = 'milliseconds from 0, { "min": …, "max": … } in whole milliseconds, or { "median": …, "sigma": … }';
const milliseconds = z.number(WORDS).min(0);

export const delaySchema = expected(
  WORDS,
  z.union([
    milliseconds,
    z.strictObject({ min: z.int(WORDS).min(0), max: z.int() }, WORDS).refine(({ min, max }) => min <= max),
    z.strictObject({ median: milliseconds, sigma: milliseconds }, WORDS),
  ]),
);

/**
 * A delay by the mock's clock: milliseconds, or a distribution from which each request draws. `min` and `max` are whole
 * milliseconds, both included, with equal probability. `median` in milliseconds and `sigma` define a lognormal distribution:
 * the larger `sigma`, the longer its tail of slow responses. The seed of the mock determines the drawn values.
 * @example { min: 50, max: 150 }
 * @example { median: 80, sigma: 0.4 }
 */
export type Delay = Immutable<z.output<typeof delaySchema>>;

/** The milliseconds of a delay. For a distribution, `names` alone determine them, as in `chance()`. */
export function drawDelayMs(delay: Delay, ...names: readonly (string | number)[]): number {
  if (typeof delay === 'number') return delay;
  const drawn = chance('delay', ...names);
  if ('min' in delay) return delay.min + Math.floor(drawn * (delay.max - delay.min + 1));
  const { median, sigma } = delay;
  const ms = Math.round(median * Math.exp(sigma * standardNormal(drawn, chance('angle', ...names))));
  return Math.min(ms, Number.MAX_SAFE_INTEGER); // an infinite wait would be a request that hangs
}

/** A number of the standard normal distribution, from two uniform ones (Box and Muller 1958). */
function standardNormal(first: number, second: number): number {
  return Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second);
}
