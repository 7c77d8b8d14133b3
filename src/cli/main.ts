import { refuseKeyOption } from './errors/parser-error.ts';
import { printError } from './errors/print-error.ts';
import { exitCodes } from './exit-codes.ts';
import { helpText } from './help/command-help.ts';
import type { Io } from './io.ts';
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
    const { runCommandLine } = await import('./run-command-line.ts');
    return await runCommandLine(argv, io, { screen, onSettings });
  } catch (error) {
    const { screenOfConfig } = await import('./run-command-line.ts');
    return await printError(error, ownScreen ?? (await screenOfConfig(argv, io, secrets)), flags.verbose);
  }
}

/** Prints help without loading a command. False if the command line is about anything else. */
async function printHelp(argv: readonly string[], screen: Screen): Promise<boolean> {
  const path = pathOfHelp(argv);
  if (path === undefined) return false;
  const { finishedTree } = await import('./finished-tree.ts');
  const text = helpText(await finishedTree(), path, screen.help);
  if (text === undefined) return false;
  await screen.printText(text);
  return true;
}

/** The words of the command whose help is asked for, if the command line has no others. */
function pathOfHelp(argv: readonly string[]): readonly string[] | undefined {
  if (argv.length === 0) return [];
  if (['-h', '--help'].includes(argv.at(-1) ?? '')) return argv.slice(0, -1);
  return argv[0] === 'help' ? argv.slice(1) : undefined;
}
