import type { Option } from 'commander';
import type { Env } from '../io/io.ts';
import type { CliCommand } from '../parser/command.ts';
import { isSettingName, rowOf } from '../settings/options.ts';
import { readConfig } from '../settings/stored-files.ts';
import { parseLine } from './program.ts';

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

interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

const NOTHING: Completion = { candidates: [], directive: DIRECTIVES.noFiles };

/**
 * The output of `fxrates __complete -- words…`: a candidate per line, its description after a tab, then a colon and the
 * directive. The words are those after `fxrates`; the last one is to be completed.
 */
export async function completionText(argv: readonly string[], env: Env): Promise<string> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const current = words.at(-1) ?? '';
  const { candidates, directive } = await offersAt(positionAfter(words.slice(0, -1)), current, env);
  const fitting = candidates.filter(({ word }) => word.startsWith(current));
  const areUnfinished = fitting.length > 0 && fitting.every(({ word }) => word.endsWith('='));
  const lines = fitting.map(({ word, description = '' }) => (description === '' ? word : `${word}\t${description}`));
  return `${[...lines, `:${directive + (areUnfinished ? DIRECTIVES.noSpace : 0)}`].join('\n')}\n`;
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

/** The command, its arguments and the option that awaits a value, after these words; commander may have found an error. */
function positionAfter(words: readonly string[]): Position {
  const { command, end } = parseLine(words);
  const isAfterSeparator = words.includes('--');
  const topic = command.path[0] === 'help' && command.args.length > 0 ? command.parent?.find(command.args) : undefined;
  if (topic !== undefined) return { command: topic, args: [], option: undefined, isAfterSeparator };
  const [word = ''] = words.slice(-1);
  // `--output`, `-o` and `-qo` await a value.
  const last = isAfterSeparator ? undefined : findOption(word.startsWith('--') ? word : `-${word.at(-1)}`, command);
  const isAwaited = last?.optional || end?.code === 'commander.optionMissingArgument';
  return { command, args: command.args, option: isAwaited ? last : undefined, isAfterSeparator };
}

/** After `--watch`, whose value is optional, a word that starts with `-` is the next option. */
function isValueOf(option: Option | undefined, word: string): option is Option {
  return option !== undefined && !(option.optional && word.startsWith('-'));
}

function findOption(name: string, { options }: CliCommand): Option | undefined {
  return options.find(({ short, long }) => short === name || long === name);
}

async function offersAt(position: Position, current: string, env: Env): Promise<Completion> {
  const { command, option, isAfterSeparator } = position;
  if (isAfterSeparator && command.runsProgram) return { candidates: [], directive: DIRECTIVES.commandLine };
  if (isValueOf(option, current)) return valueOffers(option, current, env);
  if (!current.startsWith('-') || isAfterSeparator) return argumentOffers(position, current, env);
  const [name = ''] = current.split('=', 1);
  if (name === current) return optionOffers(command, current);
  const assigned = name.startsWith('--') ? findOption(name, command) : undefined; // `-o=csv` is refused
  if (assigned === undefined) return NOTHING;
  const { candidates, directive } = await valueOffers(assigned, current.slice(name.length + 1), env);
  return { directive, candidates: candidates.map(({ word }) => ({ word: `${name}=${word}` })) };
}

/** Short names only after a single `-`. */
function optionOffers({ ownOptions, sharedOptions: shared }: CliCommand, current: string): Completion {
  const candidates = [...ownOptions, ...shared].flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word === undefined ? [] : [{ word, description }])),
  );
  const isOffered = ({ word }: Candidate) => current === '-' || word.startsWith('--');
  return { ...NOTHING, candidates: candidates.filter(isOffered) };
}

async function valueOffers({ long, flags, argChoices = [] }: Option, current: string, env: Env): Promise<Completion> {
  if (long === '--profile') return choiceOffers(profileNames(env), current);
  const choices = long === '--behaviour' ? [...argChoices, ...(await switchValues())] : argChoices;
  const offers = choiceOffers(choices, current);
  return /\bfile\b/.test(flags) ? { ...offers, directive: 0 } : offers;
}

/** Of choices such as `switch=value`, first the names, then the values of the one that was typed. */
function choiceOffers(choices: readonly string[], current: string): Completion {
  const words = current.includes('=') ? choices : new Set(choices.map((choice) => choice.replace(/=.*/s, '=')));
  return { ...NOTHING, candidates: Array.from(words, (word) => ({ word })) };
}

/** `switch=value` for each value of each switch of the mock, which only this completion loads. */
async function switchValues(): Promise<readonly string[]> {
  const { createMockServer } = await import('../../mock-server/index.ts');
  return createMockServer()
    .behaviour.describe()
    .flatMap(({ name, default: byDefault, alternatives }) =>
      [byDefault, ...alternatives].map((value) => `${name}=${value}`),
    );
}

function argumentOffers({ command, args }: Position, current: string, env: Env): Completion {
  const { registeredArguments, commands } = command;
  if (args.length === 0 && commands.length > 0) {
    return { ...NOTHING, candidates: commands.map((child) => ({ word: child.name(), description: child.summary() })) };
  }
  const argument = registeredArguments[args.length] ?? registeredArguments.findLast(({ variadic }) => variadic);
  if (command.path.join(' ') === 'config set' && args[0] !== undefined) return settingOffers(args[0], current, env);
  const offers = choiceOffers(argument?.argChoices ?? [], current);
  return argument?.name() === 'file' ? { ...offers, directive: 0 } : offers;
}

/** Of `config set`. */
function settingOffers(typed: string, current: string, env: Env): Completion {
  const name = typed.replaceAll('-', '_');
  if (name === 'profile') return choiceOffers(profileNames(env), current);
  return choiceOffers((isSettingName(name) && rowOf(name).parse.choices) || [], current);
}

/** Of config.json; none if it cannot be used, which other commands report. */
function profileNames(env: Env): readonly string[] {
  return [...readConfig(env).profiles.keys()].toSorted();
}
