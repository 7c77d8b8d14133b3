import { pause } from '../clock/event-loop.ts';
import { checkOptionNames, invalidOption, MockServerError } from '../mock-server-error.ts';
import { closestLines, receivedText } from './expect-requests.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { checkedFilter, createMatcher, type RequestFilter } from './request-filter.ts';

/** The requests that the mock received, each with the reason for its response. */
export interface MockJournal {
  /**
   * Returns the requests in the journal that match, oldest first; by default all.
   * @throws MockServerError with code `invalid_option`, for an unknown field of the filter.
   * @example mock.journal.list({ operation: 'latest', status: 429 })
   */
  list(filter?: RequestFilter): readonly JournalEntry[];
  /** Number of older requests that were dropped. The option `journalSize` sets how many are kept. */
  readonly dropped: number;
  /**
   * Waits until enough requests match, and resolves to the matching requests.
   * @throws MockServerError with code `wait_timeout`, after `timeoutMs`; `mock_closed`, when the mock or the space is closed;
   * `invalid_option`, for an invalid filter or option.
   * @example await mock.journal.waitFor({ operation: 'latest' }, { count: 2, timeoutMs: 5_000 })
   */
  waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<readonly JournalEntry[]>;
  /**
   * Calls `listener` for each new request when it arrives, before a delay of its response, also after `clear()`. Returns a
   * function that cancels the subscription. If the listener throws, the mock emits a process warning.
   */
  subscribe(listener: (entry: JournalEntry) => void, options?: SubscribeOptions): () => void;
  /** Empties the journal. The next request gets number 1. */
  clear(): void;
}

export function createMockJournal(journal: Journal): MockJournal {
  return {
    list: (filter) =>
      filter === undefined ? journal.entries : journal.entries.filter(createMatcher(checkedFilter(filter, journal))),
    get dropped() {
      return journal.dropped;
    },
    async waitFor(filter = {}, options = {}) {
      checkOptionNames(options, { what: 'an option of waitFor()', known: ['count', 'timeoutMs'] });
      checkWait(options);
      return await waitForRequests(journal, { filter, ...options });
    },
    subscribe: (listener, options = {}) => journal.subscribe(listener, { spaces: options.spaces ?? false }),
    clear: () => journal.clear(),
  };
}

function checkWait({ count = 1, timeoutMs = 0 }: WaitOptions): void {
  if (!Number.isSafeInteger(count) || count < 1) throw invalidOption('count', count, 'a whole number from 1');
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 0) return;
  throw invalidOption('timeoutMs', timeoutMs, 'whole milliseconds from 0');
}

/** Options of `mock.journal.subscribe()`. */
export interface SubscribeOptions {
  /**
   * Whether to include the requests of spaces. Their entries name the space.
   * @default false
   */
  readonly spaces?: boolean | undefined;
}

/** Options of `mock.journal.waitFor()`. */
export interface WaitOptions {
  /**
   * Number of requests to wait for, including those already in the journal.
   * @default 1
   */
  readonly count?: number | undefined;
  /**
   * Longest wait in milliseconds, in real time, also under a virtual clock.
   * @default 10_000
   */
  readonly timeoutMs?: number | undefined;
}

interface JournalWait extends WaitOptions {
  readonly filter: RequestFilter;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the matching entries as soon as there are `count`; rejects with code `wait_timeout` or `mock_closed`. */
export async function waitForRequests(
  journal: Journal,
  { filter: given, count = 1, timeoutMs = 10_000, signal }: JournalWait,
): Promise<readonly JournalEntry[]> {
  const filter = checkedFilter(given, journal);
  const matches = createMatcher(filter);
  const found = journal.entries.filter(matches);
  const end = new AbortController();
  const listener = (entry: JournalEntry) => {
    if (matches(entry)) found.push(entry);
    if (found.length >= count) end.abort();
  };
  const stop = journal.subscribe(listener, { onClose: () => end.abort(CLOSED) });
  const ends = AbortSignal.any([end.signal, ...(signal === undefined ? [] : [signal])]);
  // The caller waits in real time, perhaps in another process. Not AbortSignal.timeout: that lets the process end.
  if (found.length < count) await pause(timeoutMs, ends);
  stop();
  if (found.length >= count) return found;
  const isClosed = end.signal.reason === CLOSED;
  const problem = isClosed ? 'before the mock or the space was closed' : `within ${timeoutMs} ms`;
  const journalEntries = { all: journal.entries, patternOf: journal.patternOf };
  throw new MockServerError(
    `${found.length} of ${count} requests arrived ${problem}. ${closestLines(journalEntries, filter)}${receivedText(journalEntries)}`,
    isClosed ? { code: 'mock_closed', status: 410 } : { code: 'wait_timeout', status: 408 },
  );
}

const CLOSED = Symbol('the mock or the space was closed');

/** Requests in the journal that a well-behaved client does not send. */
export interface Audit {
  /** Number of requests in the journal. */
  readonly requests: number;
  /** Number of older requests that the journal has dropped. The audit does not cover them. */
  readonly dropped: number;
  /**
   * Requests that arrived before the last Retry-After had passed; `earlyByMs` is by how much. Over sockets, the mock does
   * not know when a request was sent: requests of a burst, sent before the refusal arrived, are included.
   */
  readonly earlyRetries: readonly JournalEntry[];
  /** Requests with an API key in the URL, where logs show it. */
  readonly keysInUrls: readonly JournalEntry[];
  /** Requests for unknown paths; `why` names the nearest path that exists. */
  readonly unknownRoutes: readonly JournalEntry[];
}

export function auditOf({ entries, dropped }: Pick<Journal, 'entries' | 'dropped'>): Audit {
  return {
    requests: entries.length,
    dropped,
    earlyRetries: entries.filter(({ earlyByMs }) => earlyByMs !== undefined),
    keysInUrls: entries.filter(({ hasKeyInUrl }) => hasKeyInUrl),
    unknownRoutes: entries.filter(({ isUnknownRoute }) => isUnknownRoute),
  };
}
