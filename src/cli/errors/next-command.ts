import { commandLine } from '../terminal/text.ts';

interface Change {
  /** Options to remove. The name of an option with a value ends with `=`. */
  readonly without?: readonly string[];
  /** Words to add. */
  readonly add?: readonly string[];
}

/** The typed command with a change, for the next step of an error. */
export function changedCommand(argv: readonly string[], { without = [], add = [] }: Change): string {
  const [before, after] = split(argv);
  return commandLine([...before.filter((_, index) => !isPartOf(without, before, index)), ...add, ...after]);
}

/** The options that decide which service is called, and with which key. */
const CONNECTION = ['--profile=', '--base-url=', '--key-file=', '--key-stdin', '--insecure-http'];

/** Another command, with the typed options for the profile, the service and the key. */
export function relatedCommand(words: readonly string[], argv: readonly string[]): string {
  const [before] = split(argv);
  return commandLine([...words, ...before.filter((_, index) => isPartOf(CONNECTION, before, index))]);
}

/** The words before `--` and the others: no word after `--` is an option. */
function split(argv: readonly string[]): readonly [readonly string[], readonly string[]] {
  const end = argv.indexOf('--');
  return end === -1 ? [argv, []] : [argv.slice(0, end), argv.slice(end)];
}

/** Whether a word is one of the options, or the value of one. */
function isPartOf(options: readonly string[], argv: readonly string[], index: number): boolean {
  const [word = '', previous] = [argv[index], argv[index - 1]];
  const isValue = !word.startsWith('-') && options.includes(`${previous}=`);
  return isValue || [word.replace(/=.*/s, '='), `${word}=`].some((name) => options.includes(name));
}
