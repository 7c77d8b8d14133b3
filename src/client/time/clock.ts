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
  /** Returns a number from 0 (inclusive) to 1 (exclusive), for jitter. If omitted, the client uses `Math.random()`. */
  random?(): number;
}

/** Node fires a longer timer after 1 ms, which would turn a long wait into a busy loop. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A timer that fires this much too early was faked by a test that does not fake `performance`, as with node:test. */
const FAKED_BY_MS = 50;

/**
 * The clock of the system. It reads `Date`, `performance` and `setTimeout` at each use, so that it follows fake timers of
 * a test, also if they are installed or removed during a sleep.
 */
class SystemClock implements Clock {
  /** Starts the timer of each sleep again. */
  readonly #restarts = new Set<() => void>();
  #setTimeout = globalThis.setTimeout;
  /** Milliseconds by which fake timers are ahead of `performance`. */
  #skippedMs = 0;

  now(): number {
    // biome-ignore lint/plugin: this is the real clock
    return Date.now();
  }

  monotonicNow(): number {
    if (globalThis.setTimeout !== this.#setTimeout) this.#restartSleeps();
    // biome-ignore lint/plugin: this is the real clock
    return performance.now() + this.#skippedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const delayMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
      const endsAt = this.monotonicNow() + delayMs;
      let stopTimer: () => void = () => undefined;
      const start = () => {
        stopTimer();
        const leftMs = Math.min(Math.max(endsAt - this.monotonicNow(), 0), delayMs);
        // biome-ignore lint/plugin: this is the real clock
        const timer = setTimeout(wake, leftMs);
        const { clearTimeout } = globalThis; // the one that knows the timer, whatever replaces it later
        stopTimer = () => clearTimeout(timer);
      };
      const end = () => {
        this.#restarts.delete(start);
        signal?.removeEventListener('abort', abort);
      };
      const wake = () => {
        end();
        this.#skipTo(endsAt, delayMs);
        resolve();
      };
      const abort = () => {
        stopTimer();
        end();
        reject(signal?.reason);
      };
      this.#restarts.add(start);
      signal?.addEventListener('abort', abort, { once: true });
      start();
    });
  }

  /** Fake timers were installed or removed. Those on which the sleeps began may never end them. */
  #restartSleeps(): void {
    this.#setTimeout = globalThis.setTimeout;
    for (const restart of this.#restarts) restart();
  }

  /** A timer cannot be early by more than its delay: then `performance` was set back. */
  #skipTo(endsAt: number, delayMs: number): void {
    const earlyMs = endsAt - this.monotonicNow();
    if (earlyMs > FAKED_BY_MS && earlyMs <= delayMs) this.#skippedMs += earlyMs;
  }
}

export const realClock: Clock = new SystemClock();

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
    const ms = this.#clock.monotonicNow?.() ?? this.#clock.now();
    // Fake timers also set `performance` back.
    if (ms + this.#offsetMs < this.#last) this.#offsetMs = this.#last - ms;
    this.#last = ms + this.#offsetMs;
    return Math.floor(this.#last);
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
