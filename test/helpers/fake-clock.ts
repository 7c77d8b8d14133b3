import type { Clock } from '../../src/client/time/clock.ts';

interface Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

/** Turns of the event loop after which all work that a timer started has ended, except that of sockets. */
const QUIET_TURNS = 3;
/** More timers at the same time indicate an endless loop. */
const TOO_MANY_IN_A_MOMENT = 10_000;

/** Virtual time: it moves only in `advance` and `run`, and nothing waits for real. */
export class FakeClock implements Clock {
  /** The duration of each sleep, in order. */
  readonly sleeps: number[] = [];
  #nowMs: number;
  #shiftMs = 0;
  /** In the order in which they were added. */
  readonly #timers = new Set<Timer>();
  #firedInThisMoment = 0;

  constructor(startMs = Date.UTC(2026, 0, 21, 14, 20)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs + this.#shiftMs;
  }

  /** Tests set another one. */
  random = (): number => 0.5;

  /** Sleeps that have neither ended nor been aborted. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Sleeps that remain after all work that needs only the event loop. */
  async left(): Promise<number> {
    await quiet();
    return this.pending;
  }

  /** Calls `fire` after `ms`. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void {
    const timer = { dueAt: this.#nowMs + Math.max(0, ms), fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal?.aborted) this.sleeps.push(ms);
    return sleepOn(this, ms, signal);
  }

  /** Sets the wall clock forward or back; pending sleeps keep their duration. */
  set(shiftMs: number): void {
    this.#shiftMs += shiftMs;
  }

  /** Advances by `ms`, and ends each sleep at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await quiet();
    while (this.#fireNext(end)) await quiet();
    this.#nowMs = end;
  }

  /** Advances from sleep to sleep until none is left. */
  async runAll(): Promise<void> {
    await this.advance(0);
    while (this.#fireNext()) await quiet();
  }

  /**
   * Advances from sleep to sleep until `work` has settled, whenever the event loop is idle. Never ends sleeps beyond
   * `horizonMs`: set it if `work` uses sockets and has later timeouts.
   */
  async run<T>(work: Promise<T>, { horizonMs = Number.POSITIVE_INFINITY } = {}): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    work.then(settled, settled);
    while (!isSettled) {
      await quiet();
      if (!isSettled) this.#fireNext(this.#nowMs + horizonMs);
    }
    return work;
  }

  /** Fires the earliest timer if it is due by `end`. */
  #fireNext(end = Number.POSITIVE_INFINITY): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.dueAt < next.dueAt) next = timer;
    if (next === undefined || next.dueAt > end) return false;
    this.#timers.delete(next);
    this.#firedInThisMoment = next.dueAt > this.#nowMs ? 0 : this.#firedInThisMoment + 1;
    if (this.#firedInThisMoment > TOO_MANY_IN_A_MOMENT) throw new Error('time stands still: a sleep of 0 ms in a loop');
    this.#nowMs = Math.max(this.#nowMs, next.dueAt);
    next.fire();
    return true;
  }
}

/** Resolves after `ms` of a simulated time. Rejects with the signal's reason as soon as `signal` aborts. */
export function sleepOn(time: Pick<FakeClock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = time.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Waits for all work that needs only the event loop. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Number of microtasks until `work` settles, at most `limit`. */
export async function ticksUntilSettled(work: Promise<unknown>, limit = 100): Promise<number> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  work.then(settled, settled);
  let ticks = 0;
  while (!isSettled && ticks < limit) {
    await undefined;
    ticks += 1;
  }
  return ticks;
}
