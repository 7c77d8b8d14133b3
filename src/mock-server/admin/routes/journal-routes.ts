import * as z from 'zod';
import { journalEntry } from '../../journal/journal.ts';
import {
  audit,
  checkedFilter,
  claim,
  verifyRequests,
  waitForRequests,
  waitOptions,
} from '../../journal/mock-journal.ts';
import { createMatcher, type RequestFilter, requestFilter } from '../../journal/request-filter.ts';
import type { MockCore } from '../../mock-core.ts';
import { method, route } from '../route.ts';
import { journalFilter } from '../shapes.ts';

const list = z.object({
  entries: z.array(journalEntry).describe('Oldest first.'),
  total: z.number().int().describe('Number of matching requests, regardless of the limit.'),
  dropped: z.number().int().describe('Number of older requests that were dropped, matching or not.'),
});

const listQuery = journalFilter.extend({
  limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of requests.'),
});
const find = requestFilter.extend({ limit: listQuery.shape.limit });
const wait = requestFilter.extend({
  ...waitOptions.shape,
  timeoutMs: waitOptions.shape.timeoutMs
    .unwrap()
    .max(240_000)
    .default(10_000)
    .describe('Milliseconds, in real time. HTTP clients give up after some minutes: `fetch` of Node.js after 300,000.'),
});

const verification = claim
  .extend({ filter: requestFilter.optional().describe('Requests to check; by default all.') })
  // Without a condition, the verification would always succeed.
  .refine(({ filter: _, ...conditions }) => Object.keys(conditions).length > 0, {
    error: 'nothing to verify; set count, atLeast, atMost, sentWith or inOrder',
  });

type ListLimit = Pick<z.output<typeof listQuery>, 'limit'>;
export const journalRoutes = [
  route('GET /requests', {
    id: 'listRequests',
    summary:
      'List the newest requests, each with the reason for its response; with `after`, the oldest ones after that number',
    query: listQuery,
    response: list,
    run: ({ query, core }) => listRequests(core, query),
  }),
  route('POST /requests/find', {
    id: 'findRequests',
    summary: 'Find the newest requests that match a pattern; with `after`, the oldest ones after that number',
    body: find,
    response: list,
    run: ({ core, body }) => listRequests(core, body),
  }),
  route('POST /requests/verify', {
    id: 'verifyRequests',
    summary: 'Verify number, content and order of requests; 422 with the closest requests on failure',
    body: verification,
    response: z.object({ count: z.number().int().describe('Number of requests that the filter selects.') }),
    run: ({ core, body: { filter = {}, ...given } }) => ({ count: verifyRequests(core, filter, given) }),
  }),
  route('POST /requests/wait', {
    id: 'waitForRequests',
    summary: 'Wait until `count` requests match; 408 after `timeoutMs`, 410 when the mock or the space is closed',
    body: wait,
    response: list,
    async run({ core, body: { count, timeoutMs, ...filter }, signal }) {
      const entries = await waitForRequests(core, { filter, count, timeoutMs, signal });
      return { entries, total: entries.length, dropped: core.journal.dropped };
    },
  }),
  method('DELETE /requests', 'journal.clear', { summary: 'Empty the journal' }),
  method('GET /audit', 'audit', {
    tag: 'requests',
    summary: 'List early retries, keys in URLs and unknown paths',
    response: audit,
  }),
];

function listRequests(mock: MockCore, { limit, ...filter }: RequestFilter & ListLimit) {
  const { journal } = mock;
  const found = journal.entries.filter(createMatcher(checkedFilter(filter, mock)));
  // With a cursor the oldest that were not read yet, without one the newest.
  const entries = filter.after === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { entries, total: found.length, dropped: journal.dropped };
}
