import type { SavedGrowth } from './saved-limit.ts';
import { WINDOW_MS } from './window.ts';

/** A bucket's rate grows by this much at once, in smaller steps near a rate that was refused. */
export const LARGEST_STEP = 1.5;

const NOT_BEGUN: SavedGrowth = {
  step: LARGEST_STEP,
  acceptedAtStep: 0,
  train: 1,
  outstanding: 0,
  dueAt: 0,
  pauseMs: WINDOW_MS,
};

/**
 * How a share that is smaller than the limit finds out that it may be larger: it sends a train of calls beyond its
 * slots, one, then twice as many after each train that was accepted wholly, until one is refused.
 */
export class Growth {
  /** Factor by which the rate of a bucket grows next. */
  step: number;
  /** Calls accepted when it last grew or shrank. */
  acceptedAtStep: number;
  #train: number;
  #outstanding: number;
  #dueAt: number;
  #pauseMs: number;

  constructor(saved: SavedGrowth = NOT_BEGUN) {
    this.step = saved.step;
    this.acceptedAtStep = saved.acceptedAtStep;
    this.#train = saved.train;
    this.#outstanding = saved.outstanding;
    this.#dueAt = saved.dueAt;
    this.#pauseMs = saved.pauseMs;
  }

  save(): SavedGrowth {
    return {
      step: this.step,
      acceptedAtStep: this.acceptedAtStep,
      train: this.#train,
      outstanding: this.#outstanding,
      dueAt: this.#dueAt,
      pauseMs: this.#pauseMs,
    };
  }

  get train(): number {
    return this.#train;
  }

  get dueAt(): number {
    return this.#dueAt;
  }

  /** Whether a call beyond the known slots was refused since the window became known: there are no more of them. */
  get wasRefused(): boolean {
    return this.#pauseMs > WINDOW_MS;
  }

  /** A window became known: it may be grown from `at` on. */
  start(at: number): void {
    this.#train = 1;
    this.#dueAt = at;
    this.#pauseMs = WINDOW_MS;
  }

  depart(calls: number): void {
    this.#outstanding = calls;
  }

  accept(): void {
    this.#outstanding -= 1;
    if (this.#outstanding <= 0) this.#train *= 2;
  }

  /** Nothing to be had now: later again, after pauses that double up to `longestPauseMs`. */
  refuse(now: number, longestPauseMs: number): void {
    this.#train = 1;
    this.#dueAt = now + this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, 2 * this.#pauseMs);
  }
}
