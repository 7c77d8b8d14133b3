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
