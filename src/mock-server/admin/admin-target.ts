import type { Journal } from '../journal/journal.ts';
import type { MockServer } from '../mock-server.ts';
import type { Spaces } from '../spaces/spaces.ts';

/** What the admin API drives: a mock or a space as its users see it, and its journal to listen to. */
export interface AdminTarget {
  readonly mock: Pick<
    MockServer,
    | 'accounts'
    | 'keys'
    | 'clock'
    | 'behaviour'
    | 'outbox'
    | 'faults'
    | 'createKey'
    | 'snapshot'
    | 'restore'
    | 'snapshots'
    | 'reset'
  >;
  readonly journal: Journal;
  /** `undefined` for a space, which has none. */
  readonly spaces: Spaces | undefined;
}
