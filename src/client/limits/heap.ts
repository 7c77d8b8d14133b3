/** A binary heap whose entries can be removed from the middle: push, pop and remove take O(log n), peek O(1). */
export class Heap<Entry> {
  readonly #entries: Entry[] = [];
  readonly #places = new Map<Entry, number>();
  readonly #isBefore: (a: Entry, b: Entry) => boolean;

  constructor(isBefore: (a: Entry, b: Entry) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): Entry | undefined {
    return this.#entries[0];
  }

  push(entry: Entry): void {
    this.#put(entry, this.#entries.length);
    this.#rise(entry);
  }

  pop(): Entry | undefined {
    const first = this.#entries[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Returns whether the entry was there. */
  remove(entry: Entry): boolean {
    const place = this.#places.get(entry);
    if (place === undefined) return false;
    this.#places.delete(entry);
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return true;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
    return true;
  }

  #put(entry: Entry, place: number): void {
    this.#entries[place] = entry;
    this.#places.set(entry, place);
  }

  #rise(entry: Entry): void {
    let place = this.#places.get(entry) ?? 0;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#entries[parentPlace];
      if (parent === undefined || !this.#isBefore(entry, parent)) return;
      this.#put(parent, place);
      this.#put(entry, parentPlace);
      place = parentPlace;
    }
  }

  #sink(entry: Entry): void {
    let place = this.#places.get(entry) ?? 0;
    for (;;) {
      const child = this.#firstChild(place);
      if (child === undefined || !this.#isBefore(child.entry, entry)) return;
      this.#put(child.entry, place);
      this.#put(entry, child.place);
      place = child.place;
    }
  }

  #firstChild(place: number): { entry: Entry; place: number } | undefined {
    const leftPlace = 2 * place + 1;
    const left = this.#entries[leftPlace];
    const right = this.#entries[leftPlace + 1];
    if (left === undefined) return undefined;
    if (right === undefined || this.#isBefore(left, right)) return { entry: left, place: leftPlace };
    return { entry: right, place: leftPlace + 1 };
  }
}
