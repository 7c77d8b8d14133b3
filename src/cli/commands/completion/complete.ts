import { readFileSync, statSync } from 'node:fs';
import type { Argument, Option } from 'commander';
import { utf8Text } from '../../../text.ts';
import type { CliCommand } from '../../command.ts';
import type { Env } from '../../io.ts';
import { sharedOptions } from '../../options.ts';
import { createProgram } from '../../program.ts';
import { configFolder, pathIn } from '../../storage/folders.ts';
import { seenCurrencies } from '../../storage/seen-currencies.ts';

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
 * directive. The words are those after `fxrates`; the last one is to be completed.
 */
export async function completionText(argv: readonly string[], env: Env): Promise<string> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const { candidates, directive } = await complete(words, { program: createProgram(), env });
  const lines = candidates.map(({ word, description = '' }) => (description === '' ? word : `${word}\t${description}`));
  return `${[...lines, `:${directive}`].join('\n')}\n`;
}

interface Context {
  readonly program: CliCommand;
  readonly env: Env;
}

/** The candidates for the last of `words`. */
export async function complete(words: readonly string[], context: Context): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const position = positionAfter(words.slice(0, -1), context.program);
  const { candidates, directive } = await offersAt(position, current, context);
  const fitting = candidates.filter(({ word }) => word.startsWith(current));
  const areUnfinished = fitting.length > 0 && fitting.every(({ word }) => word.endsWith('='));
  return { candidates: fitting, directive: directive + (areUnfinished ? DIRECTIVES.noSpace : 0) };
}

/** Where in the command line the word to be completed is. */
interface Position {
  readonly command: CliCommand;
  /** The arguments before the word. */
  readonly args: readonly string[];
  /** The option whose value is next. */
  readonly option: Option | undefined;
  readonly isAfterSeparator: boolean;
}

function positionAfter(words: readonly string[], program: CliCommand): Position {
  const start: Position = { command: program, args: [], option: undefined, isAfterSeparator: false };
  return words.reduce(advanced, start);
}

function advanced(position: Position, word: string): Position {
  const { command, args, isAfterSeparator } = position;
  if (isValueOf(position.option, word)) return { ...position, option: undefined };
  if (isAfterSeparator) return { ...position, args: [...args, word] };
  if (word === '--') return { ...position, isAfterSeparator: true };
  if (word.startsWith('-') && word !== '-') return { ...position, option: optionAwaitingValue(word, command) };
  const subcommand = args.length > 0 ? undefined : command.find([word]);
  return subcommand === undefined ? { ...position, args: [...args, word] } : { ...position, command: subcommand };
}

/** `--output`, `-o` and `-qo` await a value, `--output=json` has it. */
function optionAwaitingValue(word: string, command: CliCommand): Option | undefined {
  const option = findOption(word.startsWith('--') ? word : `-${word.at(-1)}`, command);
  return option?.required || option?.optional ? option : undefined;
}

/** After `--watch`, whose value is optional, a word that starts with `-` is the next option. */
function isValueOf(option: Option | undefined, word: string): option is Option {
  return option !== undefined && !(option.optional && word.startsWith('-'));
}

function findOption(name: string, command: CliCommand): Option | undefined {
  return [...command.options, ...sharedOptions()].find(({ short, long }) => short === name || long === name);
}

async function offersAt(position: Position, current: string, context: Context): Promise<Completion> {
  const { command, args, option, isAfterSeparator } = position;
  if (isAfterSeparator && command.syntax.startsWith('[--'))
    return { candidates: [], directive: DIRECTIVES.commandLine };
  if (isValueOf(option, current)) return valueOffers(option, current, context);
  if (!current.startsWith('-') || isAfterSeparator) return argumentOffers(command, { args, current }, context);
  const [name = ''] = current.split('=', 1);
  if (name === current) return optionOffers(command, current);
  const assigned = name.startsWith('--') ? findOption(name, command) : undefined; // `-o=csv` is refused
  return assigned === undefined ? NOTHING : assignedOffers(assigned, { name, current }, context);
}

const NOTHING: Completion = { candidates: [], directive: DIRECTIVES.noFiles };

/** Short names only after a single `-`. */
function optionOffers({ ownOptions, sharedOptions: shared }: CliCommand, current: string): Completion {
  const candidates = [...ownOptions, ...shared].flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word === undefined ? [] : [{ word, description }])),
  );
  const isOffered = ({ word }: Candidate) => current === '-' || word.startsWith('--');
  return { ...NOTHING, candidates: candidates.filter(isOffered) };
}

/** `--color=al`, as one word. */
async function assignedOffers(
  option: Option,
  { name, current }: { readonly name: string; readonly current: string },
  context: Context,
): Promise<Completion> {
  const { candidates, directive } = await valueOffers(option, current.slice(name.length + 1), context);
  return { directive, candidates: candidates.map(({ word }) => ({ word: `${name}=${word}` })) };
}

async function valueOffers(
  { long, flags, argChoices = [] }: Option,
  current: string,
  { program, env }: Context,
): Promise<Completion> {
  if (long === '--profile') return { ...NOTHING, candidates: profileNames(env).map((word) => ({ word })) };
  if (flags.includes('<name=')) return parameterOffers(program, current, env);
  const directive = /\bfile\b/.test(flags) ? 0 : DIRECTIVES.noFiles;
  const choices = long === '--behaviour' ? [...argChoices, ...(await switchValues())] : argChoices;
  return { candidates: inSteps(choices, current).map((word) => ({ word })), directive };
}

/** `switch=value` for each value of each switch of the mock, which only this completion loads. */
async function switchValues(): Promise<readonly string[]> {
  const { createMockServer } = await import('../../../mock-server/index.ts');
  const settable = createMockServer()
    .behaviour.describe()
    .filter(({ provenance }) => provenance !== 'documented');
  return settable.flatMap(({ name, default: byDefault, alternatives }) =>
    [byDefault, ...alternatives].map((value) => `${name}=${value}`),
  );
}

/** Of choices such as `switch=value`, first the names, then the values of the one that was typed. */
function inSteps(choices: readonly string[], current: string): readonly string[] {
  if (current.includes('=')) return choices;
  return [...new Set(choices.map((choice) => choice.replace(/=.*/s, '=')))];
}

interface TypedArguments {
  readonly args: readonly string[];
  readonly current: string;
}

async function argumentOffers(
  command: CliCommand,
  { args, current }: TypedArguments,
  context: Context,
): Promise<Completion> {
  const { registeredArguments, commands } = command;
  if (args.length === 0 && commands.length > 0) {
    return { ...NOTHING, candidates: commands.map((child) => ({ word: child.name(), description: child.summary() })) };
  }
  const argument = registeredArguments[args.length] ?? registeredArguments.findLast(({ variadic }) => variadic);
  const name = argument?.name() ?? '';
  if (name === 'name=value') return parameterOffers(context.program, current, context.env);
  if (args.length > 0 && name !== 'file') return furtherOffers(command, { args, current }, context);
  return { candidates: choicesOf(argument), directive: name === 'file' ? 0 : DIRECTIVES.noFiles };
}

function choicesOf(argument: Argument | undefined): readonly Candidate[] {
  return (argument?.argChoices ?? []).map((word) => ({ word }));
}

/** After `help auth` come the commands of auth; after `config set output`, the values of --output. */
async function furtherOffers(
  { path }: CliCommand,
  { args, current }: TypedArguments,
  context: Context,
): Promise<Completion> {
  const [name = ''] = args;
  if (path[0] === 'help') {
    return argumentOffers(positionAfter(args, context.program).command, { args: [], current }, context);
  }
  if (path.join(' ') !== 'config set' || args.length > 1) return NOTHING;
  if (name === 'share_limit') return { ...NOTHING, candidates: [{ word: 'on' }, { word: 'off' }] }; // it has no option
  const option = findOption(`--${name.replaceAll('_', '-')}`, context.program);
  return option === undefined ? NOTHING : valueOffers(option, current, context);
}

/** Names of parameters from the examples of help. After `symbols=` and `symbols=EUR,`, currencies. */
function parameterOffers(program: CliCommand, current: string, env: Env): Completion {
  const [name = ''] = current.split('=', 1);
  if (name === current) {
    const takers = program.commands.filter(({ syntax }) => syntax.includes('name=value'));
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
    const isFile = path !== undefined && statSync(path).isFile(); // a pipe would block
    const { profiles } = JSON.parse(isFile ? (utf8Text(readFileSync(path)) ?? '') : '{}');
    return Object.keys(profiles ?? {}).toSorted();
  } catch {
    return []; // no file, or not JSON
  }
}
