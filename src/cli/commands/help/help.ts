import { nearestName } from '../../../nearest-name.ts';
import { VERSION } from '../../../version.ts';
import type { CommandSpec } from '../../command.ts';
import { allCommands, type CommandNode, helpOption, type OptionNode, optionNode } from '../../command-tree.ts';
import { usageError } from '../../errors/cli-error.ts';
import { exitCodeMeanings, exitCodes } from '../../exit-codes.ts';
import { helpText } from '../../help/command-help.ts';
import { optionSections, paragraphs, twoColumns } from '../../help/page.ts';
import { readEarlyFlags } from '../../settings/early-flags.ts';
import { createGlobalOptions } from '../../settings/global-options.ts';
import type { StreamStyle } from '../../terminal/screen.ts';
import { commandLine, wrap } from '../../terminal/text.ts';
import { type Topic, topicOf, topics } from './topics.ts';

export function helpCommand(tree: () => CommandNode, commandNames: readonly string[]): CommandSpec {
  return {
    name: 'help',
    summary: 'help about a command or a topic',
    description: 'Prints help about a command or a topic.',
    argument: {
      syntax: '[topic...]',
      description: 'a command or a topic',
      choices: [...commandNames, ...Object.keys(topics)],
    },
    examples: [
      { command: 'fxrates help latest', comment: '' },
      { command: 'fxrates help exit-codes', comment: '' },
      { command: 'fxrates help --json', comment: 'every command, option, topic and exit code, for programs' },
    ],
    run: async ({ args, argv, screen }) => {
      // Only the typed option counts: FXRATES_OUTPUT=json is for responses, not for help.
      const isJson = readEarlyFlags(argv, {}).output === 'json';
      const [name] = args;
      const topic = topicOf(name ?? '');
      const page = () => (topic === undefined ? helpText(tree(), args, screen.help) : topicText(topic, screen.help));
      const text = isJson ? helpJson(tree(), args) : page();
      if (text === undefined) throw unknownTopic(args, tree());
      await (isJson ? screen.print(`${text}\n`) : screen.printText(text));
      return exitCodes.ok;
    },
  };
}

function topicText({ intro, entries }: Topic, style: StreamStyle): string {
  const { columns, palette } = style;
  const isOfOptions = entries === topics['options']?.entries; // these are in groups
  const blocks = isOfOptions
    ? optionSections(
        [...createGlobalOptions(), helpOption()].map((option) => optionNode(option, true)),
        style,
      )
    : [twoColumns(entries, { columns, paintTerm: palette.command })];
  return paragraphs([wrap(intro, columns), ...blocks]);
}

function unknownTopic(path: readonly string[], tree: CommandNode): Error {
  const parent = allCommands(tree).find((node) => node.path.join(' ') === path.slice(0, -1).join(' '));
  const names = (parent?.commands ?? []).map((node) => node.path.at(-1) ?? '');
  const known = path.length === 1 ? [...names, ...Object.keys(topics)] : names;
  const nearest = nearestName(path.at(-1) ?? '', known);
  const hints =
    nearest === undefined
      ? [`Topics: ${Object.keys(topics).join(', ')}`, 'Commands: fxrates --help']
      : [`Did you mean ${commandLine(['help', ...path.slice(0, -1), nearest])}?`];
  return usageError(`no help about '${path.join(' ')}'`, undefined, hints);
}

/** Help for programs: all of it, or that of one command or topic; `undefined` if it does not exist. */
function helpJson(tree: CommandNode, path: readonly string[]): string | undefined {
  const [name = ''] = path;
  const topic = path.length === 1 ? topicOf(name) : undefined;
  if (topic !== undefined) return JSON.stringify({ topic: name, ...topic });
  if (path.length === 0) return JSON.stringify({ version: VERSION, ...commandJson(tree, []), ...reference() });
  const command = allCommands(tree).find((candidate) => candidate.path.join(' ') === path.join(' '));
  return command && JSON.stringify(commandJson(command, tree.options));
}

function reference(): object {
  return {
    topics: Object.entries(topics).map(([topic, page]) => ({ topic, ...page })),
    exit_codes: exitCodeMeanings.map(([code, name, meaning]) => ({ code, name, meaning })),
  };
}

/** Global options are described once, for the program; a command lists the names of those that it uses. */
function commandJson(command: CommandNode, globalOptions: readonly OptionNode[]): object {
  const { path, summary, description, argument, options, examples, notes, commands } = command;
  const globalNames = new Set(globalOptions.map(longName));
  const [ofProgram = [], own = []] = [true, false].map((isGlobal) =>
    options.filter((option) => globalNames.has(longName(option)) === isGlobal),
  );
  return {
    command: ['fxrates', ...path].join(' '),
    summary,
    description,
    argument: argument ?? null,
    options: own.map(optionJson),
    global_options: ofProgram.map(longName),
    examples,
    notes,
    commands: commands.map((child) => commandJson(child, globalOptions.length > 0 ? globalOptions : options)),
  };
}

function optionJson({ names, value, isValueOptional, choices, description, group }: OptionNode): object {
  return { names, value: value ?? null, value_optional: isValueOptional, choices, description, group };
}

function longName({ names }: OptionNode): string {
  return names.at(-1) ?? '';
}
