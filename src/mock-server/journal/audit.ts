import type { Journal, JournalEntry } from './journal.ts';

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
