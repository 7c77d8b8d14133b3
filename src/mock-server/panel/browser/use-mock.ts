import { useCallback, useEffect, useState } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import { AdminApiError, callAdmin, followJournal } from './admin-api.ts';
import type { ClockState, MockView, SectionProps } from './mock-view.ts';

/** The default `journalSize` of the mock. */
const MOST_ENTRIES = 1000;

/** The current state of the mock or a space: read once, updated by events and every second. */
export function useMock(space: string) {
  const scope = space === '' ? '' : `/spaces/${encodeURIComponent(space)}`;
  const [view, setView] = useState<MockView>();
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
  return { view, spaces, entries, problem, refusal, needsToken, act, connect: () => setConnection(connection + 1) };
}

/** Returns a function that ends it. */
function followMock(scope: string, load: () => Promise<void>, setEntries: Change): () => void {
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
  const [clock, accounts, keys, limits, switches, faults, stubs] = await Promise.all([
    callAdmin<ClockState>('GET', `${scope}/clock`),
    callAdmin<MockView['accounts']>('GET', `${scope}/accounts`),
    callAdmin<MockView['keys']>('GET', `${scope}/keys`),
    callAdmin<MockView['limits']>('GET', `${scope}/limits`),
    callAdmin<MockView['switches']>('GET', `${scope}/behaviour/describe`),
    callAdmin<MockView['faults']>('GET', `${scope}/faults`),
    callAdmin<MockView['stubs']>('GET', `${scope}/stubs`),
  ]);
  return { clock, accounts, keys, limits, switches, faults, stubs };
}

type Change = (update: (entries: readonly JournalEntry[]) => readonly JournalEntry[]) => void;

interface Following {
  readonly signal: AbortSignal;
  readonly onShown: () => void;
}

/** Many requests at once become one change of the page. */
async function followEntries(scope: string, change: Change, { signal, onShown }: Following): Promise<void> {
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
