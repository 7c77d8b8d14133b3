import { targetOf } from '../../text.ts';
import type { JournalEntry } from './journal.ts';

/** The key of a request, in words. */
export function keyText({ keyId, keyTransport, headers, hasKeyInUrl }: JournalEntry): string {
  if (keyId !== undefined) return keyId;
  if (keyTransport !== undefined) return 'unknown key';
  // Such as an unknown path, which is refused first.
  return headers['authorization'] !== undefined || hasKeyInUrl ? 'key not read' : 'no key';
}

export function statusText(status: number): string {
  return status === 0 ? 'no response' : String(status);
}

/** Requests as lines of text; of many the newest. */
export function formatRequests(entries: readonly JournalEntry[]): string {
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
