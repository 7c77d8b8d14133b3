import { useCallback, useEffect, useState } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import { AdminApiError, ask, followJournal } from './admin-api.ts';
import type { ClockState, MockView, SectionProps } from './mock-view.ts';

/** As many as the mock itself keeps unless told. */
const MOST_ENTRIES = 1000;

export interface MockState {
  readonly view: MockView | undefined;
  readonly entries: readonly JournalEntry[];
  /** Why the mock cannot be looked at; empty when it can. */
  readonly problem: string;
  readonly refusal: SectionProps['refusal'];
  readonly needsToken: boolean;
  readonly act: SectionProps['act'];
  readonly connect: () => void;
}

/** The mock as it is now: read once, followed by its events, looked at again every second. */
export function useMock(): MockState {
  const [view, setView] = useState<MockView>();
  const [entries, setEntries] = useState<readonly JournalEntry[]>([]);
  const [lost, setLost] = useState<Error>();
  const [refusal, setRefusal] = useState<SectionProps['refusal']>();
  const [connection, setConnection] = useState(0);
  const load = useCallback(async () => {
    try {
      setView(await readView());
      setLost(undefined);
    } catch (error) {
      setLost(asError(error));
    }
  }, []);

  useEffect(() => stayInTouch(load, setEntries), [connection]);

  const act: SectionProps['act'] = async (method, path, body) => {
    setRefusal(undefined);
    try {
      return await ask(method, path, body);
    } catch (error) {
      setRefusal({ path, message: asError(error).message });
      return undefined;
    } finally {
      if (path === '/requests') setEntries([]);
      await load();
    }
  };
  const needsToken = lost instanceof AdminApiError && lost.status === 401;
  const problem = lost?.message ?? '';
  return { view, entries, problem, refusal, needsToken, act, connect: () => setConnection(connection + 1) };
}

/** Gives a function that ends it. */
function stayInTouch(load: () => Promise<void>, setEntries: Change): () => void {
  const end = new AbortController();
  void load();
  // What the stream fails of, the next look fails of too.
  void followEntries(setEntries, end.signal).catch(() => undefined);
  const stop = everySecond(() => void load());
  return () => {
    end.abort();
    stop();
  };
}

function asError(error: unknown): Error {
  if (error instanceof AdminApiError) return error;
  return new Error('The mock server does not answer. When it runs again, open the address that it shows then.');
}

async function readView(): Promise<MockView> {
  const [clock, accounts, keys, switches, mails, faults] = await Promise.all([
    ask<ClockState>('GET', '/clock'),
    ask<MockView['accounts']>('GET', '/accounts'),
    ask<MockView['keys']>('GET', '/keys'),
    ask<MockView['switches']>('GET', '/behaviour/describe'),
    ask<MockView['mails']>('GET', '/outbox'),
    ask<MockView['faults']>('GET', '/faults'),
  ]);
  return { clock, accounts, keys, switches, mails, faults };
}

type Change = (update: (entries: readonly JournalEntry[]) => readonly JournalEntry[]) => void;

/** Many requests at once become one change of the page. */
async function followEntries(change: Change, signal: AbortSignal): Promise<void> {
  let fresh: JournalEntry[] = [];
  const show = () => {
    const newest = fresh.reverse();
    fresh = [];
    change((entries) => [...newest, ...since(newest, entries)].slice(0, MOST_ENTRIES));
  };
  change(() => []);
  await followJournal(
    0,
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

/** Calls `act` every second while the page is looked at; gives a function that ends it. */
export function everySecond(act: () => void): () => void {
  // biome-ignore lint/plugin: whoever looks at the panel lives in real time
  const timer = setInterval(() => {
    if (!document.hidden) act();
  }, 1000);
  return () => clearInterval(timer);
}
