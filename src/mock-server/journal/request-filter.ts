import * as z from 'zod';
import { MOST_BODY_CHARACTERS } from '../http/parse-request.ts';
import { checkedInput, expected } from '../matching/checked-input.ts';
import {
  checkKeyId,
  type Difference,
  differences,
  plainPattern,
  type RequestPattern,
  requestPatternShape,
} from '../matching/request-pattern.ts';
import { invalidOption } from '../mock-server-error.ts';
import type { JournalEntry } from './journal.ts';

/** Selects requests of the journal; by default all. All fields that are set must match. */
export interface RequestFilter extends RequestPattern {
  /** HTTP status that the client received; 0 if the connection ended without a response. */
  readonly status?: number | undefined;
  /** `error.code` of the response. */
  readonly code?: string | undefined;
  /** Id of a fault that struck the request. Ids are not checked, because the fault may have been removed. */
  readonly fault?: string | undefined;
  /** Id of the stub that the request received. Ids are not checked, because the stub may have been removed. */
  readonly stub?: string | undefined;
  /** Whether neither the service nor a stub has this path. */
  readonly isUnknownRoute?: boolean | undefined;
  /** Selects only requests with a larger `number`. */
  readonly after?: number | undefined;
}

const text = expected('text', (error) => z.string(error));

/** A filter as JSON has it. */
export const requestFilter = z.strictObject({
  ...requestPatternShape,
  body: requestPatternShape.body.refine((body) => typeof body !== 'string' || body.length <= MOST_BODY_CHARACTERS, {
    error: `at most ${MOST_BODY_CHARACTERS} characters, because the journal keeps no more; use a regular expression`,
  }),
  status: expected('an HTTP status, or 0 for no response', (error) => z.int(error)).optional(),
  code: text.optional().describe('`error.code` of the response.'),
  fault: text.optional().describe('Id of a fault that struck the request. Ids are not checked.'),
  stub: text.optional().describe('Id of the stub that the request received. Ids are not checked.'),
  isUnknownRoute: expected('true or false', (error) => z.boolean(error))
    .optional()
    .describe('Whether neither the service nor a stub has this path.'),
  after: expected('the number of a request', (error) => z.int(error).min(0, error))
    .optional()
    .describe('Selects only requests with a larger number.'),
});

export interface FilterPlace {
  /** Begins the name of a field in messages. Default: `filter.` */
  readonly place?: string;
  /** Whether the journal's mock has, or had, a key with this id. Default: any id is accepted. */
  readonly knowsKey?: ((keyId: string) => boolean) | undefined;
  /** Number of the last request. Default: any number is accepted. */
  readonly last?: number;
}

/** The filter with each RegExp as JSON has it. Throws for a wrong field: a typo must not pass for "no such request". */
export function checkedFilter(
  filter: RequestFilter | undefined,
  { place = 'filter.', knowsKey = () => true, last = Number.POSITIVE_INFINITY }: FilterPlace = {},
): RequestFilter {
  const checked = checkedInput(requestFilter, plainPattern(filter), { place, what: 'a field of the filter' });
  if (checked.after !== undefined && checked.after > last) {
    const expected = `at most ${last}, the number of the last request; clear() restarts the numbers`;
    throw invalidOption(`${place}after`, checked.after, expected);
  }
  // Ids of faults and stubs are not checked: they may have been removed.
  checkKeyId(checked, { place, knowsKey });
  return checked;
}

/** Whether an entry is meant; of a filter that `checkedFilter` has returned. */
export function createMatcher(filter: RequestFilter): (entry: JournalEntry) => boolean {
  const { after = 0 } = filter;
  return (entry) => entry.number > after && filterDifferences(filter, entry).next().done === true;
}

/** The fields in which an entry differs from the filter, apart from `after`. */
export function* filterDifferences(filter: RequestFilter, entry: JournalEntry): Generator<Difference, undefined> {
  yield* differences(filter, entry);
  for (const field of ['status', 'code', 'stub', 'isUnknownRoute'] as const) {
    if (filter[field] === undefined || filter[field] === entry[field]) continue;
    yield { field, actual: String(entry[field] ?? 'absent'), expected: String(filter[field]) };
  }
  if (filter.fault !== undefined && !entry.faults.includes(filter.fault)) {
    yield { field: 'faults', actual: entry.faults.join(', ') || 'none', expected: filter.fault };
  }
}
