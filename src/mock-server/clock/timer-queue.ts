import { Heap } from '../../heap.ts';

/** Waits, ordered by their end. Waits with the same end are resolved in the order in which they were added. */
export class TimerQueue {
  readonly #heap = new Heap<QueuedTimer>(
    (one, other) => one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order),
  );
  #added = 0;

  get size(): number {
    return this.#heap.size;
  }

  /** End of the earliest wait; infinity without waits. */
  get nextDueAt(): number {
    return this.#heap.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves at `dueAt`; rejects with the signal's reason when that aborts first. */
  add(dueAt: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#heap.remove(node);
        reject(signal?.reason);
      };
      const fire = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      this.#added += 1;
      const node = this.#heap.push({ dueAt, order: this.#added, fire });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Resolves the waits that end at `now`, in their order. */
  fireDue(now: number): void {
    while (this.nextDueAt <= now) this.#heap.pop()?.fire();
  }

  /** Moves the ends of all waits, because the clock was set. */
  shift(byMs: number): void {
    for (const timer of this.#heap) timer.dueAt += byMs;
  }
}

interface QueuedTimer {
  dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}
