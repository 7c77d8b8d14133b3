import type { Clock } from '../../src/client/time/clock.ts';

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}

/**
 * Turns of the microtask queue after which the effects of a timer have settled; the longest chain of awaits is shorter.
 */
const SETTLING_TURNS = 12;

/** Virtual time: nothing waits for real, timers fire in order, and time moves only in `advance` and `run`. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #shiftMs = 0;
  #order = 0;
  #timers: Timer[] = [];

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs + this.#shiftMs;
  }

  /** Sleeps that have neither ended nor been aborted. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Calls `fire` after `ms`. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void {
    const timer = { dueAt: this.#nowMs + Math.max(0, ms), order: this.#order++, fire };
    push(this.#timers, timer);
    return () => {
      const place = this.#timers.indexOf(timer);
      if (place < 0) return;
      this.#timers.splice(place, 1);
      this.#timers.sort(byTime);
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Sets the wall clock forward or back; pending sleeps keep their duration. */
  jump(ms: number): void {
    this.#shiftMs += ms;
  }

  async advance(ms: number): Promise<void> {
    const endsAt = this.#nowMs + ms;
    await settle();
    for (let timer = this.#timers[0]; timer && timer.dueAt <= endsAt; timer = this.#timers[0]) await this.#fireNext();
    this.#nowMs = endsAt;
  }

  /** Advances from timer to timer until `isDone`, or until no timer is left. */
  async run(isDone: () => boolean = () => false): Promise<void> {
    await settle();
    while (this.#timers.length > 0 && !isDone()) await this.#fireNext();
  }

  async #fireNext(): Promise<void> {
    const timer = pop(this.#timers);
    if (!timer) return;
    this.#nowMs = Math.max(this.#nowMs, timer.dueAt);
    timer.fire();
    await settle();
  }
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLING_TURNS; turn += 1) await undefined;
}

function byTime(a: Timer, b: Timer): number {
  return a.dueAt - b.dueAt || a.order - b.order;
}

/** A sorted array is a heap, so `push` and `pop` work after a removal in the middle. */
function push(heap: Timer[], timer: Timer): void {
  let place = heap.length;
  heap.push(timer);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (byTime(heap[parent]!, timer) <= 0) break;
    heap[place] = heap[parent]!;
    place = parent;
  }
  heap[place] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && byTime(heap[child + 1]!, heap[child]!) < 0) child += 1;
    if (byTime(last, heap[child]!) <= 0) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = last;
  return first;
}
