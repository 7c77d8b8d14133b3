import type { Command } from 'commander';

/**
 * The command line for commander's parser, which would drop a `--` and take the next word for a subcommand: one more
 * `--` makes a command that runs a program, `[-- command...]`, find it at the head of its arguments.
 */
export function keepSeparator(argv: readonly string[], program: Command): readonly string[] {
  const at = argv.indexOf('--');
  const name = commandWord(argv.slice(0, Math.max(at, 0)), program);
  const command = program.commands.find((candidate) => candidate.name() === name);
  const runsProgram = command?.registeredArguments.some((argument) => argument.name().startsWith('--')) ?? false;
  return runsProgram ? argv.toSpliced(at, 0, '--') : argv;
}

/** The first word that is neither an option of all commands nor the value of one. */
function commandWord(words: readonly string[], { options }: Command): string | undefined {
  const takesValue = (word = '') =>
    options.some(({ required, short, long }) => required && (word === long || isCluster(word, short)));
  return words.find((word, index) => !word.startsWith('-') && !takesValue(words[index - 1]));
}

/** Whether a word such as `-qo` ends with this short option. */
function isCluster(word: string, short = ''): boolean {
  return short !== '' && /^-[a-z]+$/i.test(word) && word.endsWith(short.slice(1));
}
