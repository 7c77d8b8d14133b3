import { Command } from 'commander';
import { type Operation, operations } from '../generated/operations.ts';
import { VERSION } from '../version.ts';
import type { CommandSpec } from './command.ts';
import { type CommandNode, commandTree, pathOf } from './command-tree.ts';
import { apiCommand } from './commands/api.ts';
import { authCommand } from './commands/auth.ts';
import { batchCommand } from './commands/batch/batch.ts';
import { cacheCommand } from './commands/cache.ts';
import { completionCommand } from './commands/completion/completion.ts';
import { configCommand } from './commands/config.ts';
import { doctorCommand } from './commands/doctor/doctor.ts';
import { helpCommand } from './commands/help/help.ts';
import { latestCommand } from './commands/latest/latest.ts';
import { mockCommand } from './commands/mock/mock.ts';
import { operationCommand } from './commands/operation.ts';
import { probeCommand } from './commands/probe.ts';
import { quotaCommand } from './commands/quota/quota.ts';
import { versionCommand } from './commands/version.ts';
import { helpText } from './help/command-help.ts';
import { createGlobalOptions } from './settings/global-options.ts';
import { createPalette } from './terminal/palette.ts';
import type { StreamStyle } from './terminal/screen.ts';

interface ProgramOptions {
  /** The style of help. */
  readonly style: StreamStyle;
  /** Receives help and version. */
  readonly write: (text: string) => void;
  readonly run: (run: NonNullable<CommandSpec['run']>, spec: CommandSpec, command: Command) => Promise<void>;
  /** Adds only the command of this name, if it exists. */
  readonly only?: string | undefined;
}

/** The command tree as commander parses it. Neither writes to a stream nor exits the process. */
export function createProgram({ style, write, run, only }: ProgramOptions): Command {
  const program = new Command('fxrates');
  const specs = commandSpecs();
  const typed = specs.filter(({ name }) => name === only);
  const silence = () => undefined;
  program
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: silence,
      getOutHasColors: () => style.hasColor,
      getErrHasColors: () => style.hasColor,
    })
    .configureHelp({ formatHelp: (command) => helpText(treeOf(program), pathOf(command), style) ?? '' })
    .helpOption('-h, --help', 'print help')
    .helpCommand(false);
  for (const option of createGlobalOptions()) program.addOption(option);
  program.optionsGroup('General').version(VERSION, '-V, --version', 'print the version');
  for (const spec of typed.length > 0 ? typed : specs) addCommand(program, spec, run);
  return program;
}

/** The commands and their options as data. */
export function programTree(): CommandNode {
  const style = {
    isTTY: false,
    canRedraw: false,
    hasColor: false,
    columns: 80,
    width: 80,
    palette: createPalette(false),
  };
  return treeOf(createProgram({ style, write: () => undefined, run: async () => undefined }));
}

/** The specification of each command. */
const specOf = new WeakMap<Command, CommandSpec>();

const SUMMARY = 'Exchange rates on the command line.';

function treeOf(program: Command): CommandNode {
  return commandTree(program, { summary: SUMMARY, specOf });
}

/** All commands, in the order of help. An operation without its own file has a generated command. */
function commandSpecs(): readonly CommandSpec[] {
  const own: Readonly<Record<string, CommandSpec>> = { latest: latestCommand, quota: quotaCommand };
  const all: readonly Operation[] = Object.values(operations);
  const ofOperations = all.map((operation) => own[operation.id] ?? operationCommand(operation));
  const ofService = [
    ...ofOperations,
    batchCommand,
    apiCommand,
    mockCommand,
    probeCommand,
    authCommand,
    configCommand,
    cacheCommand,
  ];
  const specs = [...ofService, doctorCommand, completionCommand, versionCommand];
  return [
    ...specs,
    helpCommand(
      programTree,
      specs.map(({ name }) => name),
    ),
  ];
}

function addCommand(parent: Command, spec: CommandSpec, runSpec: ProgramOptions['run']): void {
  const command = parent.command(spec.name).helpOption('-h, --help', 'print help').helpCommand(false);
  specOf.set(command, spec);
  for (const option of spec.options?.() ?? []) command.addOption(option);
  for (const syntax of spec.argument?.syntax.match(/\[[^\]]+\]|<[^>]+>/g) ?? []) command.argument(syntax);
  for (const subcommand of spec.commands ?? []) addCommand(command, subcommand, runSpec);
  const { run } = spec;
  if (run !== undefined) command.action(() => runSpec(run, spec, command));
}
