import type { Journal } from '../journal/journal.ts';
import type { MockScope } from '../mock-scope.ts';
import type { Spaces } from '../spaces.ts';

/** What the admin API drives: a mock or a space as its users see it, and its journal to listen to. */
export interface AdminTarget {
  readonly mock: MockScope;
  readonly journal: Journal;
  /** `undefined` for a space, which has none. */
  readonly spaces: Spaces | undefined;
}
