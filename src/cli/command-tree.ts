import { type Command, Option } from 'commander';
import type { CommandArgument, CommandSpec, Example } from './command.ts';

/** A command with its subcommands as data, for help, completion and the manual page. */
export interface CommandNode {
  /** `['auth', 'login']`; empty for fxrates itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly argument: CommandArgument | undefined;
  readonly options: readonly OptionNode[];
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
  /** Whether it does anything without a subcommand. */
  readonly runs: boolean;
  readonly commands: readonly CommandNode[];
}

export interface OptionNode {
  /** `['-o', '--output']`. */
  readonly names: readonly string[];
  /** The name of its value, such as `format`; `undefined` if it has none. */
  readonly value: string | undefined;
  readonly isValueOptional: boolean;
  /** All values there are; empty when there are too many. */
  readonly choices: readonly string[];
  readonly description: string;
  readonly group: string;
  /** Whether other commands have it, too. */
  readonly isShared: boolean;
}

/** The tree of the very commands that commander parses. */
export function commandTree(
  program: Command,
  { summary, specOf }: { readonly summary: string; readonly specOf: Pick<ReadonlyMap<Command, CommandSpec>, 'get'> },
): CommandNode {
  const node = (command: Command, path: readonly string[]): CommandNode => {
    const spec = specOf.get(command);
    const options = spec === undefined ? [...command.options, helpOption()] : usefulOptions(command, spec);
    const own = spec === undefined ? [] : command.options;
    return {
      path,
      summary: spec?.summary ?? summary,
      description: spec?.description ?? summary,
      argument: spec?.argument,
      options: options.map((option) => optionNode(option, !own.includes(option))),
      examples: spec?.examples ?? [],
      notes: spec?.notes ?? [],
      runs: spec?.run !== undefined,
      commands: command.commands.map((child) => node(child, [...path, child.name()])),
    };
  };
  return node(program, []);
}

/** `['auth', 'login']`. */
export function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

/** The command and all under it. */
export function allCommands(tree: CommandNode): readonly CommandNode[] {
  return [tree, ...tree.commands.flatMap(allCommands)];
}

export function optionNode(option: Option, isShared: boolean): OptionNode {
  const { short, long, flags, optional, argChoices = [], description, helpGroupHeading } = option;
  return {
    names: [short, long].filter((name) => name !== undefined),
    value: /[<[](.+)[>\]]/.exec(flags)?.[1],
    isValueOptional: optional,
    choices: argChoices,
    description,
    group: helpGroupHeading ?? 'Options',
    isShared,
  };
}

/** The options that a command has a use for: its own, then the global ones, in the order of their declaration. */
export function usefulOptions(command: Command, spec: CommandSpec): readonly Option[] {
  const global = globalOptionsOf(command).filter(
    (option) => spec.refused?.[option.long ?? ''] === undefined && isOfUse(option, spec),
  );
  return [...command.options, ...global, helpOption()];
}

/** Commander does not list its own option. */
export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup('General');
}

/** Only commands that call the service use the options for connection and waiting. */
function isOfUse({ helpGroupHeading, long }: Option, spec: CommandSpec): boolean {
  if (long === '--dry-run' || long === '--curl') return spec.sendsRequest ?? false;
  if (long === '--get' || long === '--output') return spec.printsData ?? false;
  if (long === '--profile' && spec.usesConfig) return true;
  return spec.usesConnectionSettings || helpGroupHeading === 'General' || helpGroupHeading === 'Output';
}

/** The options of the program itself. */
export function globalOptionsOf({ parent, options }: Command): readonly Option[] {
  return parent === null ? options : globalOptionsOf(parent);
}
