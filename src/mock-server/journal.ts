import type { SwitchName } from './behaviour/switches.ts';
import type { RateUse } from './service/decide.ts';
import type { QuotaUse } from './service/quota-use.ts';

/** One request as the mock saw it, and why it answered as it did. Never holds a key. */
export interface JournalEntry {
  /** Counts up from 1. */
  readonly number: number;
  /** Milliseconds since the Unix epoch, by the mock's clock. */
  readonly at: number;
  readonly method: string;
  /** Without the query, which may hold a key; a key in the path is cut short. */
  readonly path: string;
  readonly keyId: string | undefined;
  readonly keyTransport: 'bearer' | 'header' | 'query' | undefined;
  /** 0 when the connection was broken off without an answer. */
  readonly status: number;
  /** `error.code` of the answer; `undefined` for a success. */
  readonly code: string | undefined;
  readonly why: string;
  /** The limits the decision was made on; `undefined` when it did not come to them. */
  readonly rate: RateUse | undefined;
  readonly quota: QuotaUse | undefined;
  /** How much of the last Retry-After was left when the request came: it did not obey. */
  readonly earlyByMs: number | undefined;
  /** The switches the answer depends on. */
  readonly switches: readonly SwitchName[];
}

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

  /** The number of the next entry. */
  get nextNumber(): number {
    return this.#last + 1;
  }

  add(entry: JournalEntry): void {
    this.#last = entry.number;
    this.#entries.push(entry);
    // Cut now and then, not each time: one copy per `size` requests.
    if (this.#entries.length > 2 * this.#size) this.#entries = this.entries.slice();
    for (const listener of this.#listeners) listener(entry);
  }

  /** Adds an answer that the limits had no part in. */
  note(answer: Pick<JournalEntry, 'at' | 'method' | 'path' | 'status' | 'code' | 'why'>): void {
    this.add({ ...NOTHING_KNOWN, ...answer, number: this.nextNumber });
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

const NOTHING_KNOWN = {
  keyId: undefined,
  keyTransport: undefined,
  rate: undefined,
  quota: undefined,
  earlyByMs: undefined,
  switches: [],
};
