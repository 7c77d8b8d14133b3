/** Waits for moments, earliest first: a binary heap in which each entry knows its index, to leave early. */
export class TimerQueue {
  readonly #heap: QueuedTimer[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the earliest is due; infinity when there is none. */
  get nextDueAt(): number {
    return this.#heap[0]?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves at `dueAt`; rejects with the signal's reason when that aborts first. */
  add(dueAt: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#remove(timer);
        reject(signal?.reason);
      };
      const fire = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      this.#added += 1;
      const timer: QueuedTimer = { dueAt, order: this.#added, index: this.#heap.length, fire };
      signal?.addEventListener('abort', abort, { once: true });
      this.#heap.push(timer);
      this.#rise(timer);
    });
  }

  /** Fires what is due at `now`, in order of time and then of adding; says how many that were. */
  fireDue(now: number): number {
    let fired = 0;
    for (let first = this.#heap[0]; first !== undefined && first.dueAt <= now; first = this.#heap[0]) {
      this.#remove(first);
      first.fire();
      fired += 1;
    }
    return fired;
  }

  /** Moves every wait, as when the clock is set; the order stays as it is. */
  shift(byMs: number): void {
    for (const timer of this.#heap) timer.dueAt += byMs;
  }

  #remove(timer: QueuedTimer): void {
    const last = this.#heap.pop();
    if (last === undefined || last === timer) return;
    this.#put(last, timer.index);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(timer: QueuedTimer): void {
    while (timer.index > 0) {
      const parent = this.#heap[(timer.index - 1) >> 1];
      if (parent === undefined || !isBefore(timer, parent)) return;
      this.#swap(timer, parent);
    }
  }

  #sink(timer: QueuedTimer): void {
    for (;;) {
      const child = this.#earlierChild(timer);
      if (child === undefined || !isBefore(child, timer)) return;
      this.#swap(child, timer);
    }
  }

  #earlierChild({ index }: QueuedTimer): QueuedTimer | undefined {
    const left = this.#heap[2 * index + 1];
    const right = this.#heap[2 * index + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #swap(one: QueuedTimer, other: QueuedTimer): void {
    const { index } = one;
    this.#put(one, other.index);
    this.#put(other, index);
  }

  #put(timer: QueuedTimer, index: number): void {
    this.#heap[index] = timer;
    timer.index = index;
  }
}

interface QueuedTimer {
  dueAt: number;
  readonly order: number;
  /** Index in the heap. */
  index: number;
  readonly fire: () => void;
}

function isBefore(one: QueuedTimer, other: QueuedTimer): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order);
}
