import { promises as fs, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../client/index.ts';
import { codeOf } from '../../foreign-values.ts';
import { isJsonObject, type JsonObject, jsonErrorPlace, parseJson } from '../../json.ts';
import { makeFolder, replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { CliError, noFolder, storageError, systemReason } from '../errors/cli-error.ts';

const VERSION = 1;

/** The object in the file; `undefined` if the file does not exist or is empty. @throws CliError that names the place of a fault */
export function readJsonFile(path: string): JsonObject | undefined {
  const bytes = readIfThere(path);
  return bytes && parse(bytes, path);
}

/** Synchronous: every command reads config.json, and the first asynchronous read of a process starts its threads. */
function readIfThere(path: string): Buffer | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    // Reading a pipe without a writer would never end.
    if (stats?.isFile() === false) throw unusable(path, 'it is not a file');
    return stats?.size ? readFileSync(path) : undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw failure(`cannot read ${path}`, error);
  }
}

function failure(what: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const cause = error as NodeJS.ErrnoException; // of node:fs
  return storageError(what, systemReason(cause), { cause });
}

/**
 * Replaces the object in the file by the result of `change`, which gets what the file has now. Only the owner can read the
 * file. The target of a symbolic link is changed. Returns the path. @throws CliError without a path
 */
export async function updateJsonFile(
  path: string | undefined,
  change: (document: JsonObject) => JsonObject,
  clock: Clock,
): Promise<string> {
  if (path === undefined) throw noFolder();
  try {
    makeFolder(dirname(path), 0o700);
    for (let isWritten = false; !isWritten; ) {
      const lock = await acquireLock(path, clock);
      try {
        const document = change(readJsonFile(path) ?? {});
        const text = `${JSON.stringify({ version: VERSION, ...document }, undefined, 2)}\n`;
        const isStillLocked = async () => (await lockedBy(path)) === lock;
        isWritten = await replaceFile(path, text, {
          isPrivate: true,
          suffix: unfinished(lock),
          isValid: isStillLocked,
        });
      } finally {
        if ((await lockedBy(path)) === lock) await removeLock(path);
      }
    }
    return path;
  } catch (error) {
    throw failure(`cannot write ${path}`, error);
  }
}

const LOOK_EVERY_MS = 20;
/** A change takes milliseconds, so a lock that stays for 5 s is that of a killed or stopped process. */
const MOST_LOOKS = 250;

/**
 * Waits until no other process changes the file: commands at the same time, such as logins, lose no change. The lock is a
 * file with the id that is returned. A process that was stopped meanwhile finds another id, and starts again.
 */
async function acquireLock(path: string, clock: Clock): Promise<string> {
  const id = crypto.randomUUID();
  let holder: string | undefined;
  for (let looks = 0; ; looks += 1) {
    try {
      await fs.writeFile(lockOf(path), id, { flag: 'wx', mode: 0o600 }); // one process succeeds
      return id;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') {
        await removeLock(path); // a full disk has space for the name
        throw error;
      }
    }
    const found = await lockedBy(path);
    if (found !== holder) [holder, looks] = [found, 0];
    if (looks >= MOST_LOOKS) {
      await fs.rm(`${path}.${unfinished(holder)}`, { force: true }); // it contains a key
      await removeLock(path); // before the sleep, so that it is gone when the next process creates its own
    }
    await clock.sleep(LOOK_EVERY_MS);
  }
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

async function lockedBy(path: string): Promise<string | undefined> {
  return fs.readFile(lockOf(path), 'utf8').catch(() => undefined);
}

async function removeLock(path: string): Promise<void> {
  await fs.rm(lockOf(path), { recursive: true, force: true });
}

/** End of the name of the file that the holder of a lock writes. */
function unfinished(lock: string | undefined): string {
  return `${lock}.tmp`;
}

function parse(bytes: Buffer, path: string): JsonObject {
  const json = parseJsonFile(bytes);
  if ('problem' in json) throw unusable(path, json.problem);
  const document = json.value;
  if (!isJsonObject(document)) throw unusable(path, 'it does not contain a JSON object');
  const { version = VERSION } = document;
  if (version !== VERSION)
    throw unusable(path, `it has version ${JSON.stringify(version)}; this release of fxrates reads version ${VERSION}`);
  return document;
}

/** A file of fxrates has other content than it writes itself. */
export function unusable(path: string, why: string): CliError {
  return storageError(`cannot use ${path}`, why, { hint: `Correct or remove it:  ${path}` });
}

interface ParsedJson {
  readonly text: string;
  readonly value: unknown;
}

/** The content of a JSON file, or the problem with it in words. */
export function parseJsonFile(bytes: Buffer): ParsedJson | { readonly problem: string } {
  const text = utf8Text(bytes);
  if (text === undefined) return { problem: UTF16_PROBLEM };
  const value = parseJson(text);
  if (value !== undefined) return { text, value };
  const place = jsonErrorPlace(text);
  return { problem: `it is not valid JSON${place && `: ${place}`}` };
}
