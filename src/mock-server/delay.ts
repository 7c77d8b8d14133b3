import * as z from 'zod';
import { expected } from './matching/checked-input.ts';
import { chance } from './service/random.ts';

/**
 * A delay by the mock's clock: milliseconds, or a distribution from which each request draws. `min` and `max` are whole
 * milliseconds, both included, with equal probability. `median` in milliseconds and `sigma` define a lognormal distribution:
 * the larger `sigma`, the longer its tail of slow responses. The seed of the mock determines the drawn values.
 * @example { min: 50, max: 150 }
 * @example { median: 80, sigma: 0.4 }
 */
export type Delay =
  | number
  | { readonly min: number; readonly max: number }
  | { readonly median: number; readonly sigma: number };

/** A delay as JSON has it. */
export const delaySchema = expected(
  'milliseconds from 0, { "min": …, "max": … } in whole milliseconds, or { "median": …, "sigma": … }',
  (error) =>
    z.union(
      [
        z.number().min(0, error),
        z.strictObject({ min: z.int().min(0, error), max: z.int() }, error).refine(({ min, max }) => min <= max, error),
        z.strictObject({ median: z.number().min(0, error), sigma: z.number().min(0, error) }, error),
      ],
      error,
    ),
);

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
