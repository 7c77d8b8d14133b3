import type { QuotaData } from '../../generated/types.ts';
import type { Clock } from '../clock.ts';

/** Refusals that come within this time of an answer are explained by it. */
const FRESH_MS = 1000;

/** Asks for the quota once for many refused calls at a time: a burst refused together is one question. */
export class QuotaCheck {
  readonly #clock: Clock;
  #asking: Promise<QuotaData | undefined> | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The quota, or `undefined` when it cannot be had: then the refusal stands as it is. */
  ask(load: () => Promise<QuotaData>): Promise<QuotaData | undefined> {
    if (this.#asking === undefined || this.#clock.now() > this.#freshUntil) {
      this.#freshUntil = Number.POSITIVE_INFINITY;
      this.#asking = load()
        .catch(() => undefined)
        .finally(() => {
          this.#freshUntil = this.#clock.now() + FRESH_MS;
        });
    }
    return this.#asking;
  }
}
