import type { JournalEntry, MockServer } from '../../mock-server/index.ts';
import type { Invocation } from '../invocation.ts';

/** Fast enough for somebody who watches, and nothing for the machine. */
const LOOK_EVERY_MS = 200;

/** Writes a line per request to stderr, with the mock's reason for its answer, until `signal` aborts. */
export async function logRequests(mock: MockServer, { io, screen }: Invocation, signal: AbortSignal): Promise<void> {
  let last = 0;
  while (!signal.aborted) {
    for (const entry of mock.journal.list({ after: last })) {
      last = entry.number;
      await screen.info(`${screen.isJson ? jsonLine(entry) : lineOf(entry)}\n`);
    }
    await io.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
  }
}

/** `14:20:01 GET /api/v1/latest 429 rate_limited: …`, in UTC like the mock's quota month. */
function lineOf({ at, method, path, status, why }: JournalEntry): string {
  return `${new Date(at).toISOString().slice(11, 19)} ${method} ${path} ${status} ${why}`;
}

function jsonLine({ at, method, path, status, code, why }: JournalEntry): string {
  return JSON.stringify({ event: 'request', at: new Date(at).toISOString(), method, path, status, code, why });
}
