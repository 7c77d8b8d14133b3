import { MockServerError, show } from '../mock-server-error.ts';
import { formatRequests } from './format-requests.ts';
import type { JournalEntry } from './journal-entry.ts';
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
