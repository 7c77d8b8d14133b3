import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';

/** Reads the text of an option, a variable or a setting. @throws CliError that names `label`, the source of the text */
type Parse<Value> = (text: string, label: string) => Value;

/** An option whose value `parse` converts. */
export function parsedOption(flags: string, description: string, parse: Parse<unknown>): Option {
  const option = new Option(flags, description);
  return option.argParser((text) => parse(text, option.long ?? flags));
}

/** An option that accepts one of some words. Completion scripts and `help --json` read them from it. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = parsedOption(flags, description, oneOf(choices));
  option.argChoices = [...choices]; // by hand, since `choices()` brings a message of its own
  return option;
}

/** An option that accepts the path of a file. An empty path usually comes from a shell variable that is not set. */
export function fileOption(flags: string, description: string): Option {
  return parsedOption(flags, description, (text, label) => {
    if (text === '') throw usageError(`${label} expects the path of a file, got ''`);
    return text;
  });
}

/** An option that may be typed several times: its value is the list of all texts. */
export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string, texts: readonly string[] = []) => [...texts, text]);
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  return (text, label) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw usageError(`${label} expects one of ${choices.join(', ')}, got '${text}'`);
  };
}

export function wholeNumber(least: number, most: number): Parse<number> {
  return (text, label) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw usageError(`${label} expects a whole number from ${least} to ${most}, got '${text}'`);
  };
}
