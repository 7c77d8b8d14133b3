import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { parseDuration } from './duration.ts';
import { choiceOption, oneOf, parsedOption, repeatableOption, wholeNumber } from './option-types.ts';

/** The output formats, with their texts for `fxrates help formatting`. */
export const OUTPUT_FORMATS = {
  auto: 'a table on a terminal, JSON in a pipe or a file: the default of every command',
  table: 'the table also in a pipe, for people: its layout may change',
  json: 'the JSON of "data": unchanged in a pipe, indented on a terminal',
  compact: 'the same JSON without white space',
  csv: 'for spreadsheets: the header name,value, then one row per value, quoted as in RFC 4180; with --get one column per path; with --watch the time comes first, with batch the parameters',
  tsv: 'one line per value: dotted path, tab, value; tab, line break and backslash as \\t, \\n, \\\\',
  raw: 'the whole response body, byte for byte',
} as const;
export type OutputFormat = keyof typeof OUTPUT_FORMATS;
const FORMAT_NAMES = Object.keys(OUTPUT_FORMATS) as readonly OutputFormat[]; // the keys of the record
const COLOR_CHOICES = ['auto', 'always', 'never'] as const;

/** The options of every command, as commander returns them; absent means not typed. */
export interface GlobalOptions {
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
  readonly wait: boolean;
  readonly color?: 'auto' | 'always' | 'never' | false;
  readonly input: boolean;
  readonly quiet?: number;
  readonly verbose?: number;
  readonly dryRun?: boolean;
  readonly curl?: boolean;
}

/** Help shows only the groups that the command uses. */
type OptionGroup = 'Output' | 'Connection' | 'Waiting' | 'General';

/** Fresh objects each time, because commander keeps state in them. */
export function createGlobalOptions(): readonly Option[] {
  return [...outputOptions(), ...connectionOptions(), ...waitingOptions(), ...generalOptions()];
}

export const parseOutputFormat = oneOf(FORMAT_NAMES);
export const parseColor = oneOf(COLOR_CHOICES);
export const parseSwitch = oneOf(['on', 'off']);
export const parseRetries = wholeNumber(0, 99);

export function parseTimeout(text: string, label: string): number {
  const timeoutMs = parseDuration(text, label);
  if (timeoutMs > 0 && Number.isFinite(timeoutMs)) return timeoutMs;
  throw usageError(`${label} expects a time above 0, got '${text}'`, 'each attempt needs a limit, e.g. 30s');
}

/** Also a name in JSON and in shells. */
export function parseProfile(text: string, label: string): string {
  if (/^[A-Za-z0-9][\w-]{0,63}$/.test(text)) return text;
  throw usageError(`${label} expects a name of letters, digits, - and _, got '${text}'`);
}

function outputOptions(): Option[] {
  return inGroup('Output', [
    choiceOption('-o, --output <format>', `${FORMAT_NAMES.join(', ')} (env: FXRATES_OUTPUT)`, FORMAT_NAMES),
    new Option('--json', 'same as -o json: data and errors as JSON'),
    repeatableOption('--get <path>', 'one value: rates.EUR or /rates/EUR (repeatable)'),
    choiceOption('--color <when>', 'auto, always or never', COLOR_CHOICES),
    new Option('--no-color', 'same as --color never'),
  ]);
}

function connectionOptions(): Option[] {
  return inGroup('Connection', [
    new Option('--base-url <url>', 'URL of the service (env: FXRATES_BASE_URL)'),
    parsedOption('--profile <name>', 'stored URL, key and settings (env: FXRATES_PROFILE)', parseProfile),
    new Option('--key-file <file>', 'file with the key (env: FXRATES_API_KEY_FILE)'),
    new Option('--key-stdin', 'read the key from the first line of stdin'),
    parsedOption('--timeout <duration>', 'limit for one attempt (default: 30s, env: FXRATES_TIMEOUT)', parseTimeout),
    parsedOption('--retries <count>', 'retries of a failed attempt (default: 2, env: FXRATES_RETRIES)', parseRetries),
    new Option('--insecure-http', 'allow http:// to other machines; exposes the key'),
    new Option('--dry-run', 'print the request as JSON instead of sending it'),
    new Option('--curl', 'print the request as a curl command instead'),
  ]);
}

function waitingOptions(): Option[] {
  return inGroup('Waiting', [
    parsedOption(
      '--max-wait <duration>',
      'longest total wait for limits (default: 60s, env: FXRATES_MAX_WAIT)',
      parseDuration,
    ),
    new Option('--no-wait', 'fail immediately when rate limited (exit 7)'),
  ]);
}

function generalOptions(): Option[] {
  return inGroup('General', [
    new Option('-q, --quiet', 'hide notes and progress; -qq: also errors').argParser(count),
    new Option('--no-input', 'disable prompts (env: FXRATES_NO_INPUT, CI)'),
    new Option('-v, --verbose', 'show requests; -vv: also headers and bodies').argParser(count),
  ]);
}

function inGroup(group: OptionGroup, options: Option[]): Option[] {
  for (const option of options) option.helpGroup(group);
  return options;
}

function count(_value: unknown, previous: number | undefined): number {
  return (previous ?? 0) + 1;
}
