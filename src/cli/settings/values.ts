import { usageError } from '../errors/cli-error.ts';
import type { ColorWhen } from '../terminal/screen.ts';

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

/** Of a variable that switches something on or off. */
export function parseSwitch(text: string, label: string): boolean {
  if (/^(1|true|on)$/i.test(text)) return true;
  if (/^(0|false|off)$/i.test(text)) return false;
  throw usageError(`${label} expects 1, true, on, 0, false or off, got '${text}'`);
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

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** With at most nine digits, so that the milliseconds are a safe integer. */
const PART = /(\d{1,9}(?:\.\d+)?)(ms|s|m|h)/g;

/** Milliseconds of `500ms`, `30s`, `1.5m`, `1h30m` or `0`. `label` is the source of the text. */
export function parseDuration(text: string, label: string): number {
  if (text === '0') return 0;
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw usageError(
      `${label} expects a duration, got '${text}'`,
      'write a number and its unit: 500ms, 30s, 2m, 1h30m',
    );
  }
  return parts.reduce((sum, [, amount, unit = '']) => sum + Math.round(Number(amount) * (UNIT_MS[unit] ?? 0)), 0);
}

const UNITS: readonly (readonly [seconds: number, one: string, several?: string])[] = [
  [86_400, 'day', 'days'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/**
 * A duration as text, in its two largest units: `0.4 s`, `12 s`, `1 min 35 s`, `1 day 1 min`. Rounded up, because a retry
 * must not be too early.
 */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms / 100) / 10} s`;
  const seconds = Math.ceil(ms / 1000);
  const [, { size = 1 } = {}] = unitsOf(seconds);
  const rounded = Math.ceil(seconds / size) * size;
  return unitsOf(rounded)
    .map(({ text }) => text)
    .join(' ');
}

/** The units of which a duration has some, the largest first. */
function unitsOf(seconds: number): readonly { readonly size: number; readonly text: string }[] {
  let rest = seconds;
  return UNITS.flatMap(([size, one, several = one]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count === 0 ? [] : [{ size, text: `${count} ${count === 1 ? one : several}` }];
  });
}

/** The value of an option, exactly: `300ms`, `95s`, `2m`, `1h`. */
export function durationOption(ms: number): string {
  const [unit, size = 1] = Object.entries(UNIT_MS).findLast(([, unitMs]) => ms % unitMs === 0) ?? ['ms'];
  return `${ms / size}${unit}`;
}

/** The value of an option for a wait of this length or a little longer: whole seconds, minutes from 2 on, hours from 2 on. */
export function durationOptionAbove(ms: number): string {
  const stepMs = [3_600_000, 60_000].find((unitMs) => ms >= 2 * unitMs) ?? 1000;
  return durationOption(Math.ceil(ms / stepMs) * stepMs);
}
