import type { JournalEntry } from '../../journal/journal.ts';

const STORED = 'fxrates-admin-token';

/**
 * The token is in the fragment of the printed address, which browsers do not send. It is removed from the address, and
 * stored for other tabs. It is not valid after the server ends.
 */
export function takeToken(): string {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    localStorage.setItem(STORED, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return localStorage.getItem(STORED) ?? '';
}

export function keepToken(token: string): void {
  localStorage.setItem(STORED, token);
}

/** An error of the admin API. */
export class AdminApiError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** One call of the admin API. A string is sent as it is, as JSON. */
export async function callAdmin<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const json = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const response = await sendAdmin(method, path, json);
  const text = await response.text();
  return JSON.parse(text === '' ? 'null' : text);
}

async function sendAdmin(method: string, path: string, body?: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(`/__fxrates${path}`, {
    method,
    headers: { authorization: `Bearer ${takeToken()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => undefined);
  throw new AdminApiError(
    problem?.error?.message ?? `The mock server responded with status ${response.status}.`,
    response.status,
  );
}

/** Calls `onEntry` for every request of the mock, or of a space of it, until `signal` aborts or the server ends. */
export async function followJournal(
  scope: string,
  onEntry: (entry: JournalEntry) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await sendAdmin('GET', `${scope}/events?after=0`, undefined, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    const events = (text + read.value).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const [, entry] = /^data: (.*)$/m.exec(event) ?? [];
      // A comment shows that the connection is alive.
      if (entry !== undefined) onEntry(JSON.parse(entry));
    }
  }
}
