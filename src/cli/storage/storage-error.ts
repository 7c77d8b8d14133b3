import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** What is kept on this machine cannot be read or written. */
export function storageError(what: string, why?: string, cause?: unknown): CliError {
  const hints = ['Another folder:  export FXRATES_CONFIG_DIR=/path/to/folder'];
  return new CliError(what, { code: 'storage', exitCode: exitCodes.config, why, hints, cause });
}
