import * as z from 'zod';
import { repeat } from '../../clock/event-loop.ts';
import { type JournalEntry, journalEntry } from '../../journal/journal.ts';
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
import { PAGE_HEADERS } from '../own-pages.ts';
import { Problem } from '../problem.ts';
import { type AdminCall, method, route } from '../route.ts';
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
  route('GET /events', {
    id: 'events',
    tag: 'requests',
    summary:
      'Stream new requests that match as server-sent events; `after` or the header `Last-Event-ID` includes earlier requests from the journal',
    query: journalFilter.extend({
      after: journalFilter.shape.after.describe(
        'Number of the last known request. Default: `Last-Event-ID`, which browsers send when they reconnect.',
      ),
    }),
    isStream: true,
    run: (call) => streamEvents(call),
  }),
];

function listRequests(mock: MockCore, { limit, ...filter }: RequestFilter & ListLimit) {
  const { journal } = mock;
  const found = journal.entries.filter(createMatcher(checkedFilter(filter, mock)));
  // With a cursor the oldest that were not read yet, without one the newest.
  const entries = filter.after === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { entries, total: found.length, dropped: journal.dropped };
}

/** Sends the journal entries that match as server-sent events until the client disconnects. */
export function streamEvents({ core, query, signal, outgoing }: EventsCall, every = repeat) {
  const { journal } = core;
  const { after, ...filter } = query;
  checkedFilter({ after }, core);
  const matches = createMatcher(checkedFilter(filter, core));
  if (journal.waiting >= MOST_STREAMS) {
    const message = `${MOST_STREAMS} event streams and waits are open; close one, or read /__fxrates/requests.`;
    throw new Problem(message, { status: 503, code: 'too_many_streams' });
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...PAGE_HEADERS });
  outgoing.flushHeaders();
  if (outgoing.req.method === 'HEAD') return void outgoing.end();
  const send = (entry: JournalEntry) => {
    if (!matches(entry)) return;
    outgoing.write(`id: ${entry.number}\nevent: request\ndata: ${JSON.stringify(entry)}\n\n`);
    // Closed if the listener does not read, because the mock would have to store the missed entries.
    if (outgoing.writableLength > MOST_UNREAD_BYTES) outgoing.destroy();
  };
  const known = after ?? lastEventId(outgoing.req.headers['last-event-id']);
  if (known !== undefined) {
    // With a number from before `clear()`, all entries are new.
    for (const entry of journal.entries) if (entry.number > known || known > journal.last) send(entry);
  }
  const unsubscribe = journal.subscribe(send, { onClose: () => void outgoing.end() });
  // A comment, so that proxies and clients do not take a stream without requests for a broken connection.
  const stopBeats = every(BEAT_MS, () => void outgoing.write(':\n\n'));
  const stop = () => {
    unsubscribe();
    stopBeats();
  };
  signal.addEventListener('abort', stop, { once: true });
}

/** WHATWG HTML §9.2.7: a comment about every 15 seconds. */
const BEAT_MS = 15_000;

type EventsCall = AdminCall<unknown, RequestFilter>;

/** The number of the last event before a connection ended; `undefined` for another text than a number. */
function lastEventId(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}

/** Each can keep that many unread bytes. */
const MOST_STREAMS = 100;
const MOST_UNREAD_BYTES = 4 * 1024 * 1024;
