import * as z from 'zod';
import { auditOf } from '../../journal/audit.ts';
import { waitForRequests } from '../../journal/mock-journal.ts';
import { createMatcher } from '../../journal/request-filter.ts';
import { journalFilter } from '../journal-filter.ts';
import { Problem } from '../problem.ts';
import { type AdminCall, route } from '../route.ts';
import { audit, journalEntry } from '../shapes.ts';
import { streamEvents } from '../stream-events.ts';

const tag = 'requests';

const list = z.object({
  entries: z.array(journalEntry).describe('Oldest first.'),
  total: z.number().int().describe('How many match, whatever the limit.'),
  dropped: z.number().int().describe('How many older requests the journal has forgotten, matching or not.'),
});

const listQuery = journalFilter.extend({ limit: z.coerce.number().int().min(1).max(1000).default(100) });
const wait = journalFilter.extend({
  count: z.number().int().min(1).default(1),
  timeoutMs: z.number().int().min(0).max(600_000).default(10_000).describe('In real time.'),
});

export const journalRoutes = [
  route({
    id: 'listRequests',
    method: 'GET',
    path: '/requests',
    tag,
    summary: 'The newest requests, each with the reason for its answer; `after` goes on from the last one read',
    query: listQuery,
    answer: list,
    run: listRequests,
  }),
  route({
    id: 'getRequest',
    method: 'GET',
    path: '/requests/{number}',
    tag,
    summary: 'One request',
    answer: journalEntry,
    run({ journal, path }) {
      const entry = journal.entries.find(({ number }) => String(number) === path['number']);
      if (entry !== undefined) return entry;
      throw new Problem('The journal has no such request; it keeps the newest.', { status: 404, code: 'not_found' });
    },
  }),
  route({
    id: 'waitForRequests',
    method: 'POST',
    path: '/requests/wait',
    tag,
    summary: 'Answer as soon as there are `count` requests that match; 408 after `timeoutMs`',
    body: wait,
    answer: list,
    async run({ journal, body: { count, timeoutMs, ...filter }, gone }) {
      const entries = await waitForRequests(journal, { filter, count, timeoutMs, signal: gone });
      return { entries, total: entries.length, dropped: journal.dropped };
    },
  }),
  route({
    id: 'clearRequests',
    method: 'DELETE',
    path: '/requests',
    tag,
    summary: 'Empty the journal',
    run: ({ journal }) => journal.clear(),
  }),
  route({
    id: 'audit',
    method: 'GET',
    path: '/audit',
    tag,
    summary: 'Requests that came too early, keys in URLs, and paths that lead nowhere',
    answer: audit,
    run: ({ journal }) => auditOf(journal),
  }),
  route({
    id: 'events',
    method: 'GET',
    path: '/events',
    tag,
    summary: 'Every request from now on, as server-sent events; `after` begins with those already in the journal',
    query: z.strictObject({ after: z.coerce.number().int().min(0).optional() }),
    isStream: true,
    run: streamEvents,
  }),
];

function listRequests({ journal, query }: AdminCall<unknown, z.infer<typeof listQuery>>) {
  const { limit, ...filter } = query;
  const found = journal.entries.filter(createMatcher(filter));
  // With a cursor the oldest that were not read yet, without one the newest.
  const entries = filter.after === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { entries, total: found.length, dropped: journal.dropped };
}
