import type { CancelSignal } from '../cancellation.ts';
import type { ClientEvents } from '../events.ts';
import type { KeySource } from '../keys/key-source.ts';
import type { ApiResponse, Endpoint } from '../request.ts';
import type { Timers } from '../timers.ts';
import { type CacheEntry, decodeEntry, encodeEntry } from './cache-entry.ts';
import type { CacheStore } from './cache-store.ts';

/** A store that takes longer than this is passed by: the service itself is not much slower. */
const STORE_PATIENCE_MS = 500;
/** Enough of a SHA-256 to tell the keys of one store apart. */
const HASH_LENGTH = 16;

interface ShelfParts {
  readonly store: CacheStore;
  readonly baseUrl: string;
  readonly keys: KeySource;
  readonly timers: Timers;
  readonly events: ClientEvents;
  readonly now: () => number;
}

/** The client's part of a store: its entries by name. A store that fails or hangs never fails or holds up a call. */
export class Shelf {
  readonly #parts: ShelfParts;

  constructor(parts: ShelfParts) {
    this.#parts = parts;
  }

  /** Answers belong to the key that got them: plans may differ in what they are shown. */
  async nameOf({ target }: Endpoint, signal: CancelSignal): Promise<string> {
    const { baseUrl, keys } = this.#parts;
    const { hash } = await keys.current(signal);
    return `fxrates:${baseUrl}:${hash.slice(0, HASH_LENGTH)}:${target}`;
  }

  /** `undefined` for what is not there, cannot be read, or takes too long. */
  async read(name: string): Promise<CacheEntry | undefined> {
    const { store } = this.#parts;
    return decodeEntry(await this.#patiently('read', async () => store.get(name)));
  }

  /** Does not wait for the store. */
  write(name: string, { status, headers, rawBody }: ApiResponse, ttlMs: number): void {
    const { store, now } = this.#parts;
    const entry = encodeEntry({ storedAtMs: now(), status, headers: [...headers.toHeaders()], rawBody });
    void this.#patiently('write', async () => store.set(name, entry, ttlMs));
  }

  #patiently(task: 'read' | 'write', work: () => Promise<unknown>): Promise<unknown> {
    const { timers, events } = this.#parts;
    return new Promise((resolve) => {
      const giveUp = (why: string) => {
        events.warnOnce(`cache: the store cannot be used for a ${task} (${why}); calls go to the service`);
        resolve(undefined);
      };
      const cancel = timers.after(STORE_PATIENCE_MS, () => giveUp(`no answer within ${STORE_PATIENCE_MS} ms`));
      work()
        .finally(cancel)
        .then(resolve, (error: unknown) => giveUp(error instanceof Error ? error.message : String(error)));
    });
  }
}
