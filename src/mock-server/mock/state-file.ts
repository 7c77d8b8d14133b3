import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { parseJson } from '../../json.ts';
import { replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { systemNow } from '../clock/driven-clock.ts';
import { pause } from '../clock/event-loop.ts';
import { MockServerError, show, within } from '../input/mock-server-error.ts';
import type { MockState } from './mock-state.ts';
import { checkedSnapshot, restoreSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';

/** Writes the state of a mock to a file, soon after each request to its server and when that is closed. */
export class StatePersister {
  readonly #path: string;
  readonly #mock: MockState;
  /** The file that this server has written last; `undefined` before the first. */
  #written: string | undefined;
  #hasChanged = false;
  #saving: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(path: string, mock: MockState) {
    this.#path = path;
    this.#mock = mock;
  }

  /** Restores the state of the file, if it exists, and writes it. */
  static async open(path: string, mock: MockState): Promise<StatePersister> {
    const saved = await readStateFile(path);
    if (saved !== undefined) within(path, () => restoreSnapshot(mock, broughtUpToDate(saved, mock)));
    const persister = new StatePersister(path, mock);
    await persister.#write(); // throws if the file cannot be written
    return persister;
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
    await this.#write();
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
    const found = await identityOf(this.#path);
    if (found !== undefined && this.#written !== undefined && found !== this.#written) {
      this.#closing.abort(); // no later change is written
      const text = `The state file ${this.#path} was changed by another program, such as a second server; this server no longer writes to it. Use a file for each server.`;
      throw new MockServerError(text, { code: 'state_in_use' });
    }
    const snapshot = takeSnapshot(this.#mock);
    await writeStateFile(this.#path, { savedAt: systemNow(), snapshot });
    this.#written = await identityOf(this.#path);
  }
}

/** Identifies the content of a file: each write changes it. `undefined` if there is no file. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && `${found.ino} ${found.mtimeMs}`;
}

const SHORTEST_PAUSE_MS = 200;
/** The pause after a write is nine times as long, so writing a large state takes a tenth of the time. */
const PAUSE_PER_WRITE = 9;

/** Adds the real time that has passed since the snapshot was written. */
function broughtUpToDate(
  { savedAt, snapshot }: { readonly savedAt: number; readonly snapshot: Snapshot },
  { clock }: MockState,
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

/** Replaces the file in one step. It also removes the temporary file that a killed process has left. */
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
