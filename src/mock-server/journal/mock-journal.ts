import * as z from 'zod';
import { targetOf } from '../../text.ts';
import { inTurns, pause } from '../clock/event-loop.ts';
import {
  atOnce,
  checkedInput,
  expected,
  type Immutable,
  type Steps,
  strictObject,
  trueOrFalse,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { checkId, checkLength, invalidOption, MockServerError, show, within } from '../input/mock-server-error.ts';
import { nearMisses, type RequestPattern } from '../matching/request-pattern.ts';
import { formatRequests } from './entry-text.ts';
import {
  createMatcher,
  filterDifferences,
  type Journal,
  type JournalEntry,
  type RequestFilter,
  requestFilter,
} from './journal.ts';

/** The requests that the mock received, each with the reason for its response. */
export interface MockJournal {
  /**
   * Returns the requests in the journal that match, oldest first; by default all.
   * @throws MockServerError with code `invalid_option`, for an unknown field of the filter; `slow_pattern`, for a regular
   * expression that takes too long.
   * @example mock.journal.list({ operation: 'latest', status: 429 })
   */
  list(filter?: RequestFilter): readonly JournalEntry[];
  /** Number of older requests that were dropped. The option `journalSize` sets how many are kept. */
  readonly dropped: number;
  /**
   * Waits until enough requests match, and resolves to the matching requests.
   * @throws MockServerError with code `wait_timeout`, after `timeoutMs`; `mock_closed`, when the mock or the space is closed;
   * `invalid_option`, for an invalid filter or option; `slow_pattern`, as `list()`.
   * @example await mock.journal.waitFor({ operation: 'latest' }, { count: 2, timeoutMs: 5_000 })
   */
  waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<readonly JournalEntry[]>;
  /**
   * Calls `listener` for each new request when it arrives, before a delay of its response, also after `clear()`. Returns a
   * function that cancels the subscription. If the listener throws, the mock emits a process warning.
   * @throws MockServerError with code `invalid_option`, for an unknown option.
   */
  subscribe(listener: (entry: JournalEntry) => void, options?: SubscribeOptions): () => void;
  /** Empties the journal. The next request gets number 1. */
  clear(): void;
}

/** What a journal needs of its mock. */
interface JournalContext {
  readonly journal: Journal;
  readonly state: {
    readonly keys: ReadonlyMap<string, unknown>;
    readonly rules: readonly { readonly id: string; readonly match: RequestPattern }[];
    readonly ruleIds: ReadonlySet<string>;
  };
}

export function createMockJournal(mock: JournalContext): MockJournal {
  const { journal } = mock;
  return {
    list: (filter = {}) => atOnce(select(journal.entries, checkedFilter(filter, mock))),
    get dropped() {
      return journal.dropped;
    },
    async waitFor(filter = {}, options = {}) {
      const wait = checkedInput(waitOptions, options, { what: 'an option of waitFor()' });
      return await waitForRequests(mock, { filter, ...wait });
    },
    subscribe(listener, options = {}) {
      return journal.subscribe(listener, checkedInput(subscribeOptions, options, { what: 'an option of subscribe()' }));
    },
    clear: () => journal.clear(),
  };
}

/** The first entries that match, at most `most`. Each is a step, because a regular expression can take long. */
export function* select(
  entries: readonly JournalEntry[],
  filter: RequestFilter,
  most = Number.POSITIVE_INFINITY,
): Steps<readonly JournalEntry[]> {
  const matches = createMatcher(filter);
  const found: JournalEntry[] = [];
  for (const entry of entries) {
    if (matches(entry)) found.push(entry);
    if (found.length === most) break;
    yield;
  }
  return found;
}

/** The filter with each RegExp as JSON has it. Throws for a wrong field, and as `checkKnown()`. */
export function checkedFilter(filter: RequestFilter, mock: JournalContext): RequestFilter {
  const checked = within('filter', () => checkedInput(requestFilter, filter, { what: 'a field of the filter' }));
  checkKnown(checked, mock, 'filter');
  return checked;
}

/**
 * Throws for the id of an unknown key or rule, and for a number after the last one: a typo must not pass for "no such
 * request".
 */
function checkKnown({ after = 0, rule, keyId }: RequestFilter, { journal, state }: JournalContext, place: string) {
  within(place, () => {
    if (after > journal.last) {
      const expected = `at most ${journal.last}, the number of the last request; clear() restarts the numbers`;
      throw invalidOption('after', after, expected);
    }
    checkId('key', 'keyId', keyId, state.keys);
    checkId('rule', 'rule', rule, state.ruleIds);
  });
}

const subscribeOptions = strictObject({
  /**
   * Whether to include the requests of spaces. Their entries name the space.
   * @default false
   */
  spaces: trueOrFalse.optional(),
});

/** Options of `mock.journal.subscribe()`. */
export interface SubscribeOptions extends ValueOf<typeof subscribeOptions> {}

export const waitOptions = strictObject({
  /**
   * Number of requests to wait for, including those already in the journal.
   * @default 1
   */
  count: wholeFrom(1).default(1).describe('Number of requests to wait for.'),
  /**
   * Longest wait in milliseconds, in real time, also under a virtual clock.
   * @default 10_000
   */
  timeoutMs: expected('whole milliseconds from 0', z.int().min(0)).default(10_000),
});

/** Options of `mock.journal.waitFor()`. */
export interface WaitOptions extends ValueOf<typeof waitOptions> {}

interface JournalWait extends Readonly<z.output<typeof waitOptions>> {
  readonly filter: RequestFilter;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the matching entries as soon as there are `count`; rejects with code `wait_timeout` or `mock_closed`. */
export async function waitForRequests(
  mock: JournalContext,
  { filter: given, count, timeoutMs, signal }: JournalWait,
): Promise<readonly JournalEntry[]> {
  const { journal } = mock;
  const filter = checkedFilter(given, mock);
  const matches = createMatcher(filter);
  const { entries } = journal;
  // By identity: after clear(), another request gets the same number.
  const known = new WeakSet(entries);
  const found = new Set<JournalEntry>();
  const end = new AbortController();
  const listener = (entry: JournalEntry) => {
    known.add(entry);
    try {
      if (matches(entry)) found.add(entry);
      if (found.size >= count) end.abort();
    } catch (error) {
      end.abort(error); // a regular expression takes too long
    }
  };
  // A delayed response can turn out to be none, because the client disconnects.
  const onReplaced = (earlier: JournalEntry, entry: JournalEntry) => {
    if (!known.delete(earlier)) return; // cleared before the wait began
    found.delete(earlier);
    listener(entry);
  };
  const stop = journal.subscribe(listener, { onReplaced, onClose: () => end.abort(CLOSED) });
  const ends = AbortSignal.any([end.signal, ...(signal === undefined ? [] : [signal])]);
  try {
    for (const entry of await inTurns(select(entries, filter))) if (known.has(entry)) found.add(entry);
    // The caller waits in real time, perhaps in another process. Not AbortSignal.timeout: that lets the process end.
    if (found.size < count) await pause(timeoutMs, ends);
  } finally {
    stop();
  }
  if (found.size >= count) return Array.from(found).sort((one, other) => one.number - other.number);
  if (end.signal.reason instanceof MockServerError) throw end.signal.reason;
  const isClosed = end.signal.reason === CLOSED;
  const problem = isClosed ? 'before the mock or the space was closed' : `within ${timeoutMs} ms`;
  throw new MockServerError(
    `${found.size} of ${count} requests arrived ${problem}. ${await inTurns(missingText(mock, filter))}`,
    isClosed ? { code: 'mock_closed', status: 410 } : { code: 'wait_timeout', status: 408 },
  );
}

function* missingText(mock: JournalContext, filter: RequestFilter): Steps<string> {
  return forgottenText(mock, filter) ?? (yield* nearestText(mock, filter));
}

const CLOSED = Symbol('the mock or the space was closed');

/**
 * Assertions about the requests that `mock.expectRequests(filter)` selects. If an assertion fails, it throws
 * `MockServerError` with code `unexpected_requests`; for a regular expression that takes too long, with `slow_pattern`. The message lists the closest requests, and the newest 20 requests in
 * the journal. If too many requests match, it lists the newest 20 of those.
 */
export interface RequestExpectation {
  /** Asserts that exactly `count` requests match. */
  toHaveCount(count: number): void;
  /**
   * Asserts that at least `count` requests match.
   * @example mock.expectRequests({ query: { base: 'EUR' } }).atLeast(1)
   */
  atLeast(count: number): void;
  /** Asserts that at most `count` requests match. */
  atMost(count: number): void;
  /**
   * Asserts that the requests contain a match of each pattern, in this order. Other requests may come between them.
   * @example mock.expectRequests().inOrder({ operation: 'quota' }, { operation: 'latest' })
   */
  inOrder(...patterns: RequestFilter[]): void;
}

const countOfRequests = wholeFrom(0, 'of requests').exactOptional();

export const claim = z.strictObject({
  count: countOfRequests.describe('Exact number of requests.'),
  atLeast: countOfRequests.describe('Minimum number of requests.'),
  atMost: countOfRequests.describe('Maximum number of requests.'),
  inOrder: expected('at least one pattern', z.array(requestFilter).min(1))
    .exactOptional()
    .describe('The patterns match requests in this order.'),
});

/** An expectation as JSON. All fields that are set must hold. */
export type Claim = Immutable<z.input<typeof claim>>;

/** Creates the methods of an expectation. `check` checks a claim, in this process or in another. */
export function createExpectation<Result>(check: (claim: Claim) => Result) {
  return {
    toHaveCount: (count: number) => check({ count }),
    atLeast: (atLeast: number) => check({ atLeast }),
    atMost: (atMost: number) => check({ atMost }),
    inOrder: (...inOrder: RequestFilter[]) => check({ inOrder }),
  };
}

/** Throws for an argument that is missing or invalid: an expectation without it would always hold. */
export function checkedClaim(given: Claim): z.output<typeof claim> {
  checkPatterns(given);
  return checkedInput(claim, given, { what: 'a field of an expectation' });
}

/** Refuses too many patterns before they are checked one by one. */
export function checkPatterns(given: unknown): void {
  const { inOrder } = Object(given);
  if (Array.isArray(inOrder)) checkLength('inOrder', inOrder, MOST_PATTERNS);
}

/** As many as the journal keeps by default. */
const MOST_PATTERNS = 1_000;

/** Throws if the requests that `filter` selects contradict the claim. Returns their number. */
export function* verifyRequests(mock: JournalContext, given: RequestFilter, claim: Claim): Steps<number> {
  const filter = checkedFilter(given, mock);
  const matching = yield* select(mock.journal.entries, filter);
  const selection = { filter, matching, mock };
  const { count, atLeast = count, atMost = count, inOrder = [] } = checkedClaim(claim);
  for (const [index, pattern] of inOrder.entries()) checkKnown(pattern, mock, `inOrder[${index}]`);
  if (atLeast !== undefined && matching.length < atLeast) throw yield* wrongCount(selection, claim);
  if (atMost !== undefined) refuseForgotten(selection);
  if (atMost !== undefined && matching.length > atMost) throw yield* wrongCount(selection, claim);
  yield* checkOrder(selection, inOrder);
  return matching.length;
}

/** The requests of a journal that a filter selects. */
interface Selection {
  readonly filter: RequestFilter;
  readonly matching: readonly JournalEntry[];
  readonly mock: JournalContext;
}

/** A journal that has dropped requests cannot prove a maximum. */
function refuseForgotten({ mock, filter }: Selection): void {
  const text = forgottenText(mock, filter);
  if (text !== undefined) throw unexpected(text);
}

/** `undefined` if the journal has dropped none of the requests. */
function forgottenText({ journal: { dropped } }: JournalContext, { after = 0 }: RequestFilter): string | undefined {
  if (dropped <= after) return undefined;
  return `The journal has dropped the first ${dropped} requests, so the number is unknown; set a larger journalSize (fxrates mock: --journal-size).`;
}

function* wrongCount(selection: Selection, { count, atLeast, atMost }: Claim): Steps<MockServerError> {
  const { filter, matching, mock } = selection;
  const isShort = matching.length < (count ?? atLeast ?? 0);
  if (isShort) refuseForgotten(selection);
  const bounds = [atLeast === undefined ? [] : `at least ${atLeast}`, atMost === undefined ? [] : `at most ${atMost}`];
  const wanted = count ?? bounds.flat().join(' and ');
  const requests = isShort ? yield* nearestText(mock, filter) : surplusText(selection);
  return unexpected(
    `Expected ${wanted} ${selectionText(filter, atMost ?? atLeast ?? count)}, got ${matching.length}. ${requests}`,
  );
}

function* checkOrder(selection: Selection, patterns: readonly RequestFilter[]): Steps<void> {
  let from = 0;
  const used = new Set<JournalEntry>();
  for (const [index, pattern] of patterns.entries()) {
    const rest = selection.matching.slice(from);
    const [next] = yield* select(rest, pattern, 1);
    if (next === undefined) {
      refuseForgotten(selection);
      const after = from === 0 ? '' : ` after #${selection.matching[from - 1]?.number}`;
      const unused = selection.matching.slice(0, from).filter((entry) => !used.has(entry));
      const [early] = yield* select(unused.toReversed(), pattern, 1);
      const place = early === undefined ? '' : `#${early.number} matches, but came before. `;
      const nearest = yield* nearestText(selection.mock, pattern, rest);
      throw unexpected(
        `Expected request ${index + 1} of ${patterns.length}, ${show(pattern)},${after} in this order. ${place}${nearest}`,
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
function surplusText({ matching, mock }: Selection): string {
  return matching.length === mock.journal.entries.length
    ? receivedText(mock)
    : `Matching requests:\n${formatRequests(matching)}`;
}

/** Lists the requests in the journal, after the expectation. */
function receivedText({ journal }: JournalContext): string {
  return `Received requests:\n${formatRequests(journal.entries)}`;
}

function unexpected(message: string): MockServerError {
  return new MockServerError(message, { code: 'unexpected_requests', status: 422 });
}

/** The requests that nearly match, with the fields that differ, and all requests. */
function* nearestText(mock: JournalContext, filter: RequestFilter, among = mock.journal.entries): Steps<string> {
  const pattern = withPatterns(filter, mock);
  const close = yield* nearMisses(among, (entry) => {
    const differences = [...filterDifferences(pattern, entry)];
    // A request that the rule is for, but with which it did nothing, such as a 429.
    return { pattern, differences: differences.length === 0 ? filterDifferences(filter, entry) : differences };
  });
  const lines = close.map(
    ({ candidate: entry, text }) => `  #${entry.number} ${entry.method} ${targetOf(entry)} ${text}\n`,
  );
  return (lines.length === 0 ? '' : `Closest:\n${lines.join('')}`) + receivedText(mock);
}

/** The filter with the pattern of its rule, so that messages name the field that differs. */
function withPatterns({ after: _, ...filter }: RequestFilter, { state }: JournalContext): RequestFilter {
  const { rule, ...others } = filter;
  const { match } = state.rules.find(({ id }) => id === rule) ?? {};
  if (match === undefined) return filter;
  const query = { ...match.query, ...others.query };
  return { ...match, ...others, query, headers: { ...match.headers, ...others.headers } };
}
