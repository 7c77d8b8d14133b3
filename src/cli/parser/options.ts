import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { parseDuration } from '../settings/duration.ts';

/** Reads the text of an option, a variable or a setting. @throws CliError that names `label`, the source of the text */
export interface Parse<Value> {
  (text: string, label: string): Value;
  /** For completion. */
  readonly choices?: readonly string[];
}

const OUTPUT_FORMATS = ['auto', 'table', 'json', 'compact', 'csv', 'tsv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorWhen = (typeof COLOR_CHOICES)[number];

/** The shared options that were typed. */
export interface SharedOptions {
  readonly output?: OutputFormat;
  readonly json?: boolean;
  readonly get?: readonly string[];
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly keyStdin?: boolean;
  readonly keyFile?: string;
  readonly insecureHttp?: boolean;
  readonly timeout?: number;
  readonly retries?: number;
  readonly maxWait?: number;
  readonly wait?: boolean;
  readonly color?: ColorWhen | false;
  readonly input?: boolean;
  readonly quiet?: number;
  readonly verbose?: number;
  readonly dryRun?: boolean;
  readonly curl?: boolean;
}

export const parseOutputFormat = oneOf(OUTPUT_FORMATS);
export const parseColor = oneOf(COLOR_CHOICES);
export const parseSwitch = oneOf(['on', 'off']);
export const parseRetries = wholeNumber(0, 99);

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

/** The groups of the options that commands share. */
export const OPTION_GROUPS = ['Output', 'Connection', 'Waiting', 'General'] as const;

/** Every shared option, in the order of `fxrates help options`. */
export function sharedOptions(): readonly Option[] {
  const service = [...keyOptions(), ...attemptOptions(), ...requestOptions(), ...waitingOptions()];
  return [...dataOptions(), ...formatOptions(), ...service, ...generalOptions()];
}

/** For commands that print data. `formats`: those that the command has; the others are refused. */
export function dataOptions(formats: readonly OutputFormat[] = OUTPUT_FORMATS): readonly Option[] {
  return inGroup('Output', [
    outputOption(formats),
    repeatableOption('--get <path>', 'one value: rates.EUR or /rates/EUR (repeatable)'),
  ]);
}

/** A command that prints no data has only `-o json`, for its errors. */
export function outputOption(formats: readonly OutputFormat[]): Option {
  const text = `${formats.join(', ')} (env: FXRATES_OUTPUT)`;
  return parsedOption('-o, --output <format>', text, Object.assign(oneOf(OUTPUT_FORMATS), { choices: formats }));
}

/** For every command, as are the general options. */
export function formatOptions(): readonly Option[] {
  return inGroup('Output', [
    new Option('--json', 'same as -o json: data and errors as JSON').conflicts('output'),
    parsedOption('--color <when>', 'auto, always or never', parseColor),
    new Option('--no-color', 'same as --color never'),
  ]);
}

export function generalOptions(): readonly Option[] {
  return inGroup('General', [
    new Option('-q, --quiet', 'hide notes and progress; -qq: also errors').argParser(count),
    new Option('--no-input', 'disable prompts (env: FXRATES_NO_INPUT, CI)'),
    new Option('-v, --verbose', 'show requests; -vv: also headers and bodies').argParser(count),
  ]);
}

export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup('General');
}

/** For commands that use the service: where it is, and with which key. */
export function keyOptions(): readonly Option[] {
  return inGroup('Connection', [
    new Option('--base-url <url>', 'URL of the service (env: FXRATES_BASE_URL)'),
    profileOption(),
    new Option('--key-file <file>', 'file with the key (env: FXRATES_API_KEY_FILE)'),
    new Option('--key-stdin', 'read the key from the first line of stdin').conflicts('keyFile'),
  ]);
}

export function profileOption(): Option {
  const text = 'stored URL, key and settings (env: FXRATES_PROFILE)';
  return parsedOption('--profile <name>', text, parseProfile).helpGroup('Connection');
}

function attemptOptions(): readonly Option[] {
  return inGroup('Connection', [
    parsedOption('--timeout <duration>', 'limit for one attempt (default: 30s, env: FXRATES_TIMEOUT)', parseTimeout),
    parsedOption('--retries <count>', 'retries of a failed attempt (default: 2, env: FXRATES_RETRIES)', parseRetries),
    new Option('--insecure-http', 'allow http:// to other machines; exposes the key'),
  ]);
}

function waitingOptions(): readonly Option[] {
  return inGroup('Waiting', [
    parsedOption(
      '--max-wait <duration>',
      'longest total wait for limits (default: 10m, env: FXRATES_MAX_WAIT)',
      parseDuration,
    ),
    new Option('--no-wait', 'fail immediately when rate limited (exit 7)').conflicts('maxWait'),
  ]);
}

/** For commands that send requests. */
export function connectionOptions(): readonly Option[] {
  return [...keyOptions(), ...attemptOptions(), ...waitingOptions()];
}

/** For commands that send a single request, which they can print instead. */
export function requestOptions(): readonly Option[] {
  return inGroup('Connection', [
    new Option('--dry-run', 'print the request as JSON instead of sending it'),
    new Option('--curl', 'print the request as a curl command instead'),
  ]);
}

/** An option whose value `parse` converts. */
export function parsedOption(flags: string, description: string, parse: Parse<unknown>): Option {
  const option = new Option(flags, description);
  if (parse.choices !== undefined) option.argChoices = [...parse.choices];
  return option.argParser((text) => parse(text, option.long ?? flags));
}

/** An option that accepts the path of a file. An empty path usually comes from a shell variable that is not set. */
export function fileOption(flags: string, description: string): Option {
  return parsedOption(flags, description, (text, label) => {
    if (text === '') throw usageError(`${label} expects the path of a file, got ''`);
    return text;
  });
}

/** An option that may be typed several times: its value is the list of all texts. `choices` are for completion. */
export function repeatableOption(flags: string, description: string, choices: readonly string[] = []): Option {
  const option = new Option(flags, description);
  if (choices.length > 0) option.argChoices = [...choices];
  return option.argParser((text: string, texts: readonly string[] = []) => [...texts, text]);
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

function inGroup(group: (typeof OPTION_GROUPS)[number], options: Option[]): Option[] {
  for (const option of options) option.helpGroup(group);
  return options;
}

function count(_value: unknown, previous: number | undefined): number {
  return (previous ?? 0) + 1;
}
