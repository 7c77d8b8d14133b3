import { type ErrorCode, errorCodes } from '../io/exit-codes.ts';
import { commandLine } from '../terminal/text.ts';

interface CliErrorDetails {
  readonly code: ErrorCode;
  /** Default: that of the code. */
  readonly exitCode?: number;
  readonly why?: string | undefined;
  /** What to do next; the last line is the one to act on. */
  readonly hints?: readonly string[] | undefined;
  readonly cause?: unknown;
  /** For programs, by the names that they read. */
  readonly facts?: ErrorFacts;
}

interface ErrorFacts {
  readonly status?: number | undefined;
  /** `x-request-id` of the response or a header like it: for the support of the service. */
  readonly request_id?: string | undefined;
  /** `error.code` of the service, or the system's code. */
  readonly cause_code?: string | undefined;
  readonly retry_after_seconds?: number | undefined;
  readonly resets_at?: string | undefined;
}

/** An error for the user: what failed, why, and the next step. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly details: CliErrorDetails;
  readonly exitCode: number;

  constructor(what: string, details: CliErrorDetails) {
    const { why, cause } = details;
    super(why === undefined ? what : `${what} — ${why}`, cause === undefined ? undefined : { cause });
    this.details = details;
    this.exitCode = details.exitCode ?? errorCodes[details.code];
  }
}

/** A wrong command line; no request was sent. Long values are shortened. */
export function usageError(what: string, why?: string, hints: readonly string[] = []): CliError {
  return new CliError(what.replace(/'[^']{100,}'/g, shortened), {
    code: 'usage',
    why,
    hints,
  });
}

function shortened(quoted: string): string {
  return `${quoted.slice(0, 61)}…' (${quoted.length - 2} characters)`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'no space left on the device',
};

/** The message for an error of a file, by its code. */
export function systemReason({ code = '', message }: Pick<NodeJS.ErrnoException, 'code' | 'message'>): string {
  return REASONS[code] ?? message;
}

/** Why a file cannot be written. `ENOENT` is about its folder, because a missing file is created. */
export function writeReason(cause: NodeJS.ErrnoException): string {
  return cause.code === 'ENOENT' ? 'its folder does not exist' : systemReason(cause);
}

/** For `catch`: a file that an option names cannot be written. `usage`: checked before anything is sent. */
export function cannotWrite(path: string, code: 'file' | 'usage' = 'file'): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw new CliError(`cannot write ${path}`, { code, why: writeReason(cause), cause });
  };
}

/** The environment names no folder for files of fxrates. */
export function noFolder(details: Pick<StorageDetails, 'hint'> = {}): CliError {
  return storageError('no folder for stored files', 'HOME is not set', details);
}

interface StorageDetails {
  readonly cause?: unknown;
  /** Default: the variable for another folder of config.json. */
  readonly hint?: string;
}

export const OTHER_CONFIG_FOLDER = 'Another folder:  export FXRATES_CONFIG_DIR=/path/to/folder';

/** A file of fxrates itself, such as config.json, cannot be read or written. */
export function storageError(
  what: string,
  why?: string,
  { cause, hint = OTHER_CONFIG_FOLDER }: StorageDetails = {},
): CliError {
  const hints = [hint];
  return new CliError(what, { code: 'storage', why, hints, cause });
}

interface ArgumentChange {
  /** Options to remove. The name of an option with a value ends with `=`. */
  readonly without?: readonly string[];
  readonly add?: readonly string[];
}

/** The typed command with a change, for the next step of an error. */
export function changedCommand(argv: readonly string[], { without = [], add = [] }: ArgumentChange = {}): string {
  const [before, after] = split(argv);
  return withKey([...before.filter((_, index) => !isPartOf(without, before, index)), ...add, ...after]);
}

/** The options that decide which service is called, and with which key. */
const CONNECTION = ['--profile=', '--base-url=', '--key-file=', '--key-stdin', '--insecure-http'];

/** Another command, with the typed options for the profile, the service and the key. */
export function relatedCommand(words: readonly string[], argv: readonly string[]): string {
  const [before] = split(argv);
  return withKey([...words, ...before.filter((_, index) => isPartOf(CONNECTION, before, index))]);
}

/** A command line that reads the key from a file, if it reads it from standard input. */
function withKey(argv: readonly string[]): string {
  const [before] = split(argv);
  return commandLine(argv) + (before.includes('--key-stdin') ? ' < key.txt' : '');
}

/** The command that stores a base URL and a key under `profile`. */
export function loginCommand(profile: string, options: readonly string[] = []): string {
  return commandLine(['auth', 'login', ...options, ...(profile === 'default' ? [] : ['--profile', profile])]);
}

/** The words before `--` and the others: no word after `--` is an option. */
function split(argv: readonly string[]): readonly [readonly string[], readonly string[]] {
  const end = argv.indexOf('--');
  return end === -1 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
}

/** Whether a word is one of the options, or the value of one. */
function isPartOf(options: readonly string[], argv: readonly string[], index: number): boolean {
  const [word = '', previous] = [argv[index], argv[index - 1]];
  const isValue = !word.startsWith('-') && options.includes(`${previous}=`);
  return isValue || [word.replace(/=.*/s, '='), `${word}=`].some((name) => options.includes(name));
}
