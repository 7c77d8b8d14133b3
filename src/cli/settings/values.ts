import { usageError } from '../errors/cli-error.ts';
import type { ColorWhen } from '../terminal/screen.ts';
import { parseDuration } from './duration.ts';

/** Reads the text of an option, a variable or a setting. @throws CliError that names `label`, the source of the text */
export interface Parse<Value> {
  (text: string, label: string): Value;
  /** For completion. */
  readonly choices?: readonly string[];
}

export const OUTPUT_FORMATS = ['auto', 'table', 'json', 'csv', 'tsv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const parseOutputFormat: Parse<OutputFormat> = Object.assign(
  (text: string, label: string) => {
    const isFile = /[./\\]/.test(text);
    if (isFile) throw usageError(`${label} expects a format, got '${text}'`, undefined, [`To a file:  > ${text}`]);
    return oneOf(OUTPUT_FORMATS)(text, label);
  },
  { choices: OUTPUT_FORMATS },
);
export const parseColor = oneOf<ColorWhen>(['auto', 'always', 'never']);

export function parseTimeout(text: string, label: string): number {
  const timeoutMs = parseDuration(text, label);
  if (timeoutMs > 0) return timeoutMs;
  throw usageError(`${label} expects a time above 0, got '${text}'`, 'each attempt needs a limit, e.g. 30s');
}

/** Also a name in JSON and in shells. */
export function parseProfile(text: string, label: string): string {
  if (/^[A-Za-z0-9][\w-]{0,63}$/.test(text)) return text;
  throw usageError(`${label} expects a name of letters, digits, - and _, got '${text}'`);
}

/** For one of some words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  const parse = (text: string, label: string) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw usageError(`${label} expects one of ${choices.join(', ')}, got '${text}'`);
  };
  return Object.assign(parse, { choices });
}

export function wholeNumber(least: number, most: number): Parse<number> {
  return (text, label) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw usageError(`${label} expects a whole number from ${least} to ${most}, got '${text}'`);
  };
}
