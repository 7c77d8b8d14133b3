// Imported, because a test may replace the global one.
import { setImmediate } from 'node:timers';
import type { Clock } from '../../../src/client/index.ts';
import { Heap } from '../../../src/heap.ts';
import { sleepOn } from '../../../test/helpers/fake-clock.ts';

interface Event<Item> {
  readonly at: number;
  readonly order: number;
  readonly item: Item;
}

/** Items ordered by time, then by the order in which they were added. */
export class EventQueue<Item> {
  readonly #events = new Heap<Event<Item>>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  #order = 0;

  push(at: number, item: Item): void {
    this.#order += 1;
    this.#events.push({ at, order: this.#order, item });
  }

  pop(): { readonly at: number; readonly item: Item } | undefined {
    return this.#events.pop();
  }
}

interface Timer {
  fire: (() => void) | undefined;
}

const LAST_TURNS = 10;

/** The time of one simulation in milliseconds; it moves only in `run`, from timer to timer. */
export class VirtualTime {
  readonly #timers = new EventQueue<Timer>();
  #now: number;
  #pending = 0;

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Timers that have neither fired nor been cancelled. */
  get pending(): number {
    return this.#pending;
  }

  /** Calls `fire` after `ms`. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { fire };
    this.#timers.push(this.#now + Math.max(0, ms), timer);
    this.#pending += 1;
    return () => {
      if (timer.fire === undefined) return;
      timer.fire = undefined;
      this.#pending -= 1;
    };
  }

  /** Runs timers in order until `isDone`, until `untilMs`, or until none is left. */
  async run(isDone: () => boolean, untilMs: number): Promise<void> {
    await settle();
    while (!isDone() && (await this.#hasTimers())) {
      const next = this.#timers.pop();
      if (next === undefined) return;
      const { fire } = next.item;
      if (fire === undefined) continue;
      if (next.at > untilMs) {
        this.#timers.push(next.at, next.item);
        return;
      }
      this.#now = next.at;
      next.item.fire = undefined;
      this.#pending -= 1;
      fire();
      await settle();
    }
  }

  /** Work in later turns of the event loop can still set timers. */
  async #hasTimers(): Promise<boolean> {
    for (let turn = 0; turn < LAST_TURNS && this.#pending === 0; turn += 1) await settle();
    return this.#pending > 0;
  }
}

/** The clock of one simulated process. Its wall clock can jump; its monotonic clock and its sleeps cannot. */
export class ProcessClock implements Clock {
  readonly #time: VirtualTime;
  readonly #startedAt: number;
  #shiftMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
    this.#startedAt = time.now();
  }

  now(): number {
    return this.#time.now() + this.#shiftMs;
  }

  monotonicNow(): number {
    return this.#time.now() - this.#startedAt;
  }

  /** Sets the wall clock forward or back. */
  jump(ms: number): void {
    this.#shiftMs += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this.#time, ms, signal);
  }
}

/** Waits one turn of the event loop, in which all promises that a timer resolved are handled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
