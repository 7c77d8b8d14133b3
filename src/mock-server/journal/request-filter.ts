import * as z from 'zod';
import { MOST_BODY_CHARACTERS } from '../http/parse-request.ts';
import { expected, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { type Difference, differences, type RequestPattern, requestPattern } from '../matching/request-pattern.ts';
import type { JournalEntry } from './journal.ts';

const text = expected('text', z.string());

export const requestFilter = strictObject({
  ...requestPattern.shape,
  body: requestPattern.shape.body.refine((body) => typeof body !== 'string' || body.length <= MOST_BODY_CHARACTERS, {
    error: `at most ${MOST_BODY_CHARACTERS} characters, because the journal keeps no more; use a regular expression`,
  }),
  /** HTTP status that the client received; 0 if the connection ended without a response. */
  status: expected('an HTTP status, or 0 for no response', z.int()).optional(),
  /** `error.code` of the response. */
  code: text.optional().describe('`error.code` of the response.'),
  /** Id of a rule that did something with the request, also of one that was removed. */
  rule: text.optional().describe('Id of a rule that did something with the request, also of one that was removed.'),
  /** Whether neither the service nor a rule has this path. */
  isUnknownRoute: trueOrFalse.optional().describe('Whether neither the service nor a rule has this path.'),
  /** Selects only requests with a larger `number`. */
  after: expected('the number of a request', z.int().min(0))
    .optional()
    .describe('Selects only requests with a larger number.'),
});

/** Selects requests of the journal; by default all. All fields that are set must match. */
export interface RequestFilter extends RequestPattern, ValueOf<typeof requestFilter> {}

/** Whether an entry is meant; of a filter that `checkedFilter` has returned. */
export function createMatcher(filter: RequestFilter): (entry: JournalEntry) => boolean {
  const { after = 0 } = filter;
  return (entry) => entry.number > after && filterDifferences(filter, entry).next().done === true;
}

/** The fields in which an entry differs from the filter, apart from `after`. */
export function* filterDifferences(filter: RequestFilter, entry: JournalEntry): Generator<Difference, undefined> {
  yield* differences(filter, entry);
  for (const field of ['status', 'code', 'isUnknownRoute'] as const) {
    if (filter[field] === undefined || filter[field] === entry[field]) continue;
    yield { field, actual: String(entry[field] ?? 'absent'), expected: String(filter[field]) };
  }
  if (filter.rule !== undefined && !entry.rule.includes(filter.rule)) {
    yield { field: 'rule', actual: entry.rule.join(', ') || 'none', expected: filter.rule };
  }
}
