import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { parseDuration } from '../settings/duration.ts';
import {
  OUTPUT_FORMATS,
  type OutputFormat,
  type Parse,
  parseColor,
  parseOutputFormat,
  parseProfile,
  parseRetries,
  parseTimeout,
} from '../settings/values.ts';

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
  const parse = (given: string, label: string) => parseOutputFormat(given, label);
  return parsedOption('-o, --output <format>', text, Object.assign(parse, { choices: formats }));
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
    fileOption('--key-file <file>', 'file with the key (env: FXRATES_API_KEY_FILE)'),
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
    new Option('--insecure-http', 'allow http:// to other machines; exposes the key (env: FXRATES_INSECURE_HTTP)'),
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
  return inGroup('Connection', [new Option('--curl', 'print the request as a curl command instead of sending it')]);
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
    if (text.trim() === '') throw usageError(`${label} expects the path of a file, got '${text}'`);
    return text;
  });
}

/** An option that may be typed several times: its value is the list of all texts. `choices` are for completion. */
export function repeatableOption(flags: string, description: string, choices: readonly string[] = []): Option {
  const option = new Option(flags, description);
  if (choices.length > 0) option.argChoices = [...choices];
  return option.argParser((text: string, texts: readonly string[] = []) => [...texts, text]);
}

function inGroup(group: (typeof OPTION_GROUPS)[number], options: Option[]): Option[] {
  for (const option of options) option.helpGroup(group);
  return options;
}

function count(_value: unknown, previous: number | undefined): number {
  return (previous ?? 0) + 1;
}
