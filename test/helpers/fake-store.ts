import type { CacheStore } from '../../src/client/index.ts';
import { type CacheEntry, decodeEntry, encodeEntry } from '../../src/client/steps/cache.ts';

/** The fault of a store: it returns, throws or rejects with a value, or hangs. */
export type Misbehaviour =
  | { readonly gives: unknown }
  | { readonly throws: unknown }
  | { readonly rejects: unknown }
  | 'never';

/** A store in memory that records its calls and can simulate faults. */
export class FakeStore implements CacheStore {
  readonly entries = new Map<string, string>();
  readonly ttls: number[] = [];
  reads = 0;
  writes = 0;
  onGet: Misbehaviour | undefined;
  onSet: Misbehaviour | undefined;

  get(key: string): unknown {
    this.reads += 1;
    return this.onGet === undefined ? this.entries.get(key) : misbehave(this.onGet);
  }

  set(key: string, value: string, ttlMs: number): unknown {
    this.writes += 1;
    if (this.onSet !== undefined) return misbehave(this.onSet);
    this.ttls.push(ttlMs);
    return this.entries.set(key, value);
  }

  /** Replaces every entry by another response or text. */
  overwrite(change: (kept: CacheEntry, text: string) => CacheEntry | string): void {
    for (const [key, text] of this.entries) {
      const changed = change(decodeEntry(text) as CacheEntry, text); // the client wrote it
      this.entries.set(key, typeof changed === 'string' ? changed : encodeEntry(changed));
    }
  }
}

function misbehave(how: Misbehaviour): unknown {
  if (how === 'never') return new Promise(() => undefined);
  if ('throws' in how) throw how.throws;
  if ('rejects' in how) return Promise.reject(how.rejects);
  return how.gives;
}
