import { promises as fs, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../client/index.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { makeFolder, replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { CliError, noFolder, storageError, systemReason } from '../errors/cli-error.ts';

const VERSION = 1;

/** The object in the file; `undefined` if the file does not exist. @throws CliError that names the place of a fault */
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
    return stats && readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // of node:fs
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
    await makeFolder(dirname(path), 0o700);
    const unlock = await lock(`${path}.lock`, clock);
    try {
      const document = change(readJsonFile(path) ?? {});
      const text = `${JSON.stringify({ version: VERSION, ...document }, undefined, 2)}\n`;
      // The same name each time: the unfinished file of a killed process, which holds a key, is replaced.
      await replaceFile(path, text, { isPrivate: true, suffix: 'tmp' });
    } finally {
      await unlock();
    }
    return path;
  } catch (error) {
    throw failure(`cannot write ${path}`, error);
  }
}

const LOOK_EVERY_MS = 20;
/** A change takes milliseconds, so a lock that stays for 5 s is that of a killed process. */
const MOST_LOOKS = 250;

/** Waits until no other process changes the file: commands at the same time, such as logins, lose no change. */
async function lock(path: string, clock: Clock): Promise<() => Promise<void>> {
  let madeAt: number | undefined;
  for (let looks = 0; ; looks += 1) {
    try {
      await fs.mkdir(path); // one process succeeds
      return () => fs.rm(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const found = await fs.stat(path).catch(() => undefined);
    if (found?.mtimeMs !== madeAt) [madeAt, looks] = [found?.mtimeMs, 0]; // that of another process
    // Before the sleep, so that it is gone when the first of several waiting processes makes the next one.
    if (looks >= MOST_LOOKS) await fs.rm(path, { recursive: true, force: true });
    await clock.sleep(LOOK_EVERY_MS);
  }
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

/** The place of a fault in a longer text would take seconds to minutes to find. */
const LONGEST_SEARCHED = 1_000_000;

/** The content of a JSON file, or the problem with it in words. */
export function parseJsonFile(bytes: Buffer): ParsedJson | { readonly problem: string } {
  const text = utf8Text(bytes);
  if (text === undefined) return { problem: UTF16_PROBLEM };
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    if (text.length > LONGEST_SEARCHED) return { problem: 'it is not valid JSON' };
    const lines = text.slice(0, faultPosition(text)).split('\n');
    const column = (lines.at(-1)?.length ?? 0) + 1;
    return { problem: `it is not valid JSON: line ${lines.length}, column ${column}` };
  }
}

/** Length of the longest start of `text` that JSON can have. `JSON.parse` itself names the position of some faults only. */
function faultPosition(text: string): number {
  let [valid, invalid] = [0, text.length + 1];
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (isStartOfJson(text.slice(0, middle))) valid = middle;
    else invalid = middle;
  }
  return valid;
}

/** Whether a text is JSON, or only its end is missing. */
function isStartOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    return message.startsWith('Unexpected end') || Number(/at position (\d+)/.exec(message)?.[1]) >= text.length;
  }
}
