import { pause } from '../clock/event-loop.ts';
import { MockServerError } from '../mock-server-error.ts';
import { formatRequests } from './format-requests.ts';
import type { Journal } from './journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import { createMatcher, type RequestFilter } from './request-filter.ts';

export interface WaitOptions {
  /** How many requests must be there, those already in the journal included. Default: 1. */
  readonly count?: number | undefined;
  /** Real time, whatever clock the mock has. Default: 10 000. */
  readonly timeoutMs?: number | undefined;
}

interface Waiting extends WaitOptions {
  readonly filter: RequestFilter;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the matching entries as soon as there are `count`; rejects with code `wait_timeout`. */
export async function waitForRequests(
  journal: Journal,
  { filter, count = 1, timeoutMs = 10_000, signal }: Waiting,
): Promise<readonly JournalEntry[]> {
  const matches = createMatcher(filter);
  const found = journal.entries.filter(matches);
  const enough = new AbortController();
  const stop = journal.subscribe((entry) => {
    if (matches(entry)) found.push(entry);
    if (found.length >= count) enough.abort();
  });
  const ends = AbortSignal.any([enough.signal, ...(signal === undefined ? [] : [signal])]);
  // Whoever waits is in real time, in another process perhaps. Not AbortSignal.timeout: that lets the process end.
  if (found.length < count) await pause(timeoutMs, ends);
  stop();
  if (found.length >= count) return found;
  const text = `${found.length} of ${count} requests came within ${timeoutMs} ms. What came:\n`;
  throw new MockServerError(text + formatRequests(journal.entries), { code: 'wait_timeout', status: 408 });
}
