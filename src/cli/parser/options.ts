import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { rowOf, type SettingName } from '../settings/settings.ts';
import { OUTPUT_FORMATS, type OutputFormat, type Parse } from '../settings/values.ts';

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
  return settingOption('output', formats);
}

/**
 * The option of a setting. `choices`: those that the command has; others are refused later. Its variable is not commander's
 * `env()`, which reads `process.env`, and could neither ignore an invalid value nor place config.json behind it.
 */
function settingOption(name: SettingName, choices = rowOf(name).parse.choices): Option {
  const { flags = '', text = choices?.join(', '), byDefault, variable } = rowOf(name);
  const facts = [
    ...(byDefault === undefined || choices !== undefined ? [] : [`default: ${byDefault}`]),
    ...(variable === undefined ? [] : [`env: ${variable}`]),
  ];
  const option = new Option(flags, facts.length === 0 ? `${text}` : `${text} (${facts.join(', ')})`);
  if (choices !== undefined) option.argChoices = [...choices]; // not `choices()`, whose check a variable would not have
  return option;
}

/** For every command, as are the general options. */
export function formatOptions(): readonly Option[] {
  return inGroup('Output', [
    new Option('--json', 'same as -o json: data and errors as JSON').conflicts('output'),
    settingOption('color'),
    new Option('--no-color', 'same as --color never').preset('never'),
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
    settingOption('base_url'),
    profileOption(),
    fileOption('--key-file <file>', 'file with the key (env: FXRATES_API_KEY_FILE)'),
    new Option('--key-stdin', 'read the key from the first line of stdin').conflicts('keyFile'),
  ]);
}

export function profileOption(): Option {
  return settingOption('profile').helpGroup('Connection');
}

function attemptOptions(): readonly Option[] {
  return inGroup('Connection', [
    settingOption('timeout'),
    settingOption('retries'),
    new Option('--insecure-http', 'allow http:// to other machines; exposes the key (env: FXRATES_INSECURE_HTTP)'),
  ]);
}

function waitingOptions(): readonly Option[] {
  return inGroup('Waiting', [
    settingOption('max_wait'),
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

/** An option that accepts the path of a file. An empty path usually comes from a shell variable that is not set. */
export function fileOption<Flags extends string>(flags: Flags, description: string): CliOption<Flags, string> {
  return new CliOption(flags, description, (text, label) => {
    if (text.trim() === '') throw usageError(`${label} expects the path of a file, got '${text}'`);
    return text;
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

function inGroup(group: (typeof OPTION_GROUPS)[number], options: Option[]): Option[] {
  for (const option of options) option.helpGroup(group);
  return options;
}

function count(_value: unknown, previous: number | undefined): number {
  return (previous ?? 0) + 1;
}
