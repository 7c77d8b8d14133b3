import type { Journal, JournalEntry } from './journal.ts';

/** What a well-behaved client does not do, as far as the journal goes back. */
export interface Audit {
  /** Requests in the journal. */
  readonly requests: number;
  /** Older ones that the journal has forgotten: this audit does not cover them. */
  readonly dropped: number;
  /**
   * Came after a Retry-After had been told and before it had passed; `earlyByMs` says by how much. In process that is
   * exact. Over sockets the mock cannot see when a request was sent: those of a burst, sent before the answer came, are here.
   */
  readonly earlyRetries: readonly JournalEntry[];
  /** Whose URL held a key, where logs show it. */
  readonly keysInUrls: readonly JournalEntry[];
  /** To paths that nothing is at; `why` names the nearest one that exists. */
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
