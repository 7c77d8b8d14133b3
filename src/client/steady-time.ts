import type { Clock } from './clock.ts';

/**
 * The time that all durations are measured with: whole milliseconds that never go back. It equals epoch time at first,
 * then follows the monotonic clock, so that setting the system clock neither ends nor prolongs a wait. For a clock
 * without `monotonicNow`, a step back is absorbed and a step forward counts as elapsed time.
 */
export class SteadyTime {
  readonly #clock: Clock;
  /** Steady time minus monotonic time, or minus epoch time for a clock without one. */
  #offsetMs: number;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.monotonicNow ? clock.now() - clock.monotonicNow() : 0;
  }

  now(): number {
    const clock = this.#clock;
    if (clock.monotonicNow) return Math.floor(clock.monotonicNow() + this.#offsetMs);
    const epochMs = clock.now();
    if (epochMs + this.#offsetMs < this.#last) this.#offsetMs = this.#last - epochMs;
    this.#last = epochMs + this.#offsetMs;
    return this.#last;
  }

  /** For people and programs outside: milliseconds since the Unix epoch, as the system clock is set now. */
  toEpoch(steadyMs: number): number {
    const now = this.now();
    return steadyMs - now + this.#clock.now();
  }
}

const timeOf = new WeakMap<Clock, SteadyTime>();

/** One for each clock, so that all parts of a client mean the same moment. */
export function steadyTime(clock: Clock): SteadyTime {
  const known = timeOf.get(clock);
  if (known) return known;
  const time = new SteadyTime(clock);
  timeOf.set(clock, time);
  return time;
}
