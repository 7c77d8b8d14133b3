import type { SwitchName } from '../behaviour/switches.ts';
import type { RecordedRequest } from '../http/record-request.ts';
import type { RateUse } from '../service/decide.ts';
import type { QuotaUse } from '../service/quota.ts';

/** One request as the mock saw it, and why it answered as it did. Never holds a key. */
export interface JournalEntry extends RecordedRequest {
  /** Counts up from 1. */
  readonly number: number;
  /** Milliseconds since the Unix epoch, by the mock's clock. */
  readonly at: number;
  /** Id of the operation that the path leads to; `undefined` for a path without one. */
  readonly operation: string | undefined;
  /** Whether nothing is at that path, not even a handler of `mock.use()`; `why` then names the nearest that is. */
  readonly isUnknownRoute: boolean;
  readonly keyId: string | undefined;
  readonly keyTransport: 'bearer' | 'header' | 'query' | undefined;
  /** What the client got; 0 when the connection was broken off without an answer. */
  readonly status: number;
  /** `error.code` of the answer; `undefined` for a success. */
  readonly code: string | undefined;
  readonly why: string;
  /** The limits the decision was made on; `undefined` when it did not come to them. */
  readonly rate: RateUse | undefined;
  readonly quota: QuotaUse | undefined;
  /**
   * How much of the last Retry-After was left when the request came: it did not obey. Not told, in process, of requests
   * that were on their way before the client had that answer.
   */
  readonly earlyByMs: number | undefined;
  /** The switches the answer depends on. */
  readonly switches: readonly SwitchName[];
  /** Ids of the faults that struck the request, in that order. */
  readonly faults: readonly string[];
  /** Id of the stub that answered; `undefined` for none. */
  readonly stub: string | undefined;
}

/** What there is to say of a request before the journal gives it a number: until then that is 0. */
export type NewJournalEntry = Omit<JournalEntry, 'number'> & { number: number };

/** The entry of an answer that the limits had no part in. */
export function newJournalEntry(
  known: Pick<JournalEntry, 'at' | 'method' | 'path' | 'status'> & Partial<NewJournalEntry>,
) {
  return { ...NOTHING_KNOWN, ...known };
}

const NOTHING_KNOWN = {
  number: 0,
  query: {},
  headers: {},
  body: undefined,
  operation: undefined,
  isUnknownRoute: false,
  keyId: undefined,
  keyTransport: undefined,
  hasKeyInUrl: false,
  code: undefined,
  why: '',
  rate: undefined,
  quota: undefined,
  earlyByMs: undefined,
  switches: [],
  faults: [],
  stub: undefined,
} satisfies Partial<NewJournalEntry>;

/** The newest requests; older ones are forgotten, so that a long run needs no more memory than a short one. */
export class Journal {
  readonly #size: number;
  /** A ring: entry number n is at (n - 1) % size. */
  #ring: JournalEntry[] = [];
  #last = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    if (this.#size === 0 || this.#last <= this.#size) return this.#ring.slice();
    const oldest = this.#last % this.#size;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  /** How many older ones are forgotten. */
  get dropped(): number {
    return Math.max(0, this.#last - this.#size);
  }

  /** Numbers the entry, which is the journal's from then on. */
  add(entry: NewJournalEntry): void {
    entry.number = this.#last + 1;
    if (this.#size > 0) this.#ring[this.#last % this.#size] = entry;
    this.#last += 1;
    for (const listener of this.#listeners) listener(entry);
  }

  /** Tells of every entry from now on; gives a function that ends it. */
  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.#ring = [];
    this.#last = 0;
  }
}
