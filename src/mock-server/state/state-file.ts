import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SWITCH_NAMES, switches } from '../behaviour/switches.ts';
import { MockServerError, show } from '../mock-server-error.ts';
import type { Snapshot } from '../service/snapshot.ts';

/** What a state file holds. */
export interface SavedState {
  /** By the machine's clock, in milliseconds since the Unix epoch. */
  readonly savedAt: number;
  readonly snapshot: Snapshot;
}

const FORMAT = 'fxrates-mock-state';
const STATE_VERSION = 1;

/**
 * The state in the file; `undefined` when there is no file. Throws `MockServerError` with code `state_unusable`, which
 * names the file and says what to do, for one that cannot be read, is damaged, or is not a state of this version.
 */
export async function readStateFile(path: string): Promise<SavedState | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw unusable(path, `cannot be read (${cause.code}); fix the cause, or use another file`, cause);
  });
  if (text === undefined) return undefined;
  const { savedAt, snapshot } = parse(path, text);
  if (typeof savedAt !== 'number') throw damaged(path, 'savedAt must be a number');
  return { savedAt, snapshot: await checked(path, snapshot) };
}

/**
 * Replaces the file in one step: after a crash or kill -9 in the middle of this it holds the old state or the new one.
 */
export async function writeStateFile(path: string, { savedAt, snapshot }: SavedState): Promise<void> {
  try {
    // Renaming onto a link would cut it; the file it leads to is meant.
    const target = await resolveLinks(path);
    // A random name: a file that is already there is never written to, nor followed if it is a link.
    const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
    await writeDurably(temporary, `${JSON.stringify({ format: FORMAT, version: STATE_VERSION, savedAt, snapshot })}\n`);
    await rename(temporary, target);
    await syncFolder(dirname(target));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** The file that `path` leads to, also by a link: all names of it are one state. */
export async function resolveLinks(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}

/** Removes what writers that were killed have left beside the file. Only for the server that has the lock. */
export async function removeLeftovers(path: string): Promise<void> {
  const target = await resolveLinks(path);
  const names = await readdir(dirname(target)).catch(() => []);
  const ours = names.filter((name) => name.startsWith(`${basename(target)}.`) && /\.[0-9a-f]{12}\.tmp$/.test(name));
  await Promise.all(ours.map((name) => unlink(join(dirname(target), name)).catch(() => undefined)));
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Makes the new name last; Windows cannot, and need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
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
    // Told below; the parser's message would quote the file.
  }
  throw damaged(path, 'it is not a JSON object');
}

async function checked(path: string, snapshot: unknown): Promise<Snapshot> {
  // Its schemas are loaded with the first state that is read.
  const { checkedSnapshot, snapshotShape } = await import('../admin/snapshot-shape.ts');
  const result = snapshotShape.safeParse(withNewSwitches(snapshot));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw damaged(path, `snapshot.${issue?.path.join('.')}: ${issue?.message}`);
  }
  return checkedSnapshot(result.data, (field, expected) => damaged(path, `${field} must be ${expected}`));
}

/** A switch that is younger than the file has its default. */
function withNewSwitches(snapshot: unknown): unknown {
  const { behaviour } = (snapshot ?? {}) as { readonly behaviour?: unknown };
  if (typeof behaviour !== 'object') return snapshot;
  const defaults = Object.fromEntries(SWITCH_NAMES.map((name) => [name, switches[name].default]));
  return { ...(snapshot as object), behaviour: { ...defaults, ...behaviour } };
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
