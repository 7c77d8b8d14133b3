/** An entry of a heap and its index; -1 after its removal. */
export interface HeapNode<Entry> {
  readonly entry: Entry;
  index: number;
}

/**
 * A binary heap whose entries can be removed from the middle: push, pop and remove take O(log n), peek O(1). The index is
 * a field of the node and not in a Map, because V8 retains replaced tables of a Map, with their contents, until a full
 * garbage collection.
 */
export class Heap<Entry> {
  readonly #nodes: HeapNode<Entry>[] = [];
  readonly #isBefore: (a: Entry, b: Entry) => boolean;

  constructor(isBefore: (a: Entry, b: Entry) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#nodes.length;
  }

  peek(): Entry | undefined {
    return this.#nodes[0]?.entry;
  }

  /** All entries, in no particular order. A change of them must keep their order. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const { entry } of this.#nodes) yield entry;
  }

  /** Returns the node that `remove` takes. */
  push(entry: Entry): HeapNode<Entry> {
    const node = { entry, index: this.#nodes.length };
    this.#nodes.push(node);
    this.#rise(node);
    return node;
  }

  pop(): Entry | undefined {
    const first = this.#nodes[0];
    if (first !== undefined) this.remove(first);
    return first?.entry;
  }

  /** Returns whether the entry was still there. */
  remove(node: HeapNode<unknown>): boolean {
    const { index } = node;
    if (index < 0) return false;
    node.index = -1;
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return true;
    this.#put(last, index);
    this.#rise(last);
    this.#sink(last);
    return true;
  }

  #put(node: HeapNode<Entry>, index: number): void {
    this.#nodes[index] = node;
    node.index = index;
  }

  #rise(node: HeapNode<Entry>): void {
    while (node.index > 0) {
      const { index } = node;
      const parent = this.#nodes[(index - 1) >> 1];
      if (parent === undefined || !this.#isBefore(node.entry, parent.entry)) return;
      this.#put(node, parent.index);
      this.#put(parent, index);
    }
  }

  #sink(node: HeapNode<Entry>): void {
    for (;;) {
      const { index } = node;
      const child = this.#firstChild(index);
      if (child === undefined || !this.#isBefore(child.entry, node.entry)) return;
      this.#put(node, child.index);
      this.#put(child, index);
    }
  }

  #firstChild(index: number): HeapNode<Entry> | undefined {
    const left = this.#nodes[2 * index + 1];
    const right = this.#nodes[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(left.entry, right.entry) ? left : right;
  }
}
