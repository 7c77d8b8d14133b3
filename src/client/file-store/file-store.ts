import { createHash } from 'node:crypto';
import * as nodeFiles from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { processState } from '../../process-state.ts';
import { folderProblem, makeFolder } from '../../replace-file.ts';
import { ConfigError } from '../errors/errors.ts';
import type { LimitExchange, LimitOffer, LimitStore } from '../limits/shared/limit-store.ts';
import { having, requireKnownNames } from '../options/checks.ts';
import { realClock } from '../time/clock.ts';
import { type FileContent, type Files, StateFolder, type StoredState } from './state-folder.ts';

/** Options of `fileStore()`. */
export interface FileStoreOptions {
  /**
   * Source of the store's time, for tests. If omitted, the store uses the clock of the host.
   *
   * @default undefined
   * @example { now: () => 1_768_000_000_000 }
   */
  readonly clock?: { now(): number } | undefined;
}

/**
 * Creates a store through which the processes of one user on one host share the limit of a key. It is a folder on a local
 * disk. For several hosts, or a network file system such as NFS, use `fxrates/redis`.
 *
 * The folder is readable by its owner only. It contains a few kB per API key and origin, with a SHA-256 of the API key, never
 * the key. If the folder cannot be used, the client warns once, and each process limits itself. Two calls with the same path
 * return the same store, unless they have a clock.
 *
 * @param path the folder; by default `$XDG_STATE_HOME/fxrates/limits`, else `~/.local/state/fxrates/limits`, on Windows
 *   `%LOCALAPPDATA%\fxrates\limits`
 * @example new FxRates({ rateLimit: { store: fileStore() } })
 * @throws {ConfigError} if an option is wrong, or the path is empty, begins with `~`, or is omitted by a user without a home folder
 */
export function fileStore(path: string = defaultFolder(), options: FileStoreOptions = {}): LimitStore {
  if (typeof path !== 'string' || path === '') {
    throw new ConfigError(`fileStore: expected the path of a folder, got ${path === '' ? "''" : typeof path}`);
  }
  if (path.startsWith('~')) {
    throw new ConfigError(`fileStore: only a shell replaces the ~ of '${path}'; pass join(homedir(), …)`);
  }
  requireKnownNames(options, ['clock'], 'fileStore options');
  const root = resolve(path);
  if (options.clock !== undefined) return createStore(root, clockOf('fileStore options.clock', options.clock));
  const store = stores.get(root) ?? createStore(root, realClock);
  stores.set(root, store);
  return store;
}

/** By folder. The clients of a key, also those of other copies of the package, warn of different stores. */
const stores = processState('file-stores.1', () => new Map<string, LimitStore>());

const clockOf = having<{ now(): number }>('an object with now()', 'now');

function createStore(root: string, clock: { now(): number }): LimitStore {
  const exchange = fileExchange(root, { now: () => clock.now(), files: nodeFiles });
  return { exchange: async (name, known, offer) => exchange(name, known, offer) };
}

interface FileAccess {
  readonly now: () => number;
  readonly files: Files;
}

/**
 * Files are read and written synchronously. An exchange takes about 0.03 ms, a fifth of the time with the promises of
 * `node:fs`, and blocks the process for less time than the parsing of a response.
 */
export function fileExchange(root: string, { now, files }: FileAccess) {
  /** The oldest first. */
  const folders = new Map<string, StateFolder>();
  let added = 0;
  const folderOf = (name: string): StateFolder => {
    const known = folders.get(name);
    if (known) return known;
    const hash = createHash('sha256').update(name).digest('hex'); // names contain characters that are not valid in file names
    const folder = new StateFolder(join(root, hash), files);
    folders.set(name, folder);
    const [oldest = ''] = folders.keys();
    if (folders.size > MOST_FOLDERS) folders.delete(oldest); // its state is read again
    return folder;
  };
  const read = (folder: StateFolder): FileContent => (hasOwnFolder(root, files) ? folder.read() : 'missing');

  const write = (folder: StateFolder, content: FileContent, stored: StoredState): boolean => {
    if (content !== 'missing') return folder.replace(content, stored);
    makeFolder(root, 0o700, files);
    hasOwnFolder(root, files);
    const isWritten = folder.replace(content, stored);
    if (!isWritten) return false;
    if (added % ADDED_FOLDERS === 0) folder.removeUnused();
    added += 1;
    return true;
  };

  return (name: string, known: string, offer?: LimitOffer): LimitExchange => {
    const folder = folderOf(name);
    const nowMs = now();
    const content = folder.unchanged() ?? read(folder);
    const { version: current = '' } = usableAt(content, nowMs) ?? {};
    const isAccepted = offer && current === known && Math.abs(offer.nowMs - nowMs) <= MAX_SKEW_MS;
    if (!isAccepted) return toExchange(content, known, nowMs);
    const { version, state, keepMs } = offer;
    const isWritten = write(folder, content, { version, state, keepMs, writtenAtMs: nowMs });
    if (isWritten) return { isWritten, version, state: '', nowMs };
    return toExchange(read(folder), known, nowMs);
  };
}

/** A process keeps the last state of so many keys. */
const MOST_FOLDERS = 1_000;
/** A process looks for unused folders when it adds its first one, and then once per so many: it reads all of them. */
const ADDED_FOLDERS = 100;

/** A writer whose estimate of the store's time differs by more is rejected, because its decisions use wrong times. */
const MAX_SKEW_MS = 1_000;

function toExchange(content: FileContent, known: string, nowMs: number): LimitExchange {
  const { version, state } = usableAt(content, nowMs) ?? { version: '', state: '' };
  return { isWritten: false, version, state: version === known ? '' : state, nowMs };
}

/** `undefined` for a state that is too old, or that was written before the clock was set back. */
function usableAt(content: FileContent, nowMs: number): StoredState | undefined {
  const stored = typeof content === 'string' ? undefined : content.stored;
  return stored && Math.abs(nowMs - stored.writtenAtMs) < stored.keepMs ? stored : undefined;
}

const STICKY = 0o1000;
const SET_GROUP_ID = 0o2000;
const WRITABLE_BY_OTHERS = 0o022;

/** Whether the folder exists. Throws if other users can change its content, or if it is a link. */
function hasOwnFolder(path: string, files: Files): boolean {
  const stats = files.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isSymbolicLink()) throw new Error(`${path} is a symbolic link, expected a folder`);
  if (!stats.isDirectory()) throw new Error(`${path} is not a folder`);
  // Such as /tmp: it must stay writable for its other users.
  if ((stats.mode & (STICKY | SET_GROUP_ID)) !== 0 && (stats.mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Error(`${path} is shared with other users; pass a folder in it: fileStore('${join(path, 'fxrates')}')`);
  const problem = folderProblem(path, stats);
  if (problem !== undefined) throw new Error(problem);
  return true;
}

/** The folder of the state if no path is given. @throws {ConfigError} without a home folder */
export function defaultFolder(
  { XDG_STATE_HOME, LOCALAPPDATA }: Readonly<Record<string, string | undefined>> = process.env,
  home: () => string = homedir,
  platform: typeof process.platform = process.platform,
): string {
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'fxrates', 'limits'); // the XDG specification: ignore a relative path
  if (LOCALAPPDATA && platform === 'win32') return join(LOCALAPPDATA, 'fxrates', 'limits');
  return join(homeFolder(home), '.local', 'state', 'fxrates', 'limits');
}

function homeFolder(home: () => string): string {
  try {
    const path = home();
    if (isAbsolute(path)) return path;
  } catch {
    // A user without an entry in the system has no home folder.
  }
  throw new ConfigError('fileStore: the user has no home folder; pass the path of a folder: fileStore(path)');
}
