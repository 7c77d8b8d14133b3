import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { checkBaseUrl, type SourcedText } from './base-url.ts';
import {
  OUTPUT_FORMATS,
  type OutputFormat,
  oneOf,
  type Parse,
  parseColor,
  parseDuration,
  parseOutputFormat,
  parseProfile,
  parseTimeout,
  wholeNumber,
} from './values.ts';

/** The groups of the options that commands share. */
export const OPTION_GROUPS = ['Output', 'Connection', 'Waiting', 'General'] as const;

/**
 * Every shared option, in the order of `fxrates help options`. To add one, write it into the function of its group below, or
 * as a row of `SETTINGS` if config.json has it too: help, completion and `SharedOptions` follow.
 */
export function sharedOptions() {
  const service = [...keyOptions(), ...attemptOptions(), ...requestOptions(), ...waitingOptions()];
  return [...dataOptions(), ...formatOptions(), ...service, ...generalOptions()];
}

/** The shared options as they were typed, before their parsers run, by commander's names. */
export type SharedOptions = ValuesOf<typeof sharedOptions>;

/** For commands that print data. `formats`: those that the command has; the others are refused. */
export function dataOptions(formats: readonly OutputFormat[] = OUTPUT_FORMATS) {
  return inGroup('Output', [
    outputOption(formats),
    repeatableOption('--get <path>', 'one value: rates.EUR or /rates/EUR (repeatable)'),
  ]);
}

/** A command that prints no data has only `-o json`, for its errors. */
export function outputOption(formats: readonly OutputFormat[]) {
  return settingOption('output', formats);
}

/** For every command, as are the general options. */
export function formatOptions() {
  return inGroup('Output', [
    new CliOption('--json', 'same as -o json: data and errors as JSON').conflicts('output'),
    settingOption('color'),
    new CliOption<'--no-color', string>('--no-color', 'same as --color never').preset('never'),
  ]);
}

export function generalOptions() {
  return inGroup('General', [
    countedOption('-q, --quiet', 'hide notes and progress; -qq: also errors'),
    new CliOption('--no-input', 'disable prompts (env: FXRATES_NO_INPUT, CI)'),
    countedOption('-v, --verbose', 'show requests; -vv: also headers and bodies'),
  ]);
}

export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup('General');
}

/** For commands that use the service: where it is, and with which key. */
export function keyOptions() {
  return inGroup('Connection', [
    settingOption('base_url'),
    profileOption(),
    fileOption('--key-file <file>', 'file with the key (env: FXRATES_API_KEY_FILE)'),
    new CliOption('--key-stdin', 'read the key from the first line of stdin').conflicts('keyFile'),
  ]);
}

export function profileOption() {
  return settingOption('profile').helpGroup('Connection');
}

function attemptOptions() {
  return inGroup('Connection', [
    settingOption('timeout'),
    settingOption('retries'),
    new CliOption('--insecure-http', 'allow http:// to other machines; exposes the key (env: FXRATES_INSECURE_HTTP)'),
  ]);
}

/** For commands that do not wait for limits. */
function unwaitingOptions() {
  return [...keyOptions(), ...attemptOptions()];
}

/** For commands that send one attempt. */
export function checkOptions() {
  return unwaitingOptions().filter(({ long }) => long !== '--retries');
}

function waitingOptions() {
  return inGroup('Waiting', [
    settingOption('max_wait'),
    new CliOption('--no-wait', 'fail immediately when rate limited (exit 7)').conflicts('maxWait'),
  ]);
}

/** For commands that send requests. */
export function connectionOptions() {
  return [...unwaitingOptions(), ...waitingOptions()];
}

/** For commands that send a single request, which they can print instead. */
export function requestOptions() {
  return inGroup('Connection', [new CliOption('--curl', 'print the request as a curl command instead of sending it')]);
}

interface Setting<Value> {
  /** Of its option; a setting without one has only a variable and config.json. */
  readonly flags?: string;
  /** For help. Default: the choices. */
  readonly text?: string;
  /** Whether the variable FXRATES_NAME sets it. Default: true */
  readonly hasVariable?: boolean;
  readonly parse: Parse<Value>;
  /** Checks a value before it is stored. */
  check?(value: Value): void;
  readonly byDefault?: string;
}

/** A row for each setting in config.json. Its option, its variable and the types follow from it. */
export const SETTINGS = {
  base_url: {
    flags: '--base-url <url>',
    text: 'URL of the service',
    // Checked where it is used, because `--curl` and `doctor` report an invalid one themselves.
    parse: (text: string, source: string): SourcedText => ({ text, source }),
    check: checkBaseUrl,
  },
  profile: {
    flags: '--profile <name>',
    text: 'stored URL, key and settings',
    parse: parseProfile,
    byDefault: 'default',
  },
  output: { flags: '-o, --output <format>', parse: parseOutputFormat, byDefault: 'auto' },
  timeout: {
    flags: '--timeout <duration>',
    text: 'limit for one attempt',
    parse: parseTimeout,
    byDefault: '30s',
  },
  retries: {
    flags: '--retries <count>',
    text: 'retries of a failed attempt',
    parse: wholeNumber(0, 99),
    byDefault: '2',
  },
  max_wait: {
    flags: '--max-wait <duration>',
    text: 'longest total wait for limits',
    parse: parseDuration,
    byDefault: '10m',
  },
  /** Whether commands share the limit of a key. Default: unless the service is on this machine. */
  share_limit: { parse: oneOf(['on', 'off']) },
  /** Its variables are the usual ones, such as NO_COLOR. */
  color: { flags: '--color <when>', hasVariable: false, parse: parseColor, byDefault: 'auto' },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingName = keyof typeof SETTINGS;

/** A row with all of its fields. */
export function rowOf(name: SettingName): Setting<unknown> & { readonly variable: string | undefined } {
  const row: Setting<unknown> = SETTINGS[name];
  return { ...row, variable: row.hasVariable === false ? undefined : `FXRATES_${name.toUpperCase()}` };
}

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]; // Object.keys loses the type

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/**
 * The option of a setting. `choices`: those that the command has; others are refused later. Its variable is not commander's
 * `env()`, which reads `process.env`, and could neither ignore an invalid value nor place config.json behind it.
 */
function settingOption<Name extends SettingName>(name: Name, choices = rowOf(name).parse.choices) {
  const { flags = '', text = choices?.join(', '), byDefault, variable } = rowOf(name);
  const facts = [
    ...(byDefault === undefined || choices !== undefined ? [] : [`default: ${byDefault}`]),
    ...(variable === undefined ? [] : [`env: ${variable}`]),
  ];
  const description = facts.length === 0 ? `${text}` : `${text} (${facts.join(', ')})`;
  const option = new CliOption<FlagsOf<Name>, string>(flags as FlagsOf<Name>, description); // of the same row
  if (choices !== undefined) option.argChoices = [...choices]; // not `choices()`, whose check a variable would not have
  return option;
}

type FlagsOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends { readonly flags: infer Flags extends string }
  ? Flags
  : never;

/**
 * An option whose flags and parser also are the type of its value: see `ValuesOf`. `parse` converts the text once the whole
 * line is known, because a later --json decides how a wrong one is reported.
 */
export class CliOption<
  Flags extends string,
  Value = Flags extends `${string} <${string}` ? string : boolean,
> extends Option {
  declare flags: Flags;
  readonly parse: Parse<Value> | undefined;
  /** Name of the option without which this one has no effect. */
  needed: string | undefined;

  constructor(flags: Flags, description: string, parse?: Parse<Value>) {
    super(flags, description);
    this.parse = parse;
    if (parse?.choices !== undefined) this.argChoices = [...parse.choices];
  }

  needs(name: string): this {
    this.needed = name;
    return this;
  }
}

/** The values of the options that a function declares, by commander's names: `maxRequests` of `--max-requests <count>`. */
export type ValuesOf<Declare extends (...given: never[]) => readonly CliOption<string, unknown>[]> = {
  readonly [One in ReturnType<Declare>[number] as NameOf<One['flags']>]?: One extends CliOption<string, infer Value>
    ? Value
    : never;
};

type NameOf<Flags extends string> = Flags extends `${string}--no-${infer Name}`
  ? CamelCase<Name>
  : Flags extends `${string}--${infer Name}`
    ? CamelCase<Name>
    : never;

type CamelCase<Text extends string> = Text extends `${infer Name} ${string}`
  ? CamelCase<Name>
  : Text extends `${infer Start}-${infer End}`
    ? `${Start}${Capitalize<CamelCase<End>>}`
    : Text;

/** An empty path usually comes from a shell variable that is not set, and `-` would become the name of a file. */
export function fileOption<Flags extends string>(flags: Flags, description: string): CliOption<Flags, string> {
  return new CliOption(flags, description, (text, label) => {
    if (text.trim() !== '' && text !== '-') return text;
    const hints = text === '-' ? ['Standard input and output:  /dev/stdin, /dev/stdout'] : [];
    throw usageError(`${label} expects the path of a file, got '${text}'`, undefined, hints);
  });
}

/** An option that may be typed several times: its value is the list of all texts. `choices` are for completion. */
export function repeatableOption<Flags extends string>(
  flags: Flags,
  description: string,
  choices: readonly string[] = [],
): CliOption<Flags, readonly string[]> {
  const option = new CliOption<Flags, readonly string[]>(flags, description);
  if (choices.length > 0) option.argChoices = [...choices];
  return option.argParser((text: string, texts: readonly string[] = []) => [...texts, text]);
}

function countedOption<Flags extends string>(flags: Flags, description: string): CliOption<Flags, number> {
  return new CliOption<Flags, number>(flags, description).argParser(
    (_, previous: number | undefined) => (previous ?? 0) + 1,
  );
}

function inGroup<Options extends readonly Option[]>(group: (typeof OPTION_GROUPS)[number], options: Options): Options {
  for (const option of options) option.helpGroup(group);
  return options;
}
