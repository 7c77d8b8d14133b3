import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../utf8-text.ts';
import { MockServerError, show } from '../mock-server-error.ts';
import type { Snapshot } from '../service/snapshot.ts';
import { checkedSnapshot } from './snapshot-shape.ts';

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
  if (typeof savedAt !== 'number') throw damaged(path, 'savedAt must be a number');
  return { savedAt, snapshot: checked(path, snapshot) };
}

/** Reads a file. A pipe without a writer is empty; by default, reading it would never end. */
export function readWithoutWaiting(path: string): Promise<Buffer> {
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

export function unwritable(path: string, cause: unknown): MockServerError {
  const { code } = cause as NodeJS.ErrnoException; // of node:fs
  return unusable(path, `cannot be written (${code}); check permissions and free space, or use another file`, cause);
}

function unusable(path: string, what: string, cause?: unknown): MockServerError {
  return new MockServerError(`The state file ${path} ${what}.`, { code: 'state_unusable', cause });
}
