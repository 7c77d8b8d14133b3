import type { CommandSpec } from '../command-spec.ts';
import type { GlobalOptions } from '../settings/global-options.ts';
import { usageError } from './cli-error.ts';

const ONE_REQUEST = 'only a command that does nothing but send a request can print it instead';
const NO_DATA = 'it prints no data to choose from';

/**
 * Refuses what would change all that a command does, where the command cannot obey; `path`: `fxrates auth login`.
 * @throws CliError
 */
export function refuseOptions({ sendsRequest, printsData }: CommandSpec, options: GlobalOptions, path: string): void {
  const refuse = (name: string, why: string): never => {
    throw usageError(`'${path}' has no ${name}`, why, [`See: ${path} --help`]);
  };
  if (options.dryRun && !sendsRequest) refuse('--dry-run', ONE_REQUEST);
  if (options.curl && !sendsRequest) refuse('--curl', ONE_REQUEST);
  if (options.get !== undefined && !printsData) refuse('--get', NO_DATA);
}
