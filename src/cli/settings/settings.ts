import { Option } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import type { Env, Io } from '../io/io.ts';
import { type JsonPath, parseJsonPath } from '../terminal/json-text.ts';
import type { Screen } from '../terminal/screen.ts';
import { commandLine, lowerFirst, quoteForShell } from '../terminal/text.ts';
import { isSettingName, rowOf, SETTING_NAMES, type SETTINGS, type SettingName, type SharedOptions } from './options.ts';
import { type ConfigFile, configValue, profilesWithKey, settingGroups } from './stored-files.ts';
import { parseSwitch } from './values.ts';

type SettingRow<Name extends SettingName> = (typeof SETTINGS)[Name];
type SettingValue<Name extends SettingName> = ReturnType<SettingRow<Name>['parse']>;

/** The settings of a command, from the options, the variables, config.json and the defaults. */
export type CliSettings = Readonly<ReturnType<typeof resolveSettings>['settings']>;

/** One `--get`, as typed and as parsed. */
export interface GetPath {
  readonly text: string;
  readonly path: JsonPath;
}

export type SettingSource = 'option' | 'variable' | 'config.json';

interface SettingProblem {
  readonly source: SettingSource;
  /** The option of the commands that use the setting. */
  readonly option: string;
  readonly error: unknown;
}

/** An option precedes its variable, that precedes the profile in config.json, and that the rest of config.json. */
interface Sources {
  readonly options: SharedOptions;
  readonly env: Env;
  readonly config: ConfigFile;
  /** Why values of them are not used. */
  readonly problems: SettingProblem[];
}

/** An invalid value is replaced by that of the next source, because the settings also format the message about it. */
export function resolveSettings(given: Omit<Sources, 'problems'>) {
  const sources: Sources = { ...given, problems: [] };
  const { options, env, problems } = sources;
  const isOn = (variable: string, option: string) => isSwitchedOn(variable, option, sources);
  const profile = settingOf('profile', sources);
  const settings = {
    output: options.json ? 'json' : settingOf('output', sources, profile),
    color: settingOf('color', sources, profile),
    quiet: options.quiet ?? 0,
    verbose: options.verbose ?? (env['FXRATES_DEBUG'] === '2' ? 2 : Number(isOn('FXRATES_DEBUG', OF_SERVICE))),
    get: tolerated('option', '--get', sources, () => options.get?.map(parseGetPath)) ?? [],
    profile,
    baseUrl: settingOf('base_url', sources, profile),
    keyStdin: options.keyStdin ?? false,
    keyFile: options.keyFile,
    /** Not a stored setting: it applies to the network of one container. */
    insecureHttp: options.insecureHttp ?? isOn('FXRATES_INSECURE_HTTP', '--insecure-http'),
    timeoutMs: settingOf('timeout', sources, profile),
    retries: settingOf('retries', sources, profile),
    /** 0: never wait. */
    maxWaitMs: options.wait === false ? 0 : settingOf('max_wait', sources, profile),
    shareLimit: settingOf('share_limit', sources, profile),
    mayAsk: options.input !== false && !isOn('FXRATES_NO_INPUT', OF_SERVICE) && !isCi(env),
    /** Instead of sending the request. */
    printsCurl: options.curl ?? false,
  };
  return { settings, problems };
}

type Resolved<Name extends SettingName> =
  | SettingValue<Name>
  | (SettingRow<Name> extends { readonly byDefault: string } ? never : undefined);

function settingOf<Name extends SettingName>(name: Name, sources: Sources, profile?: string): Resolved<Name> {
  const { env, config } = sources;
  const options: Readonly<Record<string, unknown>> = sources.options;
  const { variable = '', parse, byDefault, flags } = rowOf(name);
  const own = flags === undefined ? undefined : new Option(flags);
  const option = own?.long ?? OF_SERVICE;
  const [typed, ofVariable] = [own && options[own.attributeName()], env[variable]];
  const value =
    (typeof typed !== 'string' ? undefined : tolerated('option', option, sources, () => parse(typed, option))) ??
    (ofVariable ? tolerated('variable', option, sources, () => parse(ofVariable, variable)) : undefined) ??
    tolerated('config.json', option, sources, () => storedSetting(name, config, profile)) ??
    (byDefault === undefined ? undefined : parse(byDefault, name));
  return value as Resolved<Name>; // as `parse` of this row returns it
}

/** An option of the commands that use the service, for a setting without an option of its own. */
const OF_SERVICE = '--key-file';

/** `undefined` for an invalid value. */
function tolerated<Value>(
  source: SettingSource,
  option: string,
  { problems }: Sources,
  read: () => Value,
): Value | undefined {
  try {
    return read();
  } catch (error) {
    problems.push({ source, option, error });
    return undefined;
  }
}

function parseGetPath(text: string): GetPath {
  if (text === '') throw usageError("--get expects a path, got ''", 'e.g. rates.EUR or /rates/EUR');
  // JSONPath and jq; a name with such characters is written as a JSON pointer.
  const isOtherSyntax = !text.startsWith('/') && /^\$[.[]|\[.*\]/.test(text);
  if (isOtherSyntax)
    throw usageError(`--get expects a path, got '${text}'`, undefined, ['e.g. --get rates.EUR, --get list.0.name']);
  if (/^[A-Z]:[\\/]/i.test(text)) {
    throw usageError(`--get expects a path of names, got '${text}'`, 'Git Bash changes arguments that begin with /', [
      'Without the first /:  --get rates.EUR, or  export MSYS_NO_PATHCONV=1',
    ]);
  }
  const path = parseJsonPath(text);
  // The request would use quota, and no response has such a path.
  if (!text.startsWith('/') && path.includes('')) {
    throw usageError(`--get expects a path without empty names, got '${text}'`, undefined, [
      `A name with dots:  --get ${quoteForShell(`/${text}`)}`,
    ]);
  }
  return { text, path };
}

/** From config.json: the value of the profile, or else that for all. @throws CliError with the commands that correct it */
export function storedSetting(name: SettingName, config: ConfigFile, profile?: string): unknown {
  const text = configValue(config, name, profile);
  const source = name === 'base_url' && profile !== undefined ? `profile ${profile}` : `${name} in ${config.path}`;
  try {
    return text === undefined ? undefined : rowOf(name).parse(text, source);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { why: _, hints = [], ...details } = error.details; // the message has the reason
    const owner = profile !== undefined && config.profiles.get(profile)?.has(name) ? ['--profile', profile] : [];
    const unset = commandLine(['config', 'unset', name, ...owner]);
    throw new CliError(error.message, { ...details, hints: [...hints, `To use the default:  ${unset}`] });
  }
}

function isSwitchedOn(variable: string, option: string, sources: Sources): boolean {
  const text = sources.env[variable];
  return text ? tolerated('variable', option, sources, () => parseSwitch(text, variable)) === true : false;
}

/** The variable of other programs: some set it to their name. */
function isCi({ CI = '' }: Env): boolean {
  return !/^(0|false|off|no|)$/i.test(CI);
}

/** A warning for each unknown name in config.json. */
export function unknownSettings(config: ConfigFile): readonly string[] {
  return settingGroups(config).flatMap(([where, values]) =>
    [...values.keys()]
      .filter((name) => !isSettingName(name))
      .map((name) => `unknown setting '${where}${name}'; ${lowerFirst(settingHint(name))}`),
  );
}

/** The next step for an unknown name. */
export function settingHint(name: string): string {
  const nearest = nearestName(name.replaceAll('-', '_'), SETTING_NAMES);
  return nearest === undefined ? `Valid settings: ${SETTING_NAMES.join(', ')}` : `Did you mean ${nearest}?`;
}

/** A misspelt profile would use other settings and another key. @throws CliError that lists the profiles */
export function requireProfile(
  { profile }: Pick<CliSettings, 'profile'>,
  { config, env }: { readonly config: ConfigFile; readonly env: Env },
): void {
  if (profile === 'default') return; // it needs no entry
  const withKey = profilesWithKey(env, profile);
  const names = new Set([...config.profiles.keys(), ...withKey]);
  if (names.has(profile)) return;
  throw new CliError(`there is no profile '${profile}'`, {
    code: 'unknown_profile',
    why: names.size === 0 ? 'no profile is stored' : `stored profiles: ${[...names].sort().join(', ')}`,
    hints: [`Create it:  fxrates auth login --profile ${profile}`],
  });
}

/** A typed command: the parameter of its action. */
export interface Invocation<Options = object> {
  readonly io: Io;
  readonly screen: Screen;
  readonly settings: CliSettings;
  /** Empty, with the problem, if the file cannot be used; only commands with --profile reject that. */
  readonly config: ConfigFile;
  /** Everything typed after `fxrates`. */
  readonly argv: readonly string[];
  readonly args: readonly string[];
  /** By commander's camelCase names: the values of the command's own options, and the texts of the shared ones. */
  readonly options: Options & SharedOptions;
}

export type QueryText = string | number | boolean;
/** The parameters of a request; a repeated one is a list. */
export type Query = Readonly<Record<string, QueryText | readonly QueryText[]>>;
