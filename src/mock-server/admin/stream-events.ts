import type { JournalEntry } from '../journal/journal.ts';
import { PAGE_HEADERS } from '../web/page-security.ts';
import type { AdminCall } from './route.ts';

/** Sends journal entries as server-sent events until whoever listens has gone. */
export function streamEvents({
  journal,
  query,
  gone,
  outgoing,
}: AdminCall<unknown, { readonly after?: number | undefined }>) {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...PAGE_HEADERS });
  outgoing.flushHeaders();
  const send = (entry: JournalEntry) => {
    outgoing.write(`id: ${entry.number}\nevent: request\ndata: ${JSON.stringify(entry)}\n\n`);
    // A listener that does not read must not make the mock keep all it has missed.
    if (outgoing.writableLength > MOST_UNREAD_BYTES) outgoing.destroy();
  };
  const { after } = query;
  if (after !== undefined) for (const entry of journal.entries) if (entry.number > after) send(entry);
  const stop = journal.subscribe(send);
  if (gone.aborted) stop();
  else gone.addEventListener('abort', stop, { once: true });
}

const MOST_UNREAD_BYTES = 4 * 1024 * 1024;
