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
 * file. The target of a symbolic link is changed. Commands at the same time, such as logins, lose no change: each waits for the
 * lock of the other. Returns the path. @throws CliError without a path
 */
export async function updateJsonFile(
  path: string | undefined,
  change: (document: JsonObject) => JsonObject,
  clock: Clock,
): Promise<string> {
  if (path === undefined) throw noFolder();
  const text = () => `${JSON.stringify({ version: VERSION, ...change(readJsonFile(path) ?? {}) }, undefined, 2)}\n`;
  try {
    makeFolder(dirname(path), 0o700);
    let holder: string | undefined;
    for (let looks = 0; ; looks += 1) {
      const lock = await replaceFile(path, text, { isPrivate: true, isLocked: true }).catch(lockOf);
      if (lock === undefined) return path;
      const found = await holderOf(lock);
      if (found !== holder) [holder, looks] = [found, 0];
      // Before the sleep, so that it is gone when the next process creates its own.
      if (looks >= MOST_LOOKS) await fs.rm(lock, { force: true });
      await clock.sleep(LOOK_EVERY_MS);
    }
  } catch (error) {
    throw failure(`cannot write ${path}`, error);
  }
}

const LOOK_EVERY_MS = 20;
/** A change takes milliseconds, so a lock that stays for 5 s is that of a killed command. */
const MOST_LOOKS = 250;

/** The file that another command has created. @throws another error */
function lockOf(error: NodeJS.ErrnoException): string | undefined {
  if (error.code === 'EEXIST') return error.path;
  throw error;
}

/** Differs for each lock; `undefined` if it is gone. */
async function holderOf(lock: string): Promise<string | undefined> {
  return fs.stat(lock).then(
    ({ ino, birthtimeMs }) => `${ino} ${birthtimeMs}`,
    () => undefined,
  );
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
