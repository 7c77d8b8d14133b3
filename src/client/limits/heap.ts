/** An entry in a heap, and where it stands; -1 when it has left. */
export interface Seat<Entry> {
  readonly entry: Entry;
  place: number;
}

/**
 * A binary heap whose entries can be removed from the middle: push, pop and remove take O(log n), peek O(1). The places
 * stand in the seats and not in a Map, where every timeout of every call would come and go: V8 keeps what a Map has
 * outgrown until the next full collection, with all that stood there.
 */
export class Heap<Entry> {
  readonly #seats: Seat<Entry>[] = [];
  readonly #isBefore: (a: Entry, b: Entry) => boolean;

  constructor(isBefore: (a: Entry, b: Entry) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#seats.length;
  }

  peek(): Entry | undefined {
    return this.#seats[0]?.entry;
  }

  /** Returns what `remove` wants. */
  push(entry: Entry): Seat<Entry> {
    const seat = { entry, place: this.#seats.length };
    this.#seats.push(seat);
    this.#rise(seat);
    return seat;
  }

  pop(): Entry | undefined {
    const first = this.#seats[0];
    if (first !== undefined) this.remove(first);
    return first?.entry;
  }

  /** Returns whether the entry was still there. */
  remove(seat: Seat<Entry>): boolean {
    const { place } = seat;
    if (place < 0) return false;
    seat.place = -1;
    const last = this.#seats.pop();
    if (last === undefined || last === seat) return true;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
    return true;
  }

  #put(seat: Seat<Entry>, place: number): void {
    this.#seats[place] = seat;
    seat.place = place;
  }

  #rise(seat: Seat<Entry>): void {
    while (seat.place > 0) {
      const { place } = seat;
      const parent = this.#seats[(place - 1) >> 1];
      if (parent === undefined || !this.#isBefore(seat.entry, parent.entry)) return;
      this.#put(seat, parent.place);
      this.#put(parent, place);
    }
  }

  #sink(seat: Seat<Entry>): void {
    for (;;) {
      const { place } = seat;
      const child = this.#firstChild(place);
      if (child === undefined || !this.#isBefore(child.entry, seat.entry)) return;
      this.#put(seat, child.place);
      this.#put(child, place);
    }
  }

  #firstChild(place: number): Seat<Entry> | undefined {
    const left = this.#seats[2 * place + 1];
    const right = this.#seats[2 * place + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(left.entry, right.entry) ? left : right;
  }
}
