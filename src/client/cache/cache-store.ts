/** A store of cached responses: a Keyv instance, or any object with these methods. */
export interface CacheStore {
  /** Returns the value of `key`; `undefined` if there is none. */
  get(key: string): unknown | Promise<unknown>;
  /** Stores `value`. The store may delete it after `ttlMs` milliseconds. */
  set(key: string, value: string, ttlMs: number): unknown | Promise<unknown>;
}

/** Characters of names and answers together: some thousand answers of 170 rates, or one of the longest body allowed. */
const DEFAULT_CAPACITY = 16_000_000;

/** The default store: answers in the memory of this process; for a new one, those go that were not read the longest. */
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
