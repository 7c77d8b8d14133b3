import type { CacheStore } from '../options.ts';

/** In characters: about a thousand responses of 170 rates, or one response of the maximum length. */
const DEFAULT_CAPACITY = 16_000_000;

/** The default store: responses in memory. It evicts the least recently used response. */
export class MemoryStore implements CacheStore {
  readonly #capacity: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, string>();
  #size = 0;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get(key: string): string | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: string): void {
    this.#drop(key);
    this.#entries.set(key, value);
    this.#size += key.length + value.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#capacity) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#size -= key.length + value.length;
  }
}
