import type { SteadyTime } from '../clock.ts';
import { FxRatesError } from '../errors/errors.ts';

/** An answer that arrives sooner than this after the one before tells nothing new. */
const AGAIN_AT_SOONEST_MS = 60_000;

/**
 * Asks `quota` for the per-minute limit when calls begin to wait: one request instead of the refusals that learning the
 * limit would cost. Not again where the service refused the question.
 */
export class LimitQuestion {
  readonly #time: SteadyTime;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isRefused = false;
  #ask: (() => Promise<unknown>) | undefined;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  /** How to ask, in the name of the latest call that waits. */
  set ask(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  /** The limiter would like to know: asks, unless that was done just now. */
  readonly wanted = (): void => {
    const ask = this.#ask;
    if (ask === undefined || this.#isRefused || this.#time.now() - this.#askedAt < AGAIN_AT_SOONEST_MS) return;
    this.#askedAt = this.#time.now();
    ask().catch((error: unknown) => {
      this.#isRefused = isRefusal(error);
    });
  };
}

/** Whether the service does not answer the question for this key: 4xx, but not for the rate. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof FxRatesError ? error.status : undefined;
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}
