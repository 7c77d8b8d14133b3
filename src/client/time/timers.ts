// Imported, because fake timers that a test installs and removes may never fire.
import { setImmediate } from 'node:timers';
import { Heap } from '../../heap.ts';
import { Cancellation } from './abort.ts';
import { type Clock, type SteadyTime, steadyTime } from './clock.ts';

/** Without a reason, every stop would create an exception with its stack: a tenth of the time of a call. */
const STOPPED = 'stopped';
/** If a sleep ends later than this, the process was suspended. */
const STOOD_STILL_MS = 50;

interface Timer {
  readonly at: number;
  /** Number of the timer: those of one time fire in this order. */
  readonly number: number;
  readonly fire: () => void;
}

interface Sleep {
  readonly until: number;
  readonly controller: AbortController;
}

interface TimeoutOptions {
  /** Time of `SteadyTime`. */
  readonly at: number;
  readonly signal?: Cancellation;
  /** Creates the error after the time has passed. */
  readonly errorOf: () => unknown;
}

/** Many timeouts on one sleep of the clock, and none if no call is in flight, so that the process can end. */
export class Timers {
  readonly #clock: Clock;
  /** A timeout must not become longer if the clock is set back. */
  readonly #time: SteadyTime;
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.number < b.number));
  #count = 0;
  #sleep: Sleep | undefined;
  #isStopping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#time = steadyTime(clock);
  }

  /** Calls `fire` once, at a time of `SteadyTime`. Returns a function that cancels it. */
  at(at: number, fire: () => void): () => void {
    this.#count += 1;
    const node = this.#timers.push({ at, number: this.#count, fire });
    this.#sleepUntil(at);
    return () => {
      if (this.#timers.remove(node) && this.#timers.size === 0) this.#stopSoon();
    };
  }

  /** Cancels `work`, which then must reject, as soon as `signal` aborts or its time is up. */
  async withTimeout<T>(
    work: (cancellation: Cancellation) => Promise<T>,
    { at, signal, errorOf }: TimeoutOptions,
  ): Promise<T> {
    const cancellation = new Cancellation();
    const onAbort = () => cancellation.cancel(signal?.reason);
    signal?.listen(onAbort);
    const cancelTimer = this.at(at, () => cancellation.cancel(errorOf()));
    try {
      return await work(cancellation);
    } finally {
      cancelTimer();
      signal?.unlisten(onAbort);
    }
  }

  #sleepUntil(at: number): void {
    if (this.#sleep !== undefined && this.#sleep.until <= at) return;
    this.#stop();
    this.#sleepFor(Math.max(0, at - this.#time.now()), at);
  }

  #sleepFor(ms: number, until: number): void {
    const sleep = { until, controller: new AbortController() };
    this.#sleep = sleep;
    this.#clock.sleep(ms, sleep.controller.signal).then(
      () => this.#wake(sleep),
      () => undefined, // the timer was stopped: an earlier timer exists, or none is left
    );
  }

  #wake(sleep: Sleep): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    const now = this.#time.now();
    // Responses that have arrived are read before the next sleep ends.
    if (now - sleep.until > STOOD_STILL_MS) return this.#sleepFor(0, now);
    const last = this.#count; // a timer that one of them sets is for the next sleep
    for (let due = this.#due(now); due !== undefined && due.number <= last; due = this.#due(now)) {
      this.#timers.pop();
      due.fire();
    }
    const next = this.#timers.peek();
    if (next !== undefined) this.#sleepUntil(next.at);
  }

  #due(now: number): Timer | undefined {
    const first = this.#timers.peek();
    return first !== undefined && first.at <= now ? first : undefined;
  }

  /**
   * After this turn of the event loop, because most programs make their next call in the turn in which the last one
   * ends.
   */
  #stopSoon(): void {
    if (this.#isStopping || this.#sleep === undefined) return;
    this.#isStopping = true;
    setImmediate(() => {
      this.#isStopping = false;
      if (this.#timers.size === 0) this.#stop();
    });
  }

  #stop(): void {
    this.#sleep?.controller.abort(STOPPED);
    this.#sleep = undefined;
  }
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
