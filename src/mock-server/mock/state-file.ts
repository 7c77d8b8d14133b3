import { constants, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../../foreign-values.ts';
import { parseJson } from '../../json.ts';
import { replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { systemNow } from '../clock/driven-clock.ts';
import { monotonicNow, nextTurn, pause } from '../clock/event-loop.ts';
import { MockServerError, show } from '../input/mock-server-error.ts';
import type { MockState } from './mock-state.ts';
import { checkedSnapshot, restoreSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';
import { StateLock } from './state-lock.ts';

/** Writes the state of a mock to a file: soon after each request that can change it, and when the mock is closed. */
export class StateFile {
  readonly #path: string;
  readonly #mock: MockState;
  readonly #lock: StateLock;
  #hasChanged = false;
  #saving: Promise<void> | undefined;
  /** Never rejects. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  private constructor(path: string, mock: MockState, lock: StateLock) {
    this.#path = path;
    this.#mock = mock;
    this.#lock = lock;
  }

  /** Restores the state of the file, if it exists. If it throws, the mock has not changed. */
  static open(given: string, mock: MockState): StateFile {
    const path = realPathOf(resolve(given)); // the working directory can change
    const lock = lockOf(path);
    try {
      const saved = readStateFile(path, mock.behaviour);
      if (saved !== undefined) restoreSnapshot(mock, broughtUpToDate(saved, mock));
      removeUnfinished(path);
    } catch (error) {
      lock.release();
      throw error;
    }
    const file = new StateFile(path, mock, lock);
    mock.noteChange = () => file.noteChange();
    return file;
  }

  /** The state may have changed. The first change is written immediately; changes soon after it are written together. */
  noteChange(): void {
    this.#hasChanged = true;
    if (this.#closing.signal.aborted) return;
    this.#saving ??= this.#saveChanges().catch((error: unknown) => {
      process.emitWarning(error instanceof Error ? error.message : String(error), 'FxratesMockWarning');
      this.#saving = undefined;
    });
  }

  /** Writes the current state, after any write that has begun. Throws if the file cannot be written. */
  write(): Promise<void> {
    const written = this.#lastWrite.then(() => this.#writeNow());
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async #writeNow(): Promise<void> {
    if (!this.#isLocked()) {
      this.#closing.abort(); // no later change is written
      const text = `The state file ${this.#path} is now in use by another mock server; this one no longer writes to it. Use a file for each server.`;
      throw new MockServerError(text, { code: 'state_in_use', status: 409 });
    }
    await writeStateFile(this.#path, { savedAt: systemNow(), snapshot: takeSnapshot(this.#mock) });
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#saving;
    await this.write().finally(() => this.#lock.release());
  }

  #isLocked(): boolean {
    try {
      return this.#lock.isOurs();
    } catch (cause) {
      throw unwritable(this.#path, cause);
    }
  }

  async #saveChanges(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#hasChanged && !signal.aborted) {
      await nextTurn(); // the request that caused the change ends
      this.#hasChanged = false;
      const startedAt = monotonicNow();
      await this.write();
      await pause(Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WRITE * (monotonicNow() - startedAt)), signal);
    }
    this.#saving = undefined;
  }
}

function lockOf(path: string): StateLock {
  try {
    return StateLock.acquire(path);
  } catch (error) {
    throw error instanceof MockServerError ? error : unwritable(path, error);
  }
}

const UNFINISHED = /^\.[0-9a-f-]{36}\.tmp$/;

/** Removes the files that killed processes have left beside the state file, by the names that `replaceFile` gives them. */
function removeUnfinished(path: string): void {
  const own = basename(path);
  const isUnfinished = (name: string) => name.startsWith(own) && UNFINISHED.test(name.slice(own.length));
  for (const name of readdirSync(dirname(path)).filter(isUnfinished))
    rmSync(join(dirname(path), name), { force: true });
}

const SHORTEST_PAUSE_MS = 200;
/** The pause after a write is nine times as long, so writing a large state takes a tenth of the time. */
const PAUSE_PER_WRITE = 9;

/** Adds the real time that has passed since the snapshot was written. */
function broughtUpToDate({ savedAt, snapshot }: SavedState, { clock }: MockState): Snapshot {
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
export function readStateFile(path: string, behaviour: Behaviour): SavedState | undefined {
  const bytes = readIfThere(path);
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
  return { savedAt, snapshot: checked(path, () => checkedSnapshot(snapshot, behaviour)) };
}

/**
 * Reads a file; `undefined` without one, and for an empty file, such as one of `mktemp` or one created for a mount. A pipe
 * without a writer is empty; by default, reading it would never end.
 */
function readIfThere(path: string): Buffer | undefined {
  try {
    // Windows has no O_NONBLOCK.
    const flag = (constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) as unknown as string;
    const bytes = readFileSync(path, { flag });
    return bytes.length === 0 && statSync(path).isFile() ? undefined : bytes;
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read (${code}); fix the cause, or use another file`, cause);
  }
}

/** Replaces the file in one step. */
export async function writeStateFile(path: string, { savedAt, snapshot }: SavedState): Promise<void> {
  const text = `${JSON.stringify({ format: FORMAT, version: STATE_VERSION, savedAt, snapshot })}\n`;
  await replaceFile(path, text, { isPrivate: true }).catch((cause) => {
    throw unwritable(path, cause);
  });
}

function checked(path: string, check: () => Snapshot): Snapshot {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    throw unusable(path, `cannot be restored: ${error.message.replace(/\.$/, '')}; use a copy, or ${BEGIN_ANEW}`);
  }
}

const BEGIN_ANEW = 'move it away to start with an empty state';

function damaged(path: string, what: string): MockServerError {
  return unusable(path, `is damaged: ${what}; restore a copy, or ${BEGIN_ANEW}`);
}

function unwritable(path: string, cause: unknown): MockServerError {
  const code = codeOf(cause);
  return unusable(path, `cannot be written (${code}); check permissions and free space, or use another file`, cause);
}

function unusable(path: string, what: string, cause?: unknown): MockServerError {
  return new MockServerError(`The state file ${path} ${what}.`, { code: 'state_unusable', cause });
}

/** The same for each link to a file, so that one lock protects it. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it does not exist yet
  }
}
