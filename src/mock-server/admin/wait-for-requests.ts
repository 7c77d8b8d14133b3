import { type JournalFilter, matches } from './journal-filter.ts';
import { Problem } from './problem.ts';
import type { AdminCall } from './route.ts';

type Wait = JournalFilter & { readonly count: number; readonly timeoutMs: number };

/** Resolves with the matching entries as soon as there are enough of them, those already there included. */
export async function waitForRequests({ journal, body, gone }: AdminCall<Wait>) {
  const { count, timeoutMs, ...filter } = body;
  const found = () => journal.entries.filter((entry) => matches(entry, filter));
  const enough = new AbortController();
  const check = () => {
    if (found().length >= count) enough.abort();
  };
  const stop = journal.subscribe(check);
  check();
  // Whoever waits is in another process and in real time, whatever clock the mock has.
  await aborted(AbortSignal.any([enough.signal, gone, AbortSignal.timeout(timeoutMs)])).finally(stop);
  const entries = found();
  if (entries.length >= count) return { entries, total: entries.length };
  const text = `${entries.length} of ${count} requests came within ${timeoutMs} ms.`;
  throw new Problem(text, { status: 408, code: 'wait_timeout' });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
