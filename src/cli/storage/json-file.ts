import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../client/index.ts';
import { isJsonObject, type JsonObject } from '../../json-object.ts';
import { makeFolder, replaceFile } from '../../replace-file.ts';
import { CliError, noFolder, storageError, systemReason } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonTextOf } from '../json/json-fault.ts';

/** The version that this program writes and understands. */
const VERSION = 1;

/** The object in the file; `undefined` when there is no file. @throws CliError that names the place of a fault */
export async function readJsonFile(path: string): Promise<JsonObject | undefined> {
  const bytes = readIfThere(path);
  return bytes && parse(bytes, path);
}

/** Synchronous: every command reads config.json, and the first asynchronous read of a process starts its threads. */
function readIfThere(path: string): Buffer | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    // Reading a pipe without a writer would never end.
    if (stats !== undefined && !stats.isFile()) throw unusable(path, 'it is not a file');
    return stats && readFileSync(path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const cause = error as NodeJS.ErrnoException; // of node:fs
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
    throw storageError(`cannot read ${path}`, systemReason(cause), { cause });
  }
}

/**
 * Replaces the object in the file by the result of `change`, under a lock, so that no change of another process is lost.
 * Only the owner can read the file. The target of a symbolic link is changed. Returns the path. @throws CliError without a path
 */
export async function updateJsonFile(
  path: string | undefined,
  change: (document: JsonObject) => JsonObject,
  clock: Clock,
): Promise<string> {
  if (path === undefined) throw noFolder();
  try {
    await makeFolder(dirname(path), 0o700);
    await withFileLock(path, clock, async () => {
      const document = (await readJsonFile(path)) ?? {};
      const text = `${JSON.stringify({ version: VERSION, ...change(document) }, undefined, 2)}\n`;
      // The same name each time: the unfinished file of a killed process, which holds a key, is replaced.
      await replaceFile(path, text, { isPrivate: true, suffix: 'tmp' });
    });
    return path;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const cause = error as NodeJS.ErrnoException; // of node:fs
    throw storageError(`cannot write ${path}`, systemReason(cause), { cause });
  }
}

const LOOK_EVERY_MS = 20;
/** A running process renews its lock twice in that time, so an older lock is that of a killed process. */
const STALE_AFTER_MS = 5_000;
const GIVE_UP_AFTER_MS = 15_000;

/** Runs `change` while no other process with this lock changes the file. @throws Error if the lock stays taken */
export async function withFileLock(path: string, clock: Clock, change: () => Promise<void>): Promise<void> {
  const unlock = await lockFile(path, clock);
  await change().finally(unlock);
}

/** Waits until no other process changes the file; returns a function that releases the lock. */
async function lockFile(path: string, clock: Clock): Promise<() => Promise<void>> {
  const { default: lockfile } = await import('proper-lockfile'); // bundling keeps its default export only
  const giveUpAt = clock.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      const release = await lockfile.lock(path, {
        realpath: false,
        stale: STALE_AFTER_MS,
        onCompromised: () => undefined,
      });
      return () => release().catch(() => undefined); // another process has the lock since this one was suspended
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error; // of proper-lockfile
      if (clock.now() > giveUpAt) throw new Error(`another fxrates process has locked it: ${path}.lock`);
      await clock.sleep(LOOK_EVERY_MS);
    }
  }
}

function parse(bytes: Buffer, path: string): JsonObject {
  const json = jsonTextOf(bytes);
  if ('problem' in json) throw unusable(path, json.problem);
  const document: unknown = JSON.parse(json.text);
  if (!isJsonObject(document)) throw unusable(path, 'it does not contain a JSON object');
  const { version = VERSION } = document;
  if (version !== VERSION)
    throw unusable(path, `it has version ${String(version)}; this release of fxrates reads version ${VERSION}`);
  return document;
}

function unusable(path: string, why: string): CliError {
  const hints = [`Correct or remove it:  ${path}`];
  return new CliError(`cannot use ${path}`, { code: 'storage', exitCode: exitCodes.config, why, hints });
}
