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
function writeReason(cause: NodeJS.ErrnoException): string {
  return cause.code === 'ENOENT' ? 'its folder does not exist' : systemReason(cause);
}

/** For `catch`: a file that an option names cannot be written. `usage`: checked before anything is sent. */
export function cannotWrite(path: string, code: 'file' | 'usage' = 'file'): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw new CliError(`cannot write ${path}`, { code, why: writeReason(cause), cause });
  };
}

/** The environment names no folder for files of fxrates. */
export function noFolder(): CliError {
  return storageError('no folder for stored files', 'HOME is not set');
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

/** The options that decide which service is called, and with which key. */
interface ConnectionOptions {
  readonly profile?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly keyStdin?: boolean | undefined;
  readonly insecureHttp?: boolean | undefined;
}

/** Another command for the same service and key. */
export function relatedCommand(words: readonly string[], options: ConnectionOptions): string {
  const { profile, baseUrl, keyFile, keyStdin, insecureHttp } = options;
  const values = { '--base-url': baseUrl, '--key-file': keyFile, '--profile': profile };
  const argv = [
    ...words,
    ...Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...(insecureHttp ? ['--insecure-http'] : []),
    ...(keyStdin ? ['--key-stdin'] : []),
  ];
  return commandLine(argv) + (keyStdin ? ' < key.txt' : '');
}

/** The command that stores a base URL and a key under `profile`. */
export function loginLine(profile: string, baseUrl?: string): string {
  return relatedCommand(['auth', 'login'], { baseUrl, profile: profile === 'default' ? undefined : profile });
}
