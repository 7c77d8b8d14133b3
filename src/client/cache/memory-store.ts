import type { CacheStore } from './cache-store.ts';

/** An answer of 170 rates is about 2.5 kB, so this is a few megabytes. */
const MAX_ENTRIES = 1000;

/** The default store: the newest answers of this process. */
export class MemoryStore implements CacheStore {
  readonly #entries = new Map<string, string>();

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: string): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= MAX_ENTRIES) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
