import { Option } from 'commander';
import { usageError } from './errors/cli-error.ts';

/** An option that takes one of some words. Completion scripts and `help --json` read them from it. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argParser((text) => oneOf(choices, text, option.long ?? flags));
  option.argChoices = [...choices]; // by hand, since `choices()` brings a message of its own
  return option;
}

/** `text` as one of `choices`. @throws CliError that names `label` and the choices */
export function oneOf<const Choice extends string>(choices: readonly Choice[], text: string, label: string): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw usageError(`${label} expects one of ${choices.join(', ')}, got '${text}'`);
}
