interface Event<Item> {
  readonly at: number;
  readonly order: number;
  readonly item: Item;
}

/** Items ordered by time, then by the order in which they were added. */
export class EventQueue<Item> {
  readonly #heap: Event<Item>[] = [];
  #order = 0;

  push(at: number, item: Item): void {
    const event = { at, order: this.#order++, item };
    let place = this.#heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || isBefore(above, event)) break;
      this.#heap[place] = above;
      place = parent;
    }
    this.#heap[place] = event;
  }

  pop(): { readonly at: number; readonly item: Item } | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first;
    this.#sink(last);
    return first;
  }

  #sink(event: Event<Item>): void {
    let place = 0;
    for (;;) {
      const left = this.#heap[2 * place + 1];
      const right = this.#heap[2 * place + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (isBefore(event, child)) break;
      this.#heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#heap[place] = event;
  }
}

function isBefore<Item>(a: Event<Item>, b: Event<Item>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
