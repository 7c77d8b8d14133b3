import { pause } from '../clock/event-loop.ts';
import { MockServerError } from '../mock-server-error.ts';
import { closestLines, whatCame } from './expect-requests.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { checkedFilter, createMatcher, type RequestFilter } from './request-filter.ts';

/** Every request, each with the reason for its answer, as users see it. */
export interface MockJournal {
  /** The newest requests, oldest first. Throws for a field of the filter that is none. */
  list(filter?: RequestFilter): readonly JournalEntry[];
  /** How many older ones are forgotten; `journalSize` says how many are kept. */
  readonly dropped: number;
  /** Resolves with the matching requests as soon as there are enough; rejects with code `wait_timeout`. */
  waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<readonly JournalEntry[]>;
  /** Calls `listener` for every request from now on, also after `clear()`; returns a function that ends that. */
  subscribe(listener: (entry: JournalEntry) => void, options?: SubscribeOptions): () => void;
  /** Begins anew, with number 1. */
  clear(): void;
}

export function createMockJournal(journal: Journal): MockJournal {
  return {
    list: (filter) =>
      filter === undefined ? journal.entries : journal.entries.filter(createMatcher(checkedFilter(filter))),
    get dropped() {
      return journal.dropped;
    },
    waitFor: (filter = {}, options = {}) => waitForRequests(journal, { filter, ...options }),
    subscribe: (listener, options = {}) => journal.subscribe(listener, { spaces: options.spaces ?? false }),
    clear: () => journal.clear(),
  };
}

export interface SubscribeOptions {
  /** Also the requests of spaces, whose entries name theirs. Default: false. */
  readonly spaces?: boolean | undefined;
}

export interface WaitOptions {
  /** How many requests must be there, those already in the journal included. Default: 1. */
  readonly count?: number | undefined;
  /** Real time, whatever clock the mock has. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
}

interface JournalWait extends WaitOptions {
  readonly filter: RequestFilter;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the matching entries as soon as there are `count`; rejects with code `wait_timeout`. */
export async function waitForRequests(
  journal: Journal,
  { filter: given, count = 1, timeoutMs = 10_000, signal }: JournalWait,
): Promise<readonly JournalEntry[]> {
  const filter = checkedFilter(given);
  const matches = createMatcher(filter);
  const found = journal.entries.filter(matches);
  const enough = new AbortController();
  const stop = journal.subscribe((entry) => {
    if (matches(entry)) found.push(entry);
    if (found.length >= count) enough.abort();
  });
  const ends = AbortSignal.any([enough.signal, ...(signal === undefined ? [] : [signal])]);
  // The caller waits in real time, perhaps in another process. Not AbortSignal.timeout: that lets the process end.
  if (found.length < count) await pause(timeoutMs, ends);
  stop();
  if (found.length >= count) return found;
  const came = { all: journal.entries };
  throw new MockServerError(
    `${found.length} of ${count} requests came within ${timeoutMs} ms. ${closestLines(came, filter)}${whatCame(came)}`,
    { code: 'wait_timeout', status: 408 },
  );
}
