import { randomBytes } from 'node:crypto';
import { constants, readlinkSync } from 'node:fs';
import { open, readFile, realpath, rename, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { processState } from '../../process-state.ts';
import { replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { pause, repeat } from '../clock/event-loop.ts';
import { systemNow } from '../clock/real-clock.ts';
import type { MockCore } from '../mock-core.ts';
import { MockServerError, show, within } from '../mock-server-error.ts';
import { checkedSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';
import { restoreSnapshot } from './snapshots.ts';

/** Writes the state of a mock to a file, soon after each change and when the mock is closed. */
export class StatePersister {
  readonly #path: string;
  readonly #mock: MockCore;
  readonly #lock: StateLock;
  #hasChanged = false;
  #saving: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(path: string, mock: MockCore, lock: StateLock) {
    this.#path = path;
    this.#mock = mock;
    this.#lock = lock;
  }

  /**
   * Locks the file and restores its state, if the file exists. Throws `MockServerError` with code `state_in_use` if
   * another server uses it.
   */
  static async open(path: string, mock: MockCore): Promise<StatePersister> {
    const lock = await lockState(path);
    try {
      const saved = await readStateFile(path);
      if (saved !== undefined) within(path, () => restoreSnapshot(mock, broughtUpToDate(saved, mock)));
      const persister = new StatePersister(path, mock, lock);
      await persister.#write(); // throws if the file cannot be written
      return persister;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The state may have changed. The first change is written immediately; changes soon after it are written together. */
  noteChange(): void {
    this.#hasChanged = true;
    this.#saving ??= this.#saveChanges().catch((error: unknown) => {
      process.emitWarning(error instanceof Error ? error.message : String(error), 'FxratesMockWarning');
      this.#saving = undefined;
    });
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#saving;
    await this.#write().finally(() => this.#lock.release());
  }

  async #saveChanges(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false;
      const startedAt = systemNow();
      await this.#write();
      await pause(Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WRITE * (systemNow() - startedAt)), signal);
    }
    this.#saving = undefined;
  }

  /** Unlocks the file without writing to it. */
  async abandon(): Promise<void> {
    await this.#lock.release();
  }

  async #write(): Promise<void> {
    if (await this.#lock.isLost()) {
      const text = `The state file ${this.#path} is now in use by another server; this server no longer writes to it.`;
      throw new MockServerError(text, { code: 'state_in_use' });
    }
    const snapshot = takeSnapshot(this.#mock);
    await writeStateFile(this.#path, { savedAt: systemNow(), snapshot });
  }
}

const SHORTEST_PAUSE_MS = 200;
/** The pause after a write is nine times as long, so writing a large state takes a tenth of the time. */
const PAUSE_PER_WRITE = 9;

/** Adds the real time that has passed since the snapshot was written. */
function broughtUpToDate(
  { savedAt, snapshot }: { readonly savedAt: number; readonly snapshot: Snapshot },
  { clock }: MockCore,
): Snapshot {
  if (clock.mode === 'virtual' || snapshot.frozen) return snapshot;
  return { ...snapshot, now: Math.min(LATEST_MS, snapshot.now + Math.max(0, systemNow() - savedAt)) };
}

/** Content of a state file. */
interface SavedState {
  /** By the machine's clock, in milliseconds since the Unix epoch. */
  readonly savedAt: number;
  readonly snapshot: Snapshot;
}

const FORMAT = 'fxrates-mock-state';
const STATE_VERSION = 1;

/**
 * The state in the file; `undefined` without a file. Throws `MockServerError` with code `state_unusable`, if the file
 * cannot be read, is damaged, or is of another version. The message names the file and the next step.
 */
export async function readStateFile(path: string): Promise<SavedState | undefined> {
  const bytes = await readWithoutWaiting(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read (${cause.code}); fix the cause, or use another file`, cause);
  });
  if (bytes === undefined) return undefined;
  const text = utf8Text(bytes);
  if (text === undefined) throw damaged(path, UTF16_PROBLEM);
  const { savedAt, snapshot } = parse(path, text);
  if (!isTime(savedAt)) throw damaged(path, 'savedAt is no time');
  return { savedAt, snapshot: checked(path, snapshot) };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LATEST_MS;
}

/** Reads a file. A pipe without a writer is empty; by default, reading it would never end. */
function readWithoutWaiting(path: string): Promise<Buffer> {
  return readFile(path, { flag: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) }); // Windows has no O_NONBLOCK
}

/** Replaces the file in one step. The temporary file has a fixed name, because the lock allows only one writer. */
export async function writeStateFile(path: string, { savedAt, snapshot }: SavedState): Promise<void> {
  const text = `${JSON.stringify({ format: FORMAT, version: STATE_VERSION, savedAt, snapshot })}\n`;
  await replaceFile(path, text, { isPrivate: true, suffix: 'tmp' }).catch((cause) => {
    throw unwritable(path, cause);
  });
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  const document = parsedDocument(path, text);
  if (document['format'] !== FORMAT) {
    throw unusable(path, 'is not the state of a mock server and was not changed; use another file');
  }
  const { version } = document;
  if (version === STATE_VERSION) return document;
  throw unusable(
    path,
    `has version ${show(version)}, but this release of fxrates reads version ${STATE_VERSION}; use the release that wrote it, or ${BEGIN_ANEW}`,
  );
}

function parsedDocument(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null) return document as Record<string, unknown>;
  } catch {
    // Reported below, because the message of the parser contains text of the file.
  }
  throw damaged(path, 'it is not a JSON object');
}

function checked(path: string, snapshot: unknown): Snapshot {
  try {
    return checkedSnapshot(snapshot);
  } catch (error) {
    throw error instanceof MockServerError ? damaged(path, error.message.replace(/\.$/, '')) : error;
  }
}

const BEGIN_ANEW = 'move it away to start with an empty state';

function damaged(path: string, what: string): MockServerError {
  return unusable(path, `is damaged: ${what}; restore a copy, or ${BEGIN_ANEW}`);
}

function unwritable(path: string, cause: unknown): MockServerError {
  const { code } = cause as NodeJS.ErrnoException; // of node:fs
  return unusable(path, `cannot be written (${code}); check permissions and free space, or use another file`, cause);
}

function unusable(path: string, what: string, cause?: unknown): MockServerError {
  return new MockServerError(`The state file ${path} ${what}.`, { code: 'state_unusable', cause });
}

/** The right of one server to write a state file. */
export interface StateLock {
  /** Whether another server has replaced the lock, because this process was suspended for seconds. */
  isLost(): Promise<boolean>;
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  /** The machine or container in which `pid` is valid. */
  readonly host: string;
  readonly id: string;
}

type Wait = (ms: number) => Promise<void>;

/** Ids of the locks of this process: a lock with its pid and another id is of a dead process with the same pid. */
const heldIds = () => processState('state-locks.1', () => new Set<string>());

/**
 * Locks a state file with `<path>.lock`. Throws `MockServerError` with code `state_in_use`, after 3 s at most, if a
 * running server has the lock. The lock of a killed server is replaced.
 */
export async function lockState(path: string, { wait = pause } = {}): Promise<StateLock> {
  // The real path, so that a link to the file is the same state.
  const lockPath = `${await realpath(path).catch(() => resolve(path))}.lock`;
  const owner = { pid: process.pid, host: pidHost(), id: randomBytes(8).toString('hex') };
  heldIds().add(owner.id);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    if (await create(path, lockPath, owner)) return holdLock(lockPath, owner.id);
    const found = await readOwner(lockPath);
    if (await isAlive(lockPath, found, wait)) break;
    if (await takeOver({ path, lockPath, dead: found, wait }, owner)) return holdLock(lockPath, owner.id);
  }
  heldIds().delete(owner.id);
  const text = `The state file ${path} is in use by another server; stop that server, or use another file.`;
  throw new MockServerError(text, { code: 'state_in_use' });
}

/** Containers can have the same host name, but not the same namespace of pids (pid_namespaces(7)). */
export function pidHost(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // not Linux: no containers with their own pids
  }
}

const MOST_ATTEMPTS = 3;
const BEAT_MS = 1000;
/** Three intervals, because a busy machine may miss one. */
const OBSERVED_MS = 3 * BEAT_MS;

async function create(path: string, lockPath: string, owner: Owner): Promise<boolean> {
  try {
    const file = await open(lockPath, 'wx', 0o600);
    await file.writeFile(JSON.stringify(owner)).finally(() => file.close());
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(path, cause);
  }
}

/**
 * Whether the owner is running: on this machine by its pid. On another machine or in another container, or if the pid is
 * reused, a running owner updates the time of the lock.
 */
async function isAlive(lockPath: string, owner: Owner | undefined, wait: Wait): Promise<boolean> {
  if (owner !== undefined && heldIds().has(owner.id)) return true;
  if (owner?.host === pidHost() && (owner.pid === process.pid || !isRunning(owner.pid))) return false;
  const before = await touchedAt(lockPath);
  await wait(OBSERVED_MS);
  return before !== (await touchedAt(lockPath));
}

interface DeadLock {
  readonly path: string;
  readonly lockPath: string;
  readonly dead: Owner | undefined;
  readonly wait: Wait;
}

/**
 * Replaces the lock of a killed owner. Of several servers that start at the same time, only one can create the file
 * that is named after that owner. It checks the owner again and renames the file to the lock in one step.
 */
async function takeOver({ path, lockPath, dead, wait }: DeadLock, owner: Owner): Promise<boolean> {
  const claimPath = `${lockPath}.${/^[0-9a-f]{16}$/.exec(dead?.id ?? '')?.[0] ?? 'unknown'}`;
  if (!(await create(path, claimPath, owner))) {
    // Another server has just created it, or was killed before the rename.
    if (!(await isAlive(claimPath, await readOwner(claimPath), wait))) await unlink(claimPath).catch(() => undefined);
    return false;
  }
  if ((await readOwner(lockPath))?.id === dead?.id) {
    await rename(claimPath, lockPath);
    return true;
  }
  await unlink(claimPath);
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function readOwner(lockPath: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(String(await readWithoutWaiting(lockPath)));
  } catch {
    // Removed, or not written yet.
    return undefined;
  }
}

async function touchedAt(lockPath: string): Promise<number> {
  return await stat(lockPath).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function holdLock(lockPath: string, id: string): StateLock {
  const isLost = async () => {
    const owner = await readOwner(lockPath);
    return owner !== undefined && owner.id !== id;
  };
  const beat = async () => {
    if (!(await isLost())) await utimes(lockPath, systemNow() / 1000, systemNow() / 1000);
  };
  const stop = repeat(BEAT_MS, () => void beat().catch(() => undefined));
  return {
    isLost,
    async release() {
      stop();
      heldIds().delete(id);
      if (!(await isLost())) await unlink(lockPath).catch(() => undefined);
    },
  };
}
