/** Whoever waits for a time, earliest first: a binary heap in which each entry knows its place, to leave early. */
export class Sleepers {
  readonly #heap: Sleeper[] = [];
  #arrivals = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the earliest wakes; infinity when nobody sleeps. */
  get nextDueAt(): number {
    return this.#heap[0]?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves at `dueAt`; rejects with the signal's reason when that aborts first. */
  add(dueAt: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#remove(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      this.#arrivals += 1;
      const sleeper: Sleeper = { dueAt, arrival: this.#arrivals, place: this.#heap.length, wake };
      signal?.addEventListener('abort', abort, { once: true });
      this.#heap.push(sleeper);
      this.#rise(sleeper);
    });
  }

  /** Wakes everybody due at `now`, in order of time and then of arrival; says how many that were. */
  wakeDue(now: number): number {
    let woken = 0;
    for (let first = this.#heap[0]; first !== undefined && first.dueAt <= now; first = this.#heap[0]) {
      this.#remove(first);
      first.wake();
      woken += 1;
    }
    return woken;
  }

  /** Moves every wait, as when the clock is set; the order stays as it is. */
  shift(byMs: number): void {
    for (const sleeper of this.#heap) sleeper.dueAt += byMs;
  }

  #remove(sleeper: Sleeper): void {
    const last = this.#heap.pop();
    if (last === undefined || last === sleeper) return;
    this.#put(last, sleeper.place);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(sleeper: Sleeper): void {
    while (sleeper.place > 0) {
      const parent = this.#heap[(sleeper.place - 1) >> 1];
      if (parent === undefined || !isBefore(sleeper, parent)) return;
      this.#swap(sleeper, parent);
    }
  }

  #sink(sleeper: Sleeper): void {
    for (;;) {
      const child = this.#earlierChild(sleeper);
      if (child === undefined || !isBefore(child, sleeper)) return;
      this.#swap(child, sleeper);
    }
  }

  #earlierChild({ place }: Sleeper): Sleeper | undefined {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #swap(one: Sleeper, other: Sleeper): void {
    const { place } = one;
    this.#put(one, other.place);
    this.#put(other, place);
  }

  #put(sleeper: Sleeper, place: number): void {
    this.#heap[place] = sleeper;
    sleeper.place = place;
  }
}

interface Sleeper {
  dueAt: number;
  readonly arrival: number;
  /** Index in the heap. */
  place: number;
  readonly wake: () => void;
}

function isBefore(one: Sleeper, other: Sleeper): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.arrival < other.arrival);
}
