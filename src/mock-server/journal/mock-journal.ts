import * as z from 'zod';
import { pause } from '../clock/event-loop.ts';
import { checkedInput, expected, wholeFrom } from '../matching/checked-input.ts';
import { nearMisses } from '../matching/request-pattern.ts';
import { invalidOption, MockServerError, show } from '../mock-server-error.ts';
import { type Journal, type JournalEntry, keyText, type PatternOf, statusText, valuePairs } from './journal.ts';
import {
  checkedFilter,
  createMatcher,
  type FilterPlace,
  filterDifferences,
  type RequestFilter,
} from './request-filter.ts';

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
      const wait = checkedInput(waitOptions, options, { place: '', what: 'an option of waitFor()' });
      return await waitForRequests(journal, { filter, ...wait });
    },
    subscribe: (listener, options = {}) => journal.subscribe(listener, { spaces: options.spaces ?? false }),
    clear: () => journal.clear(),
  };
}

/** Options of `mock.journal.subscribe()`. */
export interface SubscribeOptions {
  /**
   * Whether to include the requests of spaces. Their entries name the space.
   * @default false
   */
  readonly spaces?: boolean | undefined;
}

export const waitOptions = z.strictObject({
  /**
   * Number of requests to wait for, including those already in the journal.
   * @default 1
   */
  count: wholeFrom(1).default(1).describe('Number of requests to wait for.'),
  /**
   * Longest wait in milliseconds, in real time, also under a virtual clock.
   * @default 10_000
   */
  timeoutMs: expected('whole milliseconds from 0', (error) => z.int(error).min(0, error)).default(10_000),
});

/** Options of `mock.journal.waitFor()`. */
export type WaitOptions = Readonly<z.input<typeof waitOptions>>;

interface JournalWait extends Readonly<z.output<typeof waitOptions>> {
  readonly filter: RequestFilter;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the matching entries as soon as there are `count`; rejects with code `wait_timeout` or `mock_closed`. */
export async function waitForRequests(
  journal: Journal,
  { filter: given, count, timeoutMs, signal }: JournalWait,
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

/**
 * Assertions about the requests that `mock.expectRequests(filter)` selects. If an assertion fails, it throws
 * `MockServerError` with code `unexpected_requests`. The message lists the closest requests, and the newest 20 requests in
 * the journal. If too many requests match, it lists the newest 20 of those.
 */
export interface RequestExpectation {
  /** Asserts that exactly `count` requests match. */
  toHaveCount(count: number): void;
  /** Asserts that at least `count` requests match. */
  atLeast(count: number): void;
  /** Asserts that at most `count` requests match. */
  atMost(count: number): void;
  /**
   * Asserts that at least one of the matching requests also matches `pattern`.
   * @example mock.expectRequests().toHaveBeenSentWith({ query: { base: 'EUR' } })
   */
  toHaveBeenSentWith(pattern: RequestFilter): void;
  /**
   * Asserts that the requests contain a match of each pattern, in this order. Other requests may come between them.
   * @example mock.expectRequests().inOrder({ operation: 'quota' }, { operation: 'latest' })
   */
  inOrder(...patterns: RequestFilter[]): void;
}

/** An expectation as JSON. All fields that are set must hold. */
export interface Claim {
  readonly count?: number | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  readonly sentWith?: RequestFilter | undefined;
  readonly inOrder?: readonly RequestFilter[] | undefined;
}

/** Creates the methods of an expectation. `check` checks a claim, in this process or in another. */
export function createExpectation<Result>(check: (claim: Claim) => Result) {
  return {
    toHaveCount: (count: number) => check({ count }),
    atLeast: (atLeast: number) => check({ atLeast }),
    atMost: (atMost: number) => check({ atMost }),
    toHaveBeenSentWith: (sentWith: RequestFilter) => check({ sentWith }),
    inOrder: (...inOrder: RequestFilter[]) => check({ inOrder }),
  };
}

/**
 * The claim with its patterns as JSON has them. Throws for an argument that is missing or invalid: an expectation
 * without it would always hold.
 */
export function checkedClaim(claim: Claim, keys: Omit<FilterPlace, 'place'> = {}): Claim {
  for (const name of ['count', 'atLeast', 'atMost'] as const) {
    const count = claim[name];
    if (name in claim && !(Number.isSafeInteger(count) && Number(count) >= 0)) {
      throw invalidOption(name, count, 'a whole number of requests from 0');
    }
  }
  const { sentWith, inOrder } = claim;
  if (inOrder?.length === 0) throw invalidOption('inOrder', inOrder, 'at least one pattern');
  return {
    ...claim,
    ...('sentWith' in claim && { sentWith: checkedFilter(sentWith, { ...keys, place: 'sentWith.' }) }),
    ...(inOrder && {
      inOrder: inOrder.map((pattern, index) => checkedFilter(pattern, { ...keys, place: `inOrder[${index}].` })),
    }),
  };
}

/** Throws if the requests that `filter` selects contradict the claim. Returns their number. */
export function verifyRequests(journal: Journal, filter: RequestFilter, claim: Claim): number {
  const { knowsKey, last } = journal;
  const keys = { knowsKey, last };
  const selection = select(journal, checkedFilter(filter, keys));
  const { matching } = selection;
  const { count, atLeast = count, atMost = count, sentWith, inOrder = [] } = checkedClaim(claim, keys);
  if (atLeast !== undefined && matching.length < atLeast) throw wrongCount(selection, claim);
  if (atMost !== undefined) refuseForgotten(selection);
  if (atMost !== undefined && matching.length > atMost) throw wrongCount(selection, claim);
  if (sentWith !== undefined) checkSentWith(selection, sentWith);
  checkOrder(selection, inOrder);
  return matching.length;
}

/** The requests of a journal that a filter selects. */
interface Selection {
  readonly filter: RequestFilter;
  readonly matching: readonly JournalEntry[];
  /** All entries, also those outside the filter, oldest first. */
  readonly all: readonly JournalEntry[];
  /** How many the journal has forgotten. */
  readonly dropped: number;
  readonly patternOf: PatternOf;
}

function select({ entries, dropped, patternOf }: Journal, filter: RequestFilter): Selection {
  return { filter, matching: entries.filter(createMatcher(filter)), all: entries, dropped, patternOf };
}

/** A journal that has dropped requests cannot prove a maximum. */
function refuseForgotten({ dropped, filter }: Selection): void {
  if (dropped <= (filter.after ?? 0)) return;
  throw unexpected(
    `The journal has dropped the first ${dropped} requests, so the number is unknown; set a larger journalSize (fxrates mock: --journal-size).`,
  );
}

function wrongCount(selection: Selection, { count, atLeast, atMost }: Claim): MockServerError {
  const { filter, matching } = selection;
  const isShort = matching.length < (count ?? atLeast ?? 0);
  if (isShort) refuseForgotten(selection);
  const wanted = count ?? [...bound('at least', atLeast), ...bound('at most', atMost)].join(' and ');
  const requests = isShort ? closestLines(selection, filter) + receivedText(selection) : surplusText(selection);
  return unexpected(
    `Expected ${wanted} ${selectionText(filter, atMost ?? atLeast ?? count)}, got ${matching.length}. ${requests}`,
  );
}

function bound(words: string, count: number | undefined): readonly string[] {
  return count === undefined ? [] : [`${words} ${count}`];
}

function checkSentWith(selection: Selection, pattern: RequestFilter): void {
  const { matching, filter } = selection;
  if (matching.some(createMatcher(pattern))) return;
  refuseForgotten(selection);
  const closest =
    matching.length === 0 ? closestLines(selection, filter) : closestLines({ ...selection, all: matching }, pattern);
  throw unexpected(
    `Expected a request with ${show(pattern)} among ${matching.length} ${selectionText(filter, matching.length)}. ${closest}${receivedText(selection)}`,
  );
}

function checkOrder(selection: Selection, patterns: readonly RequestFilter[]): void {
  let from = 0;
  const used = new Set<JournalEntry>();
  for (const [index, pattern] of patterns.entries()) {
    const rest = selection.matching.slice(from);
    const next = rest.find(createMatcher(pattern));
    if (next === undefined) {
      refuseForgotten(selection);
      const after = from === 0 ? '' : ` after #${selection.matching[from - 1]?.number}`;
      const unused = selection.matching.slice(0, from).filter((entry) => !used.has(entry));
      const early = unused.findLast(createMatcher(pattern));
      const place = early === undefined ? '' : `#${early.number} matches, but came before. `;
      const closest = closestLines({ ...selection, all: rest }, pattern);
      throw unexpected(
        `Expected request ${index + 1} of ${patterns.length}, ${show(pattern)},${after} in this order. ${place}${closest}${receivedText(selection)}`,
      );
    }
    from += rest.indexOf(next) + 1;
    used.add(next);
  }
}

function selectionText(filter: RequestFilter, number?: number): string {
  if (number === 1) return Object.keys(filter).length === 0 ? 'request' : `request that matches ${show(filter)}`;
  return Object.keys(filter).length === 0 ? 'requests' : `requests that match ${show(filter)}`;
}

/** Lists the requests of which there are too many: the others are no help. */
function surplusText(selection: Selection): string {
  const { matching, all } = selection;
  return matching.length === all.length ? receivedText(selection) : `Matching requests:\n${formatRequests(matching)}`;
}

/** Lists the requests in the journal, after the expectation. */
function receivedText({ all }: Pick<Selection, 'all'>): string {
  return `Received requests:\n${formatRequests(all)}`;
}

function unexpected(message: string): MockServerError {
  return new MockServerError(message, { code: 'unexpected_requests', status: 422 });
}

/** The requests that nearly match, and the fields that differ; empty if none is close. */
function closestLines({ all, patternOf }: Pick<Selection, 'all' | 'patternOf'>, filter: RequestFilter): string {
  const pattern = withPatterns(filter, patternOf);
  const close = nearMisses(all, (entry) => {
    const differences = [...filterDifferences(pattern, entry)];
    // A request that the stub or the fault is for, but that did not receive it, such as a 429.
    return { pattern, differences: differences.length === 0 ? filterDifferences(filter, entry) : differences };
  });
  const lines = close.map(
    ({ candidate: entry, text }) => `  #${entry.number} ${entry.method} ${targetOf(entry)} ${text}\n`,
  );
  return lines.length === 0 ? '' : `Closest:\n${lines.join('')}`;
}

/** The filter with the patterns of its stub and its fault, so that messages name the field that differs. */
function withPatterns({ after: _, ...filter }: RequestFilter, patternOf: PatternOf): RequestFilter {
  const { stub, fault, ...others } = filter;
  const ofStub = stub === undefined ? undefined : patternOf('stub', stub);
  const ofFault = fault === undefined ? undefined : patternOf('fault', fault);
  if (ofStub === undefined && ofFault === undefined) return filter;
  const query = { ...ofStub?.query, ...ofFault?.query, ...others.query };
  const headers = { ...ofStub?.headers, ...ofFault?.headers, ...others.headers };
  return { ...ofStub, ...ofFault, ...others, query, headers };
}

/** Requests as lines of text; of many the newest. */
function formatRequests(entries: readonly JournalEntry[]): string {
  if (entries.length === 0) return '  none';
  const older = entries.length - MOST_LINES;
  const lines = entries.slice(-MOST_LINES).map(lineOf);
  return [...(older > 0 ? [`  (${older} older)`] : []), ...lines].join('\n');
}

const MOST_LINES = 20;

function lineOf(entry: JournalEntry): string {
  const { number, method, status, why } = entry;
  return `  #${number} ${method} ${targetOf(entry)} ${statusText(status)}, ${keyText(entry)}: ${why}`;
}

/** Path and query as they were, readable rather than encoded. */
function targetOf({ path, query }: JournalEntry): string {
  const pairs = valuePairs(query).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}
