import type { SwitchName } from '../behaviour/switches.ts';
import type { RecordedRequest } from '../http/record-request.ts';
import type { RateUse } from '../service/decide.ts';
import type { QuotaUse } from '../service/quota.ts';

/** One request as the mock saw it, and why it answered as it did. Never holds a key. */
export interface JournalEntry extends RecordedRequest {
  /** Counts up from 1. */
  readonly number: number;
  /** The space whose request it is; `undefined` for one of the mock itself. Each space counts by itself. */
  readonly space: string | undefined;
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

/** An entry whose number and space the journal sets when it is added; until then they are 0 and `undefined`. */
export interface NewJournalEntry extends Omit<JournalEntry, 'number' | 'space'> {
  number: number;
  space: string | undefined;
}

/** The entry of an answer that the limits had no part in. */
export function newJournalEntry(
  known: Pick<JournalEntry, 'at' | 'method' | 'path' | 'status'> & Partial<NewJournalEntry>,
): NewJournalEntry {
  return { ...NOTHING_KNOWN, ...known };
}

const NOTHING_KNOWN = {
  number: 0,
  space: undefined,
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

/** Which space a journal belongs to, and the journal of its mock. */
export interface JournalOfSpace {
  readonly name: string;
  readonly mock: Journal;
}

/** The newest requests; older ones are forgotten, so that a long run needs no more memory than a short one. */
export class Journal {
  readonly #size: number;
  readonly #space: JournalOfSpace | undefined;
  /** A ring: entry number n is at (n - 1) % size. */
  #ring: JournalEntry[] = [];
  #last = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();
  readonly #spaceListeners = new Set<(entry: JournalEntry) => void>();

  constructor(size: number, space?: JournalOfSpace) {
    this.#size = size;
    this.#space = space;
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

  /** Sets the fields of the entry itself, which is the journal's from then on: a copy takes ten times as long. */
  add(entry: NewJournalEntry): void {
    entry.number = this.#last + 1;
    entry.space = this.#space?.name;
    if (this.#size > 0) this.#ring[this.#last % this.#size] = entry;
    this.#last += 1;
    for (const listener of this.#listeners) listener(entry);
    this.#space?.mock.tellOfSpace(entry);
  }

  /** Tells those who also listen to spaces of an entry in the journal of one. */
  tellOfSpace(entry: JournalEntry): void {
    for (const listener of this.#spaceListeners) listener(entry);
  }

  /** Tells of every entry from now on, with `spaces` also of those in the spaces; gives a function that ends it. */
  subscribe(listener: (entry: JournalEntry) => void, { spaces = false } = {}): () => void {
    this.#listeners.add(listener);
    if (spaces) this.#spaceListeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#spaceListeners.delete(listener);
    };
  }

  clear(): void {
    this.#ring = [];
    this.#last = 0;
  }
}
