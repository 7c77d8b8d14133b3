import type { Journal } from './journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import { createMatcher, type RequestFilter } from './request-filter.ts';
import { type WaitOptions, waitForRequests } from './wait-for-requests.ts';

/** Every request, each with the reason for its answer, as users see it. */
export interface MockJournal {
  /** The newest requests, oldest first. Throws for a field of the filter that is none. */
  list(filter?: RequestFilter): readonly JournalEntry[];
  /** How many older ones are forgotten; `journalSize` says how many are kept. */
  readonly dropped: number;
  /** Resolves with the matching requests as soon as there are enough; rejects with code `wait_timeout`. */
  waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<readonly JournalEntry[]>;
  /** Begins anew, with number 1. */
  clear(): void;
}

export function createMockJournal(journal: Journal): MockJournal {
  return {
    list: (filter) => (filter === undefined ? journal.entries : journal.entries.filter(createMatcher(filter))),
    get dropped() {
      return journal.dropped;
    },
    waitFor: (filter = {}, options = {}) => waitForRequests(journal, { filter, ...options }),
    clear: () => journal.clear(),
  };
}
