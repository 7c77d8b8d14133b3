import { Heap, type Seat } from './heap.ts';

/** A call that waits. Tickets are handed out in order; a refused call comes back with its old one, to the head. */
export interface Waiter {
  readonly ticket: number;
  readonly isHigh: boolean;
  /** Leaves as soon as there is no free slot. */
  readonly isImpatient: boolean;
  /** Infinity for none. Asked again when it has come, since a shared call's deadline can grow. */
  readonly deadlineAt: () => number;
}

interface Deadline<Entry> {
  readonly waiter: Entry;
  readonly at: number;
}

interface Seats<Entry> {
  readonly order: Seat<Entry>;
  /** `undefined` for a waiter without a deadline. */
  readonly deadline: Seat<Deadline<Entry>> | undefined;
}

/** The waiting calls: two priorities, first come first served in each, and the earliest deadline always at hand. */
export class WaitingLine<Entry extends Waiter> {
  readonly #order = new Heap<Entry>((a, b) => (a.isHigh === b.isHigh ? a.ticket < b.ticket : a.isHigh));
  readonly #deadlines = new Heap<Deadline<Entry>>((a, b) => a.at < b.at);
  readonly #seatsOf = new Map<Entry, Seats<Entry>>();
  readonly #impatient = new Set<Entry>();
  #high = 0;

  get size(): number {
    return this.#order.size;
  }

  get high(): number {
    return this.#high;
  }

  get low(): number {
    return this.size - this.#high;
  }

  /** Milliseconds of the earliest deadline; Infinity if nobody has one. */
  get earliestDeadline(): number {
    return this.#deadlines.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  join(waiter: Entry): void {
    this.#seatsOf.set(waiter, { order: this.#order.push(waiter), deadline: this.#seatAtDeadline(waiter) });
    this.#high += waiter.isHigh ? 1 : 0;
    if (waiter.isImpatient) this.#impatient.add(waiter);
  }

  /** Takes a waiter out, wherever it stands. O(log n). Returns whether it stood there. */
  leave(waiter: Entry): boolean {
    const seats = this.#seatsOf.get(waiter);
    if (seats === undefined) return false;
    this.#seatsOf.delete(waiter);
    this.#order.remove(seats.order);
    if (seats.deadline) this.#deadlines.remove(seats.deadline);
    this.#high -= waiter.isHigh ? 1 : 0;
    this.#impatient.delete(waiter);
    return true;
  }

  next(): Entry | undefined {
    const waiter = this.#order.peek();
    if (waiter) this.leave(waiter);
    return waiter;
  }

  /** Takes out one impatient waiter; `undefined` when there is none left. */
  nextImpatient(): Entry | undefined {
    const [waiter] = this.#impatient;
    if (waiter) this.leave(waiter);
    return waiter;
  }

  /** Takes out one waiter whose deadline is before `time`; `undefined` when there is none left. */
  nextDueBefore(time: number): Entry | undefined {
    for (let due = this.#deadlines.peek(); due && due.at < time; due = this.#deadlines.peek()) {
      const { waiter } = due;
      this.leave(waiter);
      if (waiter.deadlineAt() < time) return waiter;
      this.join(waiter); // its deadline has grown
    }
    return undefined;
  }

  #seatAtDeadline(waiter: Entry): Seat<Deadline<Entry>> | undefined {
    const at = waiter.deadlineAt();
    return at === Number.POSITIVE_INFINITY ? undefined : this.#deadlines.push({ waiter, at });
  }
}
