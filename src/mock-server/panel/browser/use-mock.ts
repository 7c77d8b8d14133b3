import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ClockState, MOST_KEYS, type MockView, type RejectedCall, type SectionProps } from './mock-view.ts';

/** The current state of the mock or a space, read every second and after each change. */
export function useMock(space: string) {
  const scope = scopeOf(space);
  const chosen = useRef(scope);
  chosen.current = scope;
  const [read, setRead] = useState<{ readonly scope: string; readonly view: MockView }>();
  const [api, setApi] = useState<ApiDescription>();
  const [spaces, setSpaces] = useState<readonly string[]>([]);
  const [lost, setLost] = useState<Error>();
  const [refused, setRefused] = useState<RejectedCall & { readonly scope: string }>();
  const shown = useRef<ShownJournal>({ entries: [], journal: 0, changes: 0, total: 0 });
  const load = useCallback(async () => {
    try {
      setSpaces(await callAdmin<readonly string[]>('GET', '/spaces'));
      const view = await readView(scope, shown.current);
      if (chosen.current !== scope) return; // the user has chosen another one meanwhile
      const { entries, journal, changes, total } = view;
      shown.current = { entries, journal, changes, total };
      setRead({ scope, view });
      setLost(undefined);
    } catch (error) {
      if (chosen.current === scope) setLost(error as Error);
    }
  }, [scope]);

  useEffect(() => everySecond(load), [load]);
  const view = read?.scope === scope ? read.view : undefined;
  const isConnected = view !== undefined;
  useEffect(() => {
    // `load` shows the errors.
    if (isConnected) callAdmin<ApiDescription>('GET', '/openapi.json').then(setApi, () => undefined);
  }, [isConnected]);

  const act: SectionProps['act'] = async (method, path, body) => {
    setRefused(undefined);
    try {
      return await callAdmin(method, scope + path, body);
    } catch (error) {
      // `load` shows the other errors.
      if (error instanceof AdminApiError) setRefused({ scope, path, message: error.message });
      return undefined;
    } finally {
      await load();
    }
  };
  const needsToken = lost instanceof AdminApiError && lost.status === 401;
  const refusal = refused?.scope === scope ? refused : undefined;
  const problem = lost?.message ?? ''; // why the state could not be read
  const bodySchema: SectionProps['bodySchema'] = (path) => schemaIn(api, path);
  return { view, spaces, problem, refusal, needsToken, act, bodySchema, load };
}

/** The path of the admin API of a space. A browser would remove `..`, which no space has as its name. */
function scopeOf(space: string): string {
  if (space === '') return '';
  return `/spaces/${encodeURIComponent(/^\.\.?$/.test(space) ? `'${space}'` : space)}`;
}

/** As far as the panel reads it. */
interface ApiDescription {
  readonly paths: Readonly<
    Record<string, { readonly post?: { readonly requestBody: { readonly content: JsonContent } } }>
  >;
}

type JsonContent = Readonly<Record<'application/json', { readonly schema: unknown }>>;

function schemaIn<Schema>(api: ApiDescription | undefined, path: string): Schema | undefined {
  // The caller's type describes the body of its route.
  return api?.paths[path]?.post?.requestBody.content['application/json'].schema as Schema | undefined;
}

/** Calls `load` now and, while the page is visible, a second after each call. Returns a function that ends this. */
function everySecond(load: () => Promise<void>): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async () => {
    if (!document.hidden) await load();
    // biome-ignore lint/plugin: the panel shows a running mock, in real time
    if (!end.signal.aborted) timer = setTimeout(next, 1000);
  };
  void next();
  return () => {
    end.abort();
    clearTimeout(timer);
  };
}

type ShownJournal = Pick<MockView, 'entries' | 'journal' | 'changes' | 'total'>;

async function readView(scope: string, shown: ShownJournal): Promise<MockView> {
  const [clock, accounts, keys, switches, rules, journal] = await Promise.all([
    callAdmin<ClockState>('GET', `${scope}/clock`),
    callAdmin<MockView['accounts']>('GET', `${scope}/accounts`),
    callAdmin<MockView['keys']>('GET', `${scope}/keys?limit=${MOST_KEYS}`),
    callAdmin<MockView['switches']>('GET', `${scope}/behaviour`),
    callAdmin<MockView['rules']>('GET', `${scope}/rules`),
    readEntries(scope, shown),
  ]);
  return { clock, accounts, keys, switches, rules, ...journal };
}

/** The newest requests. They are read again only if the journal has changed. */
async function readEntries(scope: string, shown: ShownJournal): Promise<ShownJournal> {
  const newest = async (limit: number) => {
    const read = await callAdmin<ShownJournal>('GET', `${scope}/requests?limit=${limit}`);
    const { journal, changes, total } = read;
    return { entries: read.entries.toReversed(), journal, changes, total };
  };
  const last = await newest(1);
  const isShown = JSON.stringify(last) === JSON.stringify({ ...shown, entries: shown.entries.slice(0, 1) });
  return isShown ? shown : await newest(MOST_ENTRIES);
}

/** The default `journalSize` of the mock. */
const MOST_ENTRIES = 1000;

const STORED = 'fxrates-admin-token';

/**
 * The token is in the fragment of the printed address, which browsers do not send. It is removed from the address, and
 * stored for other tabs. It is not valid after the server ends.
 */
async function takeToken(): Promise<string> {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    history.replaceState(null, '', location.pathname + location.search);
    stored = stored.then(() => storeToken(given));
  }
  await stored;
  return localStorage.getItem(STORED) ?? '';
}

/** Resolves when the last token of the address is stored or refused. */
let stored: Promise<void> = Promise.resolve();

/** Any page can lead to an address with a token of its own, so the user is asked before it replaces one that works. */
async function storeToken(given: string): Promise<void> {
  const known = localStorage.getItem(STORED);
  if (known !== null && known !== given) {
    const headers = { authorization: `Bearer ${known}` };
    const isWorking = await fetch('/__fxrates/clock', { headers }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isWorking && !confirm('Replace the admin token of this panel, which works, by the one in the address?')) return;
  }
  localStorage.setItem(STORED, given);
}

export function hasToken(): boolean {
  return (localStorage.getItem(STORED) ?? '') !== '';
}

/** Also takes the printed address. Removes characters that no token has, such as invisible ones that were copied with it. */
export function keepToken(typed: string): void {
  localStorage.setItem(STORED, typed.replace(/^.*#token=/s, '').replace(/[^\w-]/g, ''));
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
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`/__fxrates${path}`, {
    method,
    headers: { authorization: `Bearer ${await takeToken()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: json }),
  }).catch(noResponse);
  if (response.ok) return JSON.parse((await response.text().catch(noResponse)) || 'null');
  const problem = await response.json().catch(() => undefined);
  throw new AdminApiError(
    problem?.error?.message ?? `The mock server responded with status ${response.status}.`,
    response.status,
  );
}

function noResponse(): never {
  throw new Error('The mock server does not respond. After you restart it, open the address that it prints.');
}
