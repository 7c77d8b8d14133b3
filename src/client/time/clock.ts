import { processState } from '../../process-state.ts';
import { Cancellation } from './abort.ts';

/** A source of time. Tests pass one that they control. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Returns milliseconds since any fixed moment, unaffected by changes of the system clock. The client measures timeouts
   * and deadlines with it. If omitted, it uses `now()`, and a step forward counts as elapsed time.
   */
  monotonicNow?(): number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive), for jitter. If omitted, the client uses `Math.random()`. */
  random?(): number;
}

/** Node fires a longer timer after 1 ms, which would turn a long wait into a busy loop. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A timer that fires this much too early was faked by a test that does not fake `performance`, as with node:test. */
const FAKED_BY_MS = 50;

/** The clock of the system. It reads `Date`, `performance` and `setTimeout` at each use, so that it follows fake timers of a test. */
class SystemClock implements Clock {
  /** Milliseconds by which fake timers are ahead of `performance`. */
  #skippedMs = 0;

  now(): number {
    // biome-ignore lint/plugin: this is the real clock
    return Date.now();
  }

  monotonicNow(): number {
    // biome-ignore lint/plugin: this is the real clock
    return performance.now() + this.#skippedMs;
  }

  /** Calls back after `ms`, or at the end of the longest timer. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void {
    const delayMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
    const endsAt = this.monotonicNow() + delayMs;
    // biome-ignore lint/plugin: this is the real clock
    const timer = setTimeout(() => {
      this.#skipTo(endsAt, delayMs);
      callback();
    }, delayMs);
    const { clearTimeout } = globalThis; // the one that knows the timer, whatever replaces it later
    return () => clearTimeout(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** A timer cannot be early by more than its delay: then `performance` was set back. */
  #skipTo(endsAt: number, delayMs: number): void {
    const earlyMs = endsAt - this.monotonicNow();
    if (earlyMs > FAKED_BY_MS && earlyMs <= delayMs) this.#skippedMs += earlyMs;
  }
}

/** Without private members in its type: declarations of what contains it could not name them. */
export const realClock: Clock &
  Pick<Required<Clock>, 'monotonicNow'> & { after(ms: number, callback: () => void): () => void } = processState(
  'real-clock.1',
  () => new SystemClock(),
);

/** Without a reason, every stop would create an exception with its stack. */
const STOPPED = 'stopped';
/** If a timer fires later than this, the process was suspended. */
const SUSPENDED_MS = 50;
/** The system clock was set, or the machine slept, if it moved ahead of the monotonic clock by more. */
const SKIPPED_FROM_MS = 5_000;
/** Longest timer of a wait for a date: timers do not run while the machine sleeps. */
const SLICE_MS = 30_000;

/**
 * The time with which all durations are measured: whole milliseconds that never decrease. It equals epoch time at
 * first, then follows the monotonic clock, so that setting the system clock neither ends nor prolongs a timeout. For a
 * clock without `monotonicNow`, a step back is absorbed and a step forward counts as elapsed time.
 *
 * What the service or a person dates (the minute, a Retry-After, the next poll) passes also while the machine sleeps, or while
 * a serverless platform has frozen it between two calls, when the monotonic clock may stop. Its time is `datedNow()`.
 */
export class SteadyTime {
  readonly #clock: Clock;
  /** Steady time minus monotonic time, or minus epoch time for a clock without one. */
  #offsetMs: number;
  #last = Number.NEGATIVE_INFINITY;
  /** Milliseconds by which the last `datedNow()` was ahead of `now()`. */
  skippedMs = 0;
  /** The sleeps of a clock without a monotonic one follow its dates. */
  readonly #sliceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sliceMs = clock.monotonicNow ? SLICE_MS : Number.POSITIVE_INFINITY;
    this.#offsetMs = clock.monotonicNow ? clock.now() - clock.monotonicNow() : 0;
  }

  now(): number {
    const ms = this.#clock.monotonicNow?.() ?? this.#clock.now();
    // Fake timers also set `performance` back.
    if (ms + this.#offsetMs < this.#last) this.#offsetMs = this.#last - ms;
    this.#last = ms + this.#offsetMs;
    return Math.floor(this.#last);
  }

  /** `now()`, and the time for which the machine slept, or by which its clock was set forward. It never decreases either. */
  datedNow(): number {
    const now = this.now();
    const aheadMs = Math.floor(this.#clock.now()) - now;
    if (aheadMs > this.skippedMs + SKIPPED_FROM_MS) this.skippedMs = aheadMs;
    return now + this.skippedMs;
  }

  /** The dated time in milliseconds since the Unix epoch, by the system clock. */
  toEpoch(dated: number): number {
    return dated - this.datedNow() + this.#clock.now();
  }

  /** Calls `fire` once, when `now()` has reached `at`. Returns a function that cancels it. */
  at(at: number, fire: () => void): () => void {
    return this.#start(fire, { at, ms: at - this.now(), isLimit: true });
  }

  /** The same, when the dated time has reached `date`. */
  atDate(date: number, fire: () => void): () => void {
    return this.#start(fire, { at: date, ms: date - this.datedNow(), isLimit: false });
  }

  /** Waits for `ms` of the dated time. Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        cancel();
        reject(signal.reason);
      };
      const cancel = this.atDate(this.datedNow() + ms, () => {
        signal.unlisten(stop);
        resolve();
      });
      signal.listen(stop);
    });
  }

  /** `ms`: until `at`. */
  #start(fire: () => void, { at, ms, isLimit }: Pick<Timer, 'at' | 'isLimit'> & { readonly ms: number }): () => void {
    const timer: Timer = { at, isLimit, fire, hasWaited: false, cancel: undefined };
    this.#wait(timer, ms);
    return () => timer.cancel?.();
  }

  #wait(timer: Timer, ms: number): void {
    const { isLimit } = timer;
    const delayMs = Math.min(isLimit ? Number.POSITIVE_INFINITY : this.#sliceMs, Math.max(0, ms));
    timer.cancel = this.#after(delayMs, isLimit, () => this.#wake(timer));
  }

  #wake(timer: Timer): void {
    const byMs = (timer.isLimit ? this.now() : this.datedNow()) - timer.at;
    // After a suspension of the process, the responses that have arrived are read first.
    const isDue = byMs >= 0 && (byMs <= SUSPENDED_MS || timer.hasWaited);
    if (isDue) return timer.fire();
    timer.hasWaited = byMs >= 0;
    this.#wait(timer, -byMs);
  }

  /**
   * Calls back after a sleep of the clock. If it ends too early, such as that of a test that skips all waits, its time counts
   * as elapsed. A time limit then uses the timer of the system, because it must leave time for the work.
   */
  #after(ms: number, isLimit: boolean, callback: () => void): () => void {
    const clock = this.#clock;
    // Without the promise and the AbortController of a sleep: they take a tenth of the time of a call.
    if (clock === realClock) return realClock.after(ms, callback);
    const endsAt = this.now() + ms;
    const controller = new AbortController();
    const { signal } = controller;
    let cancel = () => controller.abort(STOPPED);
    const end = () => {
      this.#offsetMs += Math.max(0, endsAt - this.now());
      callback();
    };
    const limit = () => {
      if (!signal.aborted) cancel = realClock.after(ms, end);
    };
    const woken = () => {
      if (signal.aborted) return; // another clock may ignore the signal
      const leftMs = endsAt - this.now();
      if (leftMs <= ms / 2) callback();
      else if (isLimit) limit();
      else end();
    };
    (async () => clock.sleep(ms, signal))().then(woken, limit);
    return () => cancel();
  }

  /** Cancels `work`, which then must reject, as soon as `signal` aborts or its time is up. */
  async withTimeout<T>(
    work: (cancellation: Cancellation) => Promise<T>,
    { afterMs, now = this.now(), signal, errorOf }: TimeoutOptions,
  ): Promise<T> {
    const cancellation = new Cancellation();
    const onAbort = () => cancellation.cancel(signal?.reason);
    signal?.listen(onAbort);
    const timer = { at: now + afterMs, ms: afterMs, isLimit: true };
    const cancelTimer = this.#start(() => cancellation.cancel(errorOf()), timer);
    try {
      return await work(cancellation);
    } finally {
      cancelTimer();
      signal?.unlisten(onAbort);
    }
  }
}

interface TimeoutOptions {
  readonly afterMs: number;
  /** Time of `now()`, if the caller has just read it. */
  readonly now?: number;
  readonly signal?: Cancellation;
  /** Creates the error after the time has passed. */
  readonly errorOf: () => unknown;
}

interface Timer {
  readonly at: number;
  /** Whether it ends work that takes too long: `at` is a time of `now()`. Otherwise it is a wait, to a dated time. */
  readonly isLimit: boolean;
  readonly fire: () => void;
  /** Whether it was late, and has waited again. */
  hasWaited: boolean;
  cancel: (() => void) | undefined;
}

const timeOf = processState('steady-times.1', () => new WeakMap<Clock, SteadyTime>());

/** One for each clock in the process: clients of all copies of the package compare their times in one limiter. */
export function steadyTime(clock: Clock): SteadyTime {
  const known = timeOf.get(clock);
  if (known) return known;
  const time = new SteadyTime(clock);
  timeOf.set(clock, time);
  return time;
}

/** Waits that grow with the number of failures. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Default: 2. */
  readonly factor?: number;
}

/** Milliseconds to wait after a failure; `failures`: the number of those before it. */
export function backoffMs(failures: number, { firstMs, longestMs, factor = 2 }: Backoff): number {
  return Math.min(longestMs, firstMs * factor ** failures);
}

/** Half of the wait, and a random part of the other half. Full jitter can be close to zero: within the same outage. */
export function equalJitter(ms: number, random: () => number): number {
  return Math.ceil(ms / 2 + (random() * ms) / 2);
}
