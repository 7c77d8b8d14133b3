import { refuseKeyOption } from './errors/parser-error.ts';
import { printError } from './errors/print-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printHelp } from './help/print-help.ts';
import type { Io } from './io.ts';
import { runCommandLine, screenOfConfig } from './run-command-line.ts';
import { readEarlyFlags } from './settings/early-flags.ts';
import { Redactor } from './terminal/redactor.ts';
import { Screen } from './terminal/screen.ts';

/** Runs one command line, without `node` and the script, and gives its exit code. Rejects only if a file of fxrates is missing. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const flags = readEarlyFlags(argv, io.env);
  const secrets = new Redactor();
  secrets.protect(io.env['FXRATES_API_KEY'] ?? '');
  const screen = new Screen(io, flags, secrets);
  let ownScreen: Screen | undefined;
  try {
    refuseKeyOption(argv);
    if (await printHelp(argv, screen)) return exitCodes.ok;
    const onSettings = (next: Screen) => {
      ownScreen = next;
    };
    return await runCommandLine(argv, io, { screen, onSettings });
  } catch (error) {
    return await printError(error, ownScreen ?? (await screenOfConfig(argv, io, secrets)), flags.verbose);
  }
}
