import { readFileSync, type Stats, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../client/index.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { makeFolder, replaceFile } from '../../replace-file.ts';
import { UTF16_PROBLEM, utf8Text } from '../../text.ts';
import { CliError, noFolder, storageError, systemReason } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** Settings and keys are a few kB. */
const LARGEST = 1_000_000;

/** The version that this program writes and understands. */
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
    const problem = stats && problemOf(stats);
    if (problem !== undefined) throw unusable(path, problem);
    return stats && readFileSync(path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const cause = error as NodeJS.ErrnoException; // of node:fs
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
    throw storageError(`cannot read ${path}`, systemReason(cause), { cause });
  }
}

function problemOf(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'it is not a file'; // reading a pipe without a writer would never end
  return stats.size > LARGEST ? `it has ${stats.size} bytes; at most ${LARGEST} are read` : undefined;
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
    if (error instanceof CliError) throw error;
    const cause = error as NodeJS.ErrnoException; // of node:fs
    throw storageError(`cannot write ${path}`, systemReason(cause), { cause });
  }
}

const LOOK_EVERY_MS = 20;
/** A change takes milliseconds, so a lock that stays for 5 s is that of a killed process. */
const MOST_LOOKS = 250;

/** Waits until no other process changes the file: commands at the same time, such as logins, lose no change. */
async function lock(path: string, clock: Clock): Promise<() => Promise<void>> {
  for (let looks = 0; ; looks += 1) {
    if (looks === MOST_LOOKS) await rm(path, { recursive: true, force: true });
    try {
      await mkdir(path); // one process succeeds
      return () => rm(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || looks > MOST_LOOKS) throw error;
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

interface JsonPlace {
  readonly line: number;
  readonly column: number;
}

/** The kind of token that is valid next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The text of a JSON file, or the problem with it in words. */
export function jsonTextOf(bytes: Buffer): { readonly text: string } | { readonly problem: string } {
  const text = utf8Text(bytes);
  if (text === undefined) return { problem: UTF16_PROBLEM };
  const fault = jsonFault(text);
  if (fault === undefined) return { text };
  return { problem: `it is not valid JSON: line ${fault.line}, column ${fault.column}` };
}

/**
 * Where a text stops being JSON, counted from 1; `undefined` when it is JSON. `JSON.parse` names a position for some
 * faults only. For files of people: small, not deep.
 */
export function jsonFault(text: string): JsonPlace | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = match(SPACE, text, 0).length;
  while (at < text.length) {
    const token = match(TOKEN, text, at);
    const next: Expected | undefined = token === '' ? undefined : expectedAfter(token, expected, open);
    if (next === undefined) return placeOf(text, at);
    expected = next;
    at += token.length;
    at += match(SPACE, text, at).length;
  }
  return expected === 'nothing' ? undefined : placeOf(text, text.length);
}

/** The kind of token that may follow `token`; `undefined` if `token` is not valid here. */
function expectedAfter(token: string, expected: Expected, open: string[]): Expected | undefined {
  if (token === '}' || token === ']') return expectedAfterEnd(token, expected, open);
  if (token === ',' || token === ':') return expectedAfterSeparator(token, expected, open);
  if (expected.startsWith('name')) return token.startsWith('"') ? 'colon' : undefined;
  if (!expected.startsWith('value')) return undefined;
  if (!'{['.includes(token)) return expectedAfterValue(open);
  open.push(token);
  return token === '{' ? 'name or end' : 'value or end';
}

function expectedAfterEnd(token: '}' | ']', expected: Expected, open: string[]): Expected | undefined {
  const [opening, whenEmpty] = token === '}' ? ['{', 'name or end'] : ['[', 'value or end'];
  if (expected !== whenEmpty && expected !== 'comma or end') return undefined;
  return open.pop() === opening ? expectedAfterValue(open) : undefined;
}

function expectedAfterSeparator(token: ',' | ':', expected: Expected, open: string[]): Expected | undefined {
  if (expected !== (token === ',' ? 'comma or end' : 'colon')) return undefined;
  return token === ':' || open.at(-1) === '[' ? 'value' : 'name';
}

function expectedAfterValue({ length: depth }: readonly string[]): Expected {
  return depth === 0 ? 'nothing' : 'comma or end';
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function placeOf(text: string, at: number): JsonPlace {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
