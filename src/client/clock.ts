/** A source of time. Tests pass one that they control. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Returns milliseconds since any fixed moment, unaffected by changes of the system clock. The client measures durations
   * with it. If omitted, it uses `now()`, and a step forward counts as elapsed time.
   */
  monotonicNow?(): number;
}

/** Node fires a longer timer after 1 ms, which would turn a long wait into a busy loop. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A timer that fires this much too early was faked by a test that does not fake `performance`, as with node:test. */
const FAKED_BY_MS = 50;

/** Milliseconds by which fake timers are ahead of `performance`. */
let skippedMs = 0;

/** The clock of the system. */
export const realClock: Clock = {
  // biome-ignore lint/plugin: this is the real clock
  now: () => Date.now(),
  monotonicNow,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const delayMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
      const endsAt = monotonicNow() + delayMs;
      // biome-ignore lint/plugin: this is the real clock
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        skipTo(endsAt, delayMs);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

function monotonicNow(): number {
  // biome-ignore lint/plugin: this is the real clock
  return performance.now() + skippedMs;
}

/** A timer cannot be early by more than its delay: then `performance` was set back. */
function skipTo(endsAt: number, delayMs: number): void {
  const earlyMs = endsAt - monotonicNow();
  if (earlyMs > FAKED_BY_MS && earlyMs <= delayMs) skippedMs += earlyMs;
}

/**
 * The time with which all durations are measured: whole milliseconds that never decrease. It equals epoch time at
 * first, then follows the monotonic clock, so that setting the system clock neither ends nor prolongs a wait. For a
 * clock without `monotonicNow`, a step back is absorbed and a step forward counts as elapsed time.
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

  /** Milliseconds since the Unix epoch, by the system clock. */
  toEpoch(steadyMs: number): number {
    const now = this.now();
    return steadyMs - now + this.#clock.now();
  }
}

const timeOf = new WeakMap<Clock, SteadyTime>();

/** One for each clock, so that all parts of a client use the same time. */
export function steadyTime(clock: Clock): SteadyTime {
  const known = timeOf.get(clock);
  if (known) return known;
  const time = new SteadyTime(clock);
  timeOf.set(clock, time);
  return time;
}
