import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { readFile, realpath, unlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseJson } from '../../json.ts';
import { processState } from '../../process-state.ts';
import { replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { systemNow } from '../clock/driven-clock.ts';
import { pause } from '../clock/event-loop.ts';
import type { MockCore } from '../mock-core.ts';
import { MockServerError, show, within } from '../mock-server-error.ts';
import { checkedSnapshot, restoreSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';

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
  const document = parseJson(text);
  if (typeof document !== 'object' || document === null) throw damaged(path, 'it is not a JSON object');
  const { format, version, savedAt, snapshot } = document as Readonly<Record<string, unknown>>;
  if (format !== FORMAT)
    throw unusable(path, 'is not the state of a mock server and was not changed; use another file');
  if (version !== STATE_VERSION) {
    const text = `has version ${show(version)}, but this release of fxrates reads version ${STATE_VERSION}`;
    throw unusable(path, `${text}; use the release that wrote it, or ${BEGIN_ANEW}`);
  }
  if (typeof savedAt !== 'number' || savedAt < 0 || savedAt > LATEST_MS) throw damaged(path, 'savedAt is no time');
  return { savedAt, snapshot: checked(path, snapshot) };
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
interface StateLock {
  /** Whether another server has replaced the lock: one that cannot see this process, such as in another container. */
  isLost(): Promise<boolean>;
  release(): Promise<void>;
}

/** The locks of this process: one with its pid that is not here is of a dead process with the same pid. */
const heldLocks = () => processState('state-locks.2', () => new Set<string>());

/**
 * Locks a state file with `<path>.lock`, which contains the id of the process. Throws `MockServerError` with code
 * `state_in_use`, if that process is running. The lock of a dead process is replaced.
 */
async function lockState(path: string): Promise<StateLock> {
  // The real path, so that a link to the file is the same state.
  const lockPath = `${await realpath(path).catch(() => resolve(path))}.lock`;
  const lock = `${process.pid} ${randomBytes(8).toString('hex')}`;
  const readLock = () => readWithoutWaiting(lockPath).then(String, () => lock);
  const write = () => writeFile(lockPath, lock, { flag: 'wx', mode: 0o600 });
  await write().catch(async (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw unwritable(path, cause);
    const found = await readLock();
    if (isAlive(found)) throw inUse(path, lockPath, Number.parseInt(found, 10));
    // Removed, not overwritten: it can be a link to another file.
    await unlink(lockPath)
      .then(write)
      .catch((reason) => {
        throw unwritable(path, reason);
      });
  });
  heldLocks().add(lock);
  const isLost = async () => (await readLock()) !== lock;
  return {
    isLost,
    async release() {
      heldLocks().delete(lock);
      if (!(await isLost())) await unlink(lockPath).catch(() => undefined);
    },
  };
}

function inUse(path: string, lockPath: string, pid: number): MockServerError {
  const text = `The state file ${path} is in use by another server, process ${pid}; stop it, or use another file. If that process is not a mock server, delete ${lockPath}.`;
  return new MockServerError(text, { code: 'state_in_use' });
}

/** Whether the process that wrote a lock is running. */
function isAlive(lock: string): boolean {
  const pid = Number.parseInt(lock, 10);
  if (!(pid > 0) || pid === process.pid) return heldLocks().has(lock);
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
