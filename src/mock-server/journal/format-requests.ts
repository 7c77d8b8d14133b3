import type { JournalEntry } from './journal-entry.ts';

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
