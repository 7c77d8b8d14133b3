import { useCallback, useEffect, useState } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import type { ClockState, MockView, SectionProps } from './mock-view.ts';

/** The default `journalSize` of the mock. */
const MOST_ENTRIES = 1000;

/** The current state of the mock or a space: read once, updated by events and every second. */
export function useMock(space: string) {
  const scope = space === '' ? '' : `/spaces/${encodeURIComponent(space)}`;
  const [view, setView] = useState<MockView>();
  const [api, setApi] = useState<ApiDescription>();
  const [spaces, setSpaces] = useState<readonly string[]>([]);
  const [entries, setEntries] = useState<readonly JournalEntry[]>([]);
  const [lost, setLost] = useState<Error>();
  const [refusal, setRefusal] = useState<SectionProps['refusal']>();
  const [connection, setConnection] = useState(0);
  const load = useCallback(async () => {
    try {
      setSpaces((await callAdmin<readonly { readonly name: string }[]>('GET', '/spaces')).map(({ name }) => name));
      setView(await readView(scope));
      setLost(undefined);
    } catch (error) {
      setLost(asError(error));
    }
  }, [scope]);

  useEffect(() => {
    setView(undefined);
    return followMock(scope, load, setEntries);
  }, [connection, scope]);
  const isConnected = view !== undefined;
  useEffect(() => {
    // `load` shows the errors.
    if (isConnected) callAdmin<ApiDescription>('GET', '/openapi.json').then(setApi, () => undefined);
  }, [isConnected]);

  const act: SectionProps['act'] = async (method, path, body) => {
    setRefusal(undefined);
    try {
      return await callAdmin(method, scope + path, body);
    } catch (error) {
      setRefusal({ path, message: asError(error).message });
      return undefined;
    } finally {
      if (path === '/requests') setEntries([]);
      await load();
    }
  };
  const needsToken = lost instanceof AdminApiError && lost.status === 401;
  const problem = lost?.message ?? ''; // why the state could not be read
  const bodySchema: SectionProps['bodySchema'] = (path) => schemaIn(api, path);
  const connect = () => setConnection(connection + 1);
  return { view, spaces, entries, problem, refusal, needsToken, act, bodySchema, connect };
}

interface ApiDescription {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly requestBody: RequestBody } }>>;
}

interface RequestBody {
  readonly content: Readonly<Record<'application/json', { readonly schema: unknown }>>;
}

function schemaIn<Schema>(api: ApiDescription | undefined, path: string): Schema | undefined {
  // The caller's type describes the body of its route.
  return api?.paths[path]?.post?.requestBody.content['application/json'].schema as Schema | undefined;
}

/** Returns a function that ends it. */
function followMock(scope: string, load: () => Promise<void>, setEntries: ChangeEntries): () => void {
  const end = new AbortController();
  const loadOnce = oneAtATime(load, end.signal);
  // The stream ends with its space, and another space can have the name. `load` shows the errors.
  const follow = () =>
    followEntries(scope, setEntries, { signal: end.signal, onShown: loadOnce }).catch(() => undefined);
  const followOnce = oneAtATime(follow, end.signal);
  setEntries(() => []);
  loadOnce();
  followOnce();
  const stop = everySecond(() => {
    loadOnce();
    followOnce();
  });
  return () => {
    end.abort();
    stop();
  };
}

/** Each request changes the gauges, but a burst must not cause as many updates. */
function oneAtATime(load: () => Promise<void>, signal: AbortSignal): () => void {
  let isLoading = false;
  return () => {
    if (isLoading || signal.aborted) return;
    isLoading = true;
    void load().finally(() => {
      isLoading = false;
    });
  };
}

function asError(error: unknown): Error {
  if (error instanceof AdminApiError) return error;
  return new Error('The mock server does not respond. After you restart it, open the address that it prints.');
}

async function readView(scope: string): Promise<MockView> {
  const [clock, accounts, keys, switches, faults, stubs] = await Promise.all([
    callAdmin<ClockState>('GET', `${scope}/clock`),
    callAdmin<MockView['accounts']>('GET', `${scope}/accounts`),
    callAdmin<MockView['keys']>('GET', `${scope}/keys?limit=200`),
    callAdmin<MockView['switches']>('GET', `${scope}/behaviour`),
    callAdmin<MockView['faults']>('GET', `${scope}/faults`),
    callAdmin<MockView['stubs']>('GET', `${scope}/stubs`),
  ]);
  return { clock, accounts, keys, switches, faults, stubs };
}

type ChangeEntries = (update: (entries: readonly JournalEntry[]) => readonly JournalEntry[]) => void;

interface Following {
  readonly signal: AbortSignal;
  readonly onShown: () => void;
}

/** Many requests at once become one change of the page. */
async function followEntries(scope: string, change: ChangeEntries, { signal, onShown }: Following): Promise<void> {
  let fresh: JournalEntry[] = [];
  const show = () => {
    const newest = fresh.reverse();
    fresh = [];
    if (signal.aborted) return;
    change((entries) => [...newest, ...since(newest, entries)].slice(0, MOST_ENTRIES));
    onShown();
  };
  await followJournal(
    scope,
    (entry) => {
      if (fresh.length === 0) requestAnimationFrame(show);
      fresh.push(entry);
      if (fresh.length > MOST_ENTRIES) fresh.shift();
    },
    signal,
  );
}

/** The entries before `newest`; none when the journal has begun anew, and with it the numbers. */
function since(newest: readonly JournalEntry[], entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const isAnew = (newest.at(-1)?.number ?? 0) <= (entries[0]?.number ?? 0);
  return isAnew ? [] : entries;
}

/** Calls `act` every second while the page is visible. Returns a function that ends this. */
function everySecond(act: () => void): () => void {
  // biome-ignore lint/plugin: the panel shows a running mock, in real time
  const timer = setInterval(() => {
    if (!document.hidden) act();
  }, 1000);
  return () => clearInterval(timer);
}

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
class AdminApiError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** One call of the admin API. A string is sent as it is, as JSON. */
async function callAdmin<Result>(method: string, path: string, body?: unknown): Promise<Result> {
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
async function followJournal(
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
