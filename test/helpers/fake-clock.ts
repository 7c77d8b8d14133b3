import type { Clock } from '../../src/client/time/clock.ts';

interface Sleeper {
  readonly dueAt: number;
  readonly wake: () => void;
}

/** Turns of the event loop after which all work that a wake-up started has ended, except that of sockets. */
const QUIET_TURNS = 3;
/** More wake-ups at the same time indicate an endless loop. */
const TOO_MANY_WAKE_UPS = 10_000;

/** Virtual time: it moves only in `advance` and `run`, and nothing waits for real. */
export class FakeClock implements Clock {
  /** The duration of each sleep, in order. */
  readonly sleeps: number[] = [];
  #nowMs: number;
  #shiftMs = 0;
  #sleepers: Sleeper[] = [];
  #wakeUpsInThisMoment = 0;

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
    return this.#sleepers.length;
  }

  /** Sleeps that remain after all work that needs only the event loop. */
  async left(): Promise<number> {
    await quiet();
    return this.pending;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.sleeps.push(ms);
      const leave = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal?.removeEventListener('abort', stop);
      };
      const stop = () => {
        leave();
        reject(signal?.reason);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const sleeper = { dueAt: this.#nowMs + Math.max(0, ms), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Sets the wall clock; pending sleeps keep their duration. */
  set(shiftMs: number): void {
    this.#shiftMs += shiftMs;
  }

  /** Advances by `ms`, and wakes each sleeper at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await quiet();
    while (this.#wakeNext(end)) await quiet();
    this.#nowMs = end;
  }

  /**
   * Advances from sleeper to sleeper until `work` has settled, whenever the event loop is idle. Never wakes sleepers
   * beyond `horizonMs`: set it if `work` uses sockets and has later timeouts.
   */
  async run<T>(work: Promise<T>, { horizonMs = Number.POSITIVE_INFINITY } = {}): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    work.then(settled, settled);
    while (!isSettled) {
      await quiet();
      if (!isSettled) this.#wakeNext(this.#nowMs + horizonMs);
    }
    return work;
  }

  /** Wakes the earliest sleeper if it is due by `end`. */
  #wakeNext(end: number): boolean {
    const [first] = this.#sleepers.toSorted((a, b) => a.dueAt - b.dueAt);
    if (first === undefined || first.dueAt > end) return false;
    this.#wakeUpsInThisMoment = first.dueAt > this.#nowMs ? 0 : this.#wakeUpsInThisMoment + 1;
    if (this.#wakeUpsInThisMoment > TOO_MANY_WAKE_UPS) throw new Error('time stands still: a sleep of 0 ms in a loop');
    this.#nowMs = Math.max(this.#nowMs, first.dueAt);
    first.wake();
    return true;
  }
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
