import { Argument, CommanderError, type Option } from 'commander';
import { operations } from '../../generated/operations.ts';
import { nearestName } from '../../nearest-name.ts';
import type { Operation } from '../../operation.ts';
import { VERSION } from '../../version.ts';
import { apiCommand } from '../commands/api.ts';
import { authCommand } from '../commands/auth.ts';
import { batchCommand } from '../commands/batch/batch.ts';
import { completionCommand } from '../commands/completion/completion.ts';
import { configCommand } from '../commands/config.ts';
import { doctorCommand } from '../commands/doctor.ts';
import { latestCommand } from '../commands/latest.ts';
import { mockCommand } from '../commands/mock/mock.ts';
import { operationCommand } from '../commands/operation.ts';
import { probeCommand } from '../commands/probe.ts';
import { quotaCommand } from '../commands/quota.ts';
import { usageError } from '../errors/cli-error.ts';
import { CliCommand, type ParsedLine } from '../parser/command.ts';
import { helpText, optionGroups, paragraphs } from '../parser/help-page.ts';
import { formatOptions, generalOptions, helpOption, outputOption, sharedOptions } from '../settings/options.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { commandLine, wrap } from '../terminal/text.ts';

export function parseLine(argv: readonly string[]): ParsedLine {
  const program = createProgram();
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return program.line;
}

/** The commands as commander parses them, in the order of help. */
export function createProgram(): CliCommand {
  const own: Readonly<Record<string, () => CliCommand>> = { latest: latestCommand, quota: quotaCommand };
  const all: readonly Operation[] = Object.values(operations);
  const program = new CliCommand('fxrates').about({ summary: '', description: 'Exchange rates on the command line.' });
  const commands = [
    ...all.map((operation) => own[operation.id]?.() ?? operationCommand(operation)),
    ...[batchCommand(), apiCommand(), mockCommand(), probeCommand(), authCommand(), configCommand(), doctorCommand()],
    completionCommand(),
  ];
  commands.push(helpCommand(commands.map((command) => command.name())));
  for (const command of commands) program.addCommand(command);
  return register(program, program).ready();
}

function register(command: CliCommand, program: CliCommand): CliCommand {
  for (const child of command.commands) register(child, program);
  // Options before a subcommand are as those behind it, where a repeated one adds to them.
  command.hook('preSubcommand', (_, next) => {
    const child = command.find([next.name()]);
    for (const [name, value] of Object.entries(command.typed)) child?.setOptionValueWithSource(name, value, 'cli');
  });
  return command.whenUsed(() => prepare(command, program));
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

function prepare(command: CliCommand, program: CliCommand): void {
  command.enablePositionalOptions().addHelpOption(helpOption()).helpCommand(false);
  command.passThroughOptions(command.runsProgram); // a program without its `--` keeps its own options
  command.version(VERSION, '-V, --version', 'print the version');
  command.options.at(-1)?.hideHelp(command.parent !== null); // it works behind each command
  for (const option of optionsOfAll(command)) command.addOption(option);
  command.configureOutput({ outputError: ignore, writeOut: ignore }); // `main` prints errors and the version itself
  command.exitOverride((end) => {
    program.line = { command, end };
    throw end;
  });
  if (command.run !== undefined) {
    command.action(() => {
      program.line = { command };
    });
  }
}

function ignore(): void {}

const OPTIONS = 'options';

/** `commandNames`: those of the other commands. */
function helpCommand(commandNames: readonly string[]): CliCommand {
  const command: CliCommand = new CliCommand('help')
    .about({
      summary: 'help about a command, or about the shared options',
      description: 'Prints help about a command, or about the options that commands share.',
      examples: [
        { command: 'fxrates help latest', comment: '' },
        { command: 'fxrates help options', comment: 'the options that commands share' },
      ],
    })
    .takes(new Argument('[command...]', 'a command, or options'), [...commandNames, OPTIONS])
    .runs(async ({ args, screen }) => {
      const program = command.parent ?? command;
      const text = pageOf(program, args, screen.out);
      if (text === undefined) throw noPage(args, program);
      await screen.printText(text);
    });
  return command;
}

function pageOf(program: CliCommand, path: readonly string[], style: StreamStyle): string | undefined {
  if (path.join(' ') === OPTIONS) return optionsPage(style);
  const command = program.find(path);
  return command && helpText(command, style);
}

function optionsPage(style: StreamStyle): string {
  const intro =
    'Shared options can precede or follow the command. A command rejects options that do not apply to it, such as --timeout if it sends nothing.';
  return paragraphs([wrap(intro, style.columns), ...optionGroups([...sharedOptions(), helpOption()], style)]);
}

function noPage(path: readonly string[], program: CliCommand): Error {
  const parent = program.find(path.slice(0, -1));
  const names = (parent?.commands ?? []).map((command) => command.name());
  const nearest = nearestName(path.at(-1) ?? '', path.length === 1 ? [...names, OPTIONS] : names);
  const meant = nearest && `Did you mean ${commandLine(['help', ...path.slice(0, -1), nearest])}?`;
  return usageError(`no help about '${path.join(' ')}'`, undefined, [
    meant ?? `Commands: ${(parent ?? program).fullName} --help`,
  ]);
}
