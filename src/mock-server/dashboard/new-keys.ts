import { type CreatedKey, hashOf } from '../service/keys.ts';
import type { KeyRecord } from '../service/service-state.ts';

/** Keys that were made and not shown yet: between the form and the page after it, and nowhere else. */
export class NewKeys {
  readonly #secrets = new Map<string, string>();

  add({ id, key }: CreatedKey): void {
    this.#secrets.set(id, key);
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > MOST && oldest !== undefined) this.#secrets.delete(oldest);
  }

  /** The whole key, the first time it is asked for. */
  take({ id, hash }: KeyRecord): string | undefined {
    const secret = this.#secrets.get(id);
    this.#secrets.delete(id);
    // After a reset the id belongs to another key.
    return secret !== undefined && hashOf(secret) === hash ? secret : undefined;
  }
}

/** A browser shows a key at once; more than these belong to visitors who left. */
const MOST = 100;
