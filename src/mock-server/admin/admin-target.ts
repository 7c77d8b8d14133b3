import type { Journal } from '../journal/journal.ts';
import type { MockServer } from '../mock-server.ts';

/** What the admin API drives: the mock as its users see it, and its journal to listen to. */
export interface AdminTarget {
  readonly mock: Pick<
    MockServer,
    'accounts' | 'keys' | 'clock' | 'behaviour' | 'outbox' | 'faults' | 'createKey' | 'snapshot' | 'restore' | 'reset'
  >;
  readonly journal: Journal;
}
