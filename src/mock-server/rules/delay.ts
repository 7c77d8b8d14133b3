import { once } from 'node:events';
import * as z from 'zod';
import type { Clock } from '../clock/clock.ts';
import { holdProcess } from '../clock/event-loop.ts';
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

interface DelayOptions {
  /** Ids of the faults that make the request hang. The wait ends when one of them is removed. */
  readonly faults?: readonly string[] | undefined;
  /** Called with the reason when the wait ends early, before code that waits for the same signal continues. */
  readonly onEndedEarly?: ((reason: string) => void) | undefined;
}

/** Reason of the signals that abort because the server is closed, not because the client has disconnected. */
export const SERVER_CLOSED = 'the server was closed';

/**
 * The waits that faults and stubs cause, by the mock's clock. They end early when the client disconnects, or the mock is
 * closed or reset.
 */
export class ResponseDelays {
  readonly #clock: Clock;
  /** Each with the ids of the faults that make the request hang. */
  readonly #waiting = new Map<AbortController, readonly string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits `ms` milliseconds; infinity waits until something ends the wait. Returns whether the whole time has passed. */
  async wait(
    ms: number,
    signal: AbortSignal | undefined,
    { faults = [], onEndedEarly = () => undefined }: DelayOptions = {},
  ): Promise<boolean> {
    const end = new AbortController();
    const isByClient = () => signal?.aborted === true && signal.reason !== SERVER_CLOSED;
    const noteEnd = () => onEndedEarly(isByClient() ? 'the client disconnected' : 'the mock was closed');
    end.signal.addEventListener('abort', noteEnd, { once: true });
    const stop = () => end.abort();
    if (signal?.aborted) {
      stop();
      return false;
    }
    signal?.addEventListener('abort', stop, { once: true });
    this.#waiting.set(end, faults);
    const release = holdProcess(); // the client waits, even if its own timeout holds nothing, as that of a signal
    try {
      await (ms === Number.POSITIVE_INFINITY ? once(end.signal, 'abort') : this.#clock.sleep(ms, end.signal));
      return !end.signal.aborted;
    } catch (error) {
      if (end.signal.aborted) return false;
      throw error;
    } finally {
      release();
      signal?.removeEventListener('abort', stop);
      this.#waiting.delete(end);
    }
  }

  /** Ends the requests that hang because of a fault. */
  endHangsOf(faultId: string): void {
    for (const [end, faults] of this.#waiting) if (faults.includes(faultId)) end.abort();
  }

  endAll(): void {
    for (const end of this.#waiting.keys()) end.abort();
  }
}
