import type { CommanderError, Option } from 'commander';
import { type Operation, operations } from '../../generated/operations.ts';
import { VERSION } from '../../version.ts';
import { apiCommand } from '../commands/api.ts';
import { authCommand } from '../commands/auth.ts';
import { batchCommand } from '../commands/batch/batch.ts';
import { cacheCommand } from '../commands/cache.ts';
import { completionCommand } from '../commands/completion/completion.ts';
import { configCommand } from '../commands/config.ts';
import { doctorCommand } from '../commands/doctor.ts';
import { helpCommand } from '../commands/help.ts';
import { latestCommand } from '../commands/latest.ts';
import { mockCommand } from '../commands/mock/mock.ts';
import { operationCommand } from '../commands/operation.ts';
import { probeCommand } from '../commands/probe.ts';
import { quotaCommand } from '../commands/quota.ts';
import { CliCommand } from '../parser/command.ts';
import { helpText } from '../parser/help-page.ts';
import { formatOptions, generalOptions, helpOption, outputOption, sharedOptions } from '../parser/options.ts';
import type { StreamStyle } from '../terminal/screen.ts';

interface ProgramHooks {
  readonly write: (text: string) => void;
  readonly styleOf: (command: CliCommand) => StreamStyle;
  readonly onError: (error: CommanderError, command: CliCommand) => never;
  readonly onCommand: (command: CliCommand) => void;
}

/** The commands as commander parses them, in the order of help. */
export function createProgram(hooks?: ProgramHooks): CliCommand {
  const own: Readonly<Record<string, () => CliCommand>> = { latest: latestCommand, quota: quotaCommand };
  const all: readonly Operation[] = Object.values(operations);
  const program = new CliCommand('fxrates').about({ summary: '', description: 'Exchange rates on the command line.' });
  const commands = [
    ...all.map((operation) => own[operation.id]?.() ?? operationCommand(operation)),
    ...[batchCommand(), apiCommand(), mockCommand(), probeCommand(), authCommand(), configCommand(), cacheCommand()],
    ...[doctorCommand(), completionCommand()],
  ];
  commands.push(helpCommand(commands.map((command) => command.name())));
  for (const command of commands) program.addCommand(command);
  return register(program, hooks).ready();
}

function register(command: CliCommand, hooks: ProgramHooks | undefined): CliCommand {
  for (const child of command.commands) register(child, hooks);
  // Options before a subcommand are as those behind it, where a repeated one adds to them.
  command.hook('preSubcommand', (_, next) => {
    const child = command.find([next.name()]);
    for (const [name, value] of Object.entries(command.typed)) child?.setOptionValueWithSource(name, value, 'cli');
  });
  return command.whenUsed(() => prepare(command, hooks));
}

/** The options that all commands have. Without an action, a command has the options for its subcommands. */
function optionsOfAll(command: CliCommand): readonly Option[] {
  if (command.run === undefined) return sharedOptions().map((option) => option.hideHelp(isOfSome(option, command)));
  const ofErrors = command.has('--output') ? [] : [outputOption(['json']).hideHelp()];
  return [...ofErrors, ...formatOptions(), ...generalOptions()];
}

/** Such as --timeout before a subcommand of `auth`: not all of them have it. */
function isOfSome({ helpGroupHeading }: Option, { parent }: CliCommand): boolean {
  return parent !== null && (helpGroupHeading === 'Connection' || helpGroupHeading === 'Waiting');
}

function prepare(command: CliCommand, hooks: ProgramHooks | undefined): void {
  command.enablePositionalOptions().addHelpOption(helpOption()).helpCommand(false);
  command.passThroughOptions(command.runsProgram); // a program without its `--` keeps its own options
  command.version(VERSION, '-V, --version', 'print the version');
  command.options.at(-1)?.hideHelp(command.parent !== null); // it works behind each command
  for (const option of optionsOfAll(command)) command.addOption(option);
  if (hooks === undefined) return;
  const { write, styleOf, onError, onCommand } = hooks;
  command
    .exitOverride((error) => {
      // Without a command, commander ends with help before an action can throw the error of a wrong value.
      if (error.code === 'commander.help' && command.wrongValue !== undefined) throw command.wrongValue;
      throw isAnswer(error, command) ? error : onError(error, command);
    })
    // Errors are printed in our words. The style decides about colours.
    .configureOutput({ outputError: () => undefined, writeOut: write, writeErr: write, ...HAS_COLORS })
    .configureHelp({ formatHelp: () => helpText(command, styleOf(command)) });
  if (command.run !== undefined) command.action(() => onCommand(command));
}

const HAS_COLORS = { getOutHasColors: () => true, getErrHasColors: () => true };

/** Whether commander ends with the help or the version, and not with help in place of a command that does not exist. */
function isAnswer({ code, exitCode }: CommanderError, { commands, args: [word = '-'] }: CliCommand): boolean {
  return code === 'commander.help' || (exitCode === 0 && (commands.length === 0 || word.startsWith('-')));
}
