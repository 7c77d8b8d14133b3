import { Command } from 'commander';
import { type Operation, operations } from '../generated/operations.ts';
import { VERSION } from '../version.ts';
import type { CommandSpec } from './command-spec.ts';
import { apiCommand } from './commands/api.ts';
import { helpCommand } from './commands/help.ts';
import { latestCommand } from './commands/latest.ts';
import { mockCommand } from './commands/mock.ts';
import { operationCommand } from './commands/operation.ts';
import { quotaCommand } from './commands/quota.ts';
import { versionCommand } from './commands/version.ts';
import { commandHelp } from './help/command-help.ts';
import { programHelp } from './help/program-help.ts';
import { createGlobalOptions } from './settings/global-options.ts';
import type { Face } from './terminal/screen.ts';

interface ProgramOptions {
  /** How help looks. */
  readonly face: Face;
  /** Takes help and version. */
  readonly write: (text: string) => void;
  readonly run: (spec: CommandSpec, command: Command) => Promise<void>;
}

/** The command tree as commander parses it. Nothing is written to a stream and nothing exits. */
export function createProgram({ face, write, run }: ProgramOptions): Command {
  const program = new Command('fxrates');
  const specs = commandSpecs((name) => {
    const command = name === undefined ? program : program.commands.find((candidate) => candidate.name() === name);
    return command?.helpInformation();
  });
  const silence = () => undefined;
  program
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: silence, outputError: silence, getOutHasColors: () => face.hasColor })
    .configureHelp({ formatHelp: (command) => formatHelp(command, specs, face) })
    .helpOption('-h, --help', 'print help')
    .helpCommand(false);
  for (const option of createGlobalOptions()) program.addOption(option);
  program.optionsGroup('General').version(VERSION, '-V, --version', 'print the version');
  for (const spec of specs) addCommand(program, spec, run);
  return program;
}

/** Every command in the order of help. An operation without a command of its own gets the generated one. */
function commandSpecs(renderHelp: Parameters<typeof helpCommand>[0]): readonly CommandSpec[] {
  const own: Readonly<Record<string, CommandSpec>> = { latest: latestCommand, quota: quotaCommand };
  const all: readonly Operation[] = Object.values(operations);
  const ofOperations = all.map((operation) => own[operation.id] ?? operationCommand(operation));
  return [...ofOperations, apiCommand, mockCommand, versionCommand, helpCommand(renderHelp)];
}

function addCommand(program: Command, spec: CommandSpec, run: ProgramOptions['run']): void {
  const command = program.command(spec.name).helpOption('-h, --help', 'print help');
  for (const option of spec.options?.() ?? []) command.addOption(option);
  for (const syntax of spec.argument?.syntax.match(/\[[^\]]+\]|<[^>]+>/g) ?? []) command.argument(syntax);
  command.action(() => run(spec, command));
}

function formatHelp(command: Command, specs: readonly CommandSpec[], face: Face): string {
  const spec = specs.find(({ name }) => name === command.name());
  return spec === undefined ? programHelp(specs, command, face) : commandHelp(spec, command, face);
}
