import { operations } from '../../generated/operations.ts';
import { invalidOption, unknownName } from '../mock-server-error.ts';
import { matchesPath } from '../path-pattern.ts';
import type { JournalEntry } from './journal.ts';

/** Which requests of the journal; all by default. */
export interface RequestFilter {
  readonly keyId?: string | undefined;
  readonly method?: string | undefined;
  /** The whole path; `*` stands for anything. */
  readonly path?: string | undefined;
  /** Id of the operation, `'latest'`. */
  readonly operation?: string | undefined;
  readonly status?: number | undefined;
  /** `error.code` of the answer. */
  readonly code?: string | undefined;
  /** Id of a fault that struck the request. */
  readonly fault?: string | undefined;
  /** Only requests with a larger number. */
  readonly after?: number | undefined;
}

/** Whether an entry is meant. Throws for a name that is none: a typo must not pass for "no such request". */
export function createMatcher(filter: RequestFilter): (entry: JournalEntry) => boolean {
  checkNames(filter);
  const { path, fault, after = 0 } = filter;
  return (entry) =>
    entry.number > after &&
    SAME.every((name) => filter[name] === undefined || filter[name] === entry[name]) &&
    (path === undefined || matchesPath(path, entry.path)) &&
    (fault === undefined || entry.faults.includes(fault));
}

function checkNames(filter: RequestFilter): void {
  const unknown = Object.keys(filter).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw unknownName(unknown, { what: 'a field of the filter', known: FIELDS }, 'filter.');
  const { operation } = filter;
  if (operation === undefined || Object.hasOwn(operations, operation)) return;
  throw invalidOption('filter.operation', operation, `one of ${Object.keys(operations).join(', ')}`);
}

const SAME = ['keyId', 'method', 'operation', 'status', 'code'] as const;
const FIELDS = Object.keys({
  keyId: true,
  method: true,
  operation: true,
  status: true,
  code: true,
  path: true,
  fault: true,
  after: true,
} satisfies Record<keyof RequestFilter, true>);
