import type { Clock } from '../../src/client/clock.ts';

interface Sleeper {
  readonly dueAt: number;
  readonly wake: () => void;
}

/** Turns of the event loop after which nothing that a wake-up set off is still under way, sockets aside. */
const QUIET_TURNS = 3;
/** Wake-ups in one moment after which somebody sleeps for nothing again and again. */
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

  /** Sleeps that have neither ended nor been aborted. */
  get pending(): number {
    return this.#sleepers.length;
  }

  /** Those that are left when everything that needs no more than the event loop has happened. */
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

  /** Somebody sets the wall clock; sleeps under way last as long as they would have. */
  set(shiftMs: number): void {
    this.#shiftMs += shiftMs;
  }

  /** Lets `ms` pass, waking whoever is due on the way, each at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await quiet();
    while (this.#wakeNext(end)) await quiet();
    this.#nowMs = end;
  }

  /**
   * Lets time pass until `work` has settled, from sleeper to sleeper, as soon as the event loop is quiet. Sleepers
   * further away than `horizonMs` are never reached: give one when sockets are in play, and timeouts beyond it.
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

/** Until everything that needs no more than the event loop has happened. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Microtasks until `work` settles, counted up to `limit`. */
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
