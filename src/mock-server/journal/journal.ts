import type { JournalDraft, JournalEntry } from './journal-entry.ts';

/** The newest requests; older ones are forgotten, so that a long run needs no more memory than a short one. */
export class Journal {
  readonly #size: number;
  #entries: JournalEntry[] = [];
  #last = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#size === 0 ? [] : this.#entries.slice(-this.#size);
  }

  /** How many older ones are forgotten. */
  get dropped(): number {
    return Math.max(0, this.#last - this.#size);
  }

  add(draft: JournalDraft): void {
    this.#last += 1;
    const entry = { number: this.#last, ...draft };
    this.#entries.push(entry);
    // Cut now and then, not each time: one copy per `size` requests.
    if (this.#entries.length > 2 * this.#size) this.#entries = this.entries.slice();
    for (const listener of this.#listeners) listener(entry);
  }

  /** Tells of every entry from now on; gives a function that ends it. */
  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.#entries = [];
    this.#last = 0;
  }
}
