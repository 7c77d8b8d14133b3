import type { Clock } from '../clock.ts';

/**
 * A clock that never goes back. When the system clock is set back, steady time stands still for that moment and then
 * runs on, so nothing waits for the lost hour to come round again. Equal to epoch time until that happens.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #aheadMs = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const epochMs = this.#clock.now();
    if (epochMs + this.#aheadMs < this.#last) this.#aheadMs = this.#last - epochMs;
    this.#last = epochMs + this.#aheadMs;
    return this.#last;
  }

  fromEpoch(epochMs: number): number {
    return epochMs + this.#aheadMs;
  }

  toEpoch(steadyMs: number): number {
    return steadyMs - this.#aheadMs;
  }
}
