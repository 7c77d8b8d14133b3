import { readFileSync } from 'node:fs';
import { utf8Text } from '../../../utf8-text.ts';
import type { CommandNode, OptionNode } from '../../command-tree.ts';
import { finishedTree } from '../../finished-tree.ts';
import { configFolder, pathIn } from '../../storage/folders.ts';
import { seenCurrencies } from '../../storage/seen-currencies.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Instructions to the shell, added up. `noSpace` and `noFiles` have the numbers of Cobra. */
const DIRECTIVES = {
  /** The shell adds no space after the candidate: `base=` is not a whole word. */
  noSpace: 2,
  /** The shell adds no file names. */
  noFiles: 4,
  /** The word belongs to the command line after `--`, which the shell completes itself. */
  commandLine: 64,
} as const;

interface Candidate {
  readonly word: string;
  readonly description?: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/**
 * The output of `fxrates __complete -- words…`: a candidate per line, its description after a tab, then a colon and the
 * directive. The words are those after `fxrates`; the last one is to be completed. It loads no command.
 */
export async function completionText(argv: readonly string[], env: Env): Promise<string> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const { candidates, directive } = complete(words, { tree: await finishedTree(), env });
  const lines = candidates.map(({ word, description = '' }) => (description === '' ? word : `${word}\t${description}`));
  return `${[...lines, `:${directive}`].join('\n')}\n`;
}

interface Context {
  readonly tree: CommandNode;
  readonly env: Env;
}

/** The candidates for the last of `words`. */
export function complete(words: readonly string[], context: Context): Completion {
  const current = words.at(-1) ?? '';
  const position = positionAfter(words.slice(0, -1), context.tree);
  const { candidates, directive } = offersAt(position, current, context);
  const fitting = candidates.filter(({ word }) => word.startsWith(current));
  const areUnfinished = fitting.length > 0 && fitting.every(({ word }) => word.endsWith('='));
  return { candidates: fitting, directive: directive + (areUnfinished ? DIRECTIVES.noSpace : 0) };
}

/** Where in the command line the word to be completed is. */
interface Position {
  readonly command: CommandNode;
  /** The arguments before the word. */
  readonly args: readonly string[];
  /** The option whose value is next. */
  readonly option: OptionNode | undefined;
  readonly isAfterSeparator: boolean;
}

function positionAfter(words: readonly string[], tree: CommandNode): Position {
  const start: Position = { command: tree, args: [], option: undefined, isAfterSeparator: false };
  return words.reduce((position, word) => advanced(position, word, tree), start);
}

function advanced(position: Position, word: string, tree: CommandNode): Position {
  const { command, args, isAfterSeparator } = position;
  if (isValueOf(position.option, word)) return { ...position, option: undefined };
  if (isAfterSeparator) return { ...position, args: [...args, word] };
  if (word === '--') return { ...position, isAfterSeparator: true };
  if (word.startsWith('-') && word !== '-') return { ...position, option: optionAwaitingValue(word, command, tree) };
  const subcommand = args.length > 0 ? undefined : command.commands.find(({ path }) => path.at(-1) === word);
  return subcommand === undefined ? { ...position, args: [...args, word] } : { ...position, command: subcommand };
}

/** `--output`, `-o` and `-qo` await a value, `--output=json` has it. */
function optionAwaitingValue(word: string, command: CommandNode, tree: CommandNode): OptionNode | undefined {
  const name = word.startsWith('--') ? word : `-${word.at(-1)}`;
  const option = findOption(name, command, tree);
  return option?.value === undefined ? undefined : option;
}

/** After `--watch`, whose value is optional, a word that starts with `-` is the next option. */
function isValueOf(option: OptionNode | undefined, word: string): option is OptionNode {
  return option !== undefined && !(option.isValueOptional && word.startsWith('-'));
}

function findOption(name: string, command: CommandNode, tree: CommandNode): OptionNode | undefined {
  return [...command.options, ...tree.options].find(({ names }) => names.includes(name));
}

function offersAt(position: Position, current: string, context: Context): Completion {
  const { command, args, option, isAfterSeparator } = position;
  if (isAfterSeparator && runsProgram(command)) return { candidates: [], directive: DIRECTIVES.commandLine };
  if (isValueOf(option, current)) return valueOffers(option, current, context);
  if (!current.startsWith('-') || isAfterSeparator) return argumentOffers(command, { args, current }, context);
  const [name = ''] = current.split('=', 1);
  if (name === current) return optionOffers(command, current);
  const assigned = name.startsWith('--') ? findOption(name, command, context.tree) : undefined; // `-o=csv` is refused
  return assigned === undefined ? NOTHING : assignedOffers(assigned, { name, current }, context);
}

const NOTHING: Completion = { candidates: [], directive: DIRECTIVES.noFiles };

function runsProgram({ argument }: CommandNode): boolean {
  return argument?.syntax.startsWith('[--') ?? false;
}

/** Short names only after a single `-`. */
function optionOffers({ options }: CommandNode, current: string): Completion {
  const named = options.flatMap(({ names, description }) => names.map((word) => ({ word, description })));
  const candidates = current === '-' ? named : named.filter(({ word }) => word.startsWith('--'));
  return { ...NOTHING, candidates };
}

/** `--color=al`, as one word. */
function assignedOffers(
  option: OptionNode,
  { name, current }: { readonly name: string; readonly current: string },
  context: Context,
): Completion {
  const { candidates, directive } = valueOffers(option, current.slice(name.length + 1), context);
  return { directive, candidates: candidates.map(({ word }) => ({ word: `${name}=${word}` })) };
}

function valueOffers({ names, value = '', choices }: OptionNode, current: string, { tree, env }: Context): Completion {
  if (names.includes('--profile')) return { ...NOTHING, candidates: profileNames(env).map((word) => ({ word })) };
  if (value.startsWith('name=')) return parameterOffers(tree, current, env);
  const directive = /\bfile\b/.test(value) ? 0 : DIRECTIVES.noFiles;
  return { candidates: inSteps(choices, current).map((word) => ({ word })), directive };
}

/** Of choices such as `switch=value`, first the names, then the values of the one that was typed. */
function inSteps(choices: readonly string[], current: string): readonly string[] {
  if (current.includes('=')) return choices;
  return [...new Set(choices.map((choice) => choice.replace(/=.*/s, '=')))];
}

interface Argument {
  readonly args: readonly string[];
  readonly current: string;
}

function argumentOffers(command: CommandNode, { args, current }: Argument, context: Context): Completion {
  const { argument, commands } = command;
  const { tree, env } = context;
  if (args.length === 0 && commands.length > 0) {
    return {
      ...NOTHING,
      candidates: commands.map(({ path, summary }) => ({ word: path.at(-1) ?? '', description: summary })),
    };
  }
  const placeholders = argument?.syntax.match(/[\w=-]+(?:\.\.\.)?/g) ?? [];
  const placeholder = placeholders[args.length] ?? placeholders.findLast((name) => name.endsWith('...')) ?? '';
  if (placeholder.startsWith('name=')) return parameterOffers(tree, current, env);
  if (args.length === 0) {
    const directive = /\bfile\b/.test(placeholder) ? 0 : DIRECTIVES.noFiles;
    return { candidates: (argument?.choices ?? []).map((word) => ({ word })), directive };
  }
  if (/\bfile\b/.test(placeholder)) return { candidates: [], directive: 0 };
  return furtherOffers(command, { args, current }, context);
}

/** After `help auth` come the commands of auth; after `config set output`, the values of --output. */
function furtherOffers({ path }: CommandNode, { args, current }: Argument, context: Context): Completion {
  const { tree } = context;
  const [name = ''] = args;
  if (path[0] === 'help') return argumentOffers(positionAfter(args, tree).command, { args: [], current }, context);
  if (path.join(' ') !== 'config set' || args.length > 1) return NOTHING;
  if (name === 'share_limit') return { ...NOTHING, candidates: [{ word: 'on' }, { word: 'off' }] }; // it has no option
  const option = findOption(`--${name.replaceAll('_', '-')}`, tree, tree);
  return option === undefined ? NOTHING : valueOffers(option, current, context);
}

/** Names of parameters from the examples of help. After `symbols=` and `symbols=EUR,`, currencies. */
function parameterOffers(tree: CommandNode, current: string, env: Env): Completion {
  const [name = ''] = current.split('=', 1);
  if (name === current) {
    const takers = tree.commands.filter(({ argument }) => argument?.syntax.includes('name=value'));
    const examples = takers.flatMap((command) => command.examples.map((example) => example.command));
    const names = examples.flatMap((example) => example.match(/(?<= )[a-z]\w*=/g) ?? []);
    return { ...NOTHING, candidates: [...new Set(names)].map((word) => ({ word })) };
  }
  const typed = current.slice(0, Math.max(current.lastIndexOf(','), name.length) + 1);
  const given = typed.slice(name.length + 1).split(',');
  const currencies = seenCurrencies(env).filter((currency) => !given.includes(currency));
  return { ...NOTHING, candidates: currencies.map((currency) => ({ word: typed + currency })) };
}

/** Of config.json; none if it cannot be used, which other commands report. */
function profileNames(env: Env): readonly string[] {
  const path = pathIn(configFolder(env), 'config.json');
  try {
    const { profiles } = JSON.parse(path === undefined ? '{}' : (utf8Text(readFileSync(path)) ?? ''));
    return Object.keys(profiles ?? {}).toSorted();
  } catch {
    return []; // no file, or not JSON
  }
}
