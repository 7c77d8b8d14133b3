import { VERSION } from '../../version.ts';
import { allCommands, type CommandNode, type OptionNode } from '../command-tree.ts';
import { exitCodeMeanings } from '../exit-codes.ts';
import { topicOf, topics } from './topics.ts';

/** Help for programs: all of it, or that of one command or topic; `undefined` when there is none. */
export function helpJson(tree: CommandNode, path: readonly string[]): string | undefined {
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
    exit_codes: exitCodeMeanings.map(([code, name, meaning]) => ({ code: Number(code), name, meaning })),
  };
}

/** Global options stand once, at the program; a command names those that it has a use for. */
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
