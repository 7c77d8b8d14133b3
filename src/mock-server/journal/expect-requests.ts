import { MockServerError, show } from '../mock-server-error.ts';
import type { JournalEntry } from './journal.ts';
import type { RequestFilter } from './request-filter.ts';

/** What a test says about the requests that a filter lets through; `mock.expectRequests` makes one. */
export interface RequestExpectation {
  /** Throws `MockServerError` with code `unexpected_requests`, listing what did come, unless there are exactly `count`. */
  toHaveCount(count: number): void;
}

/** A journal, counted. */
export interface CountedRequests {
  readonly filter: RequestFilter;
  readonly matching: number;
  /** Whatever the filter; oldest first. */
  readonly all: readonly JournalEntry[];
  /** How many the journal has forgotten. */
  readonly dropped: number;
}

/** Throws unless exactly `expected` requests match. A journal that has forgotten some cannot tell. */
export function expectCount({ filter, matching, all, dropped }: CountedRequests, expected: number): void {
  if (dropped > (filter.after ?? 0)) {
    throw unexpected(
      `The journal has forgotten the first ${dropped} requests and cannot count; give createMockServer a larger journalSize.`,
    );
  }
  if (matching === expected) return;
  const which = Object.keys(filter).length === 0 ? 'requests' : `requests that match ${show(filter)}`;
  throw unexpected(`Expected ${expected} ${which}, got ${matching}. What came:\n${formatRequests(all)}`);
}

function unexpected(message: string): MockServerError {
  return new MockServerError(message, { code: 'unexpected_requests' });
}

/** Requests as lines of text, for a message; of many the newest. */
export function formatRequests(entries: readonly JournalEntry[]): string {
  if (entries.length === 0) return '  none';
  const older = entries.length - MOST_LINES;
  const lines = entries.slice(-MOST_LINES).map(lineOf);
  return [...(older > 0 ? [`  (${older} older)`] : []), ...lines].join('\n');
}

const MOST_LINES = 20;

function lineOf({ number, method, path, status, keyId = 'no key', why }: JournalEntry): string {
  return `  #${number} ${method} ${path} ${status === 0 ? 'no answer' : status}, ${keyId}: ${why}`;
}
