import { nearestName } from '../../nearest-name.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import type { Env } from '../io/io.ts';
import type { MessageSettings } from '../terminal/screen.ts';
import { type JsonPath, parseJsonPath } from '../terminal/select-value.ts';
import { commandLine, lowerFirst } from '../terminal/text.ts';
import { checkBaseUrl, type SourcedText } from './base-url.ts';
import { parseDuration } from './duration.ts';
import { type ConfigFile, configValue, profilesWithKey, settingGroups } from './stored-files.ts';
import {
  type OutputFormat,
  parseColor,
  parseOutputFormat,
  parseProfile,
  parseRetries,
  parseSwitch,
  parseTimeout,
  type SharedOptions,
} from './values.ts';

/** The settings of a command, from the options, the variables, config.json and the defaults. */
export type CliSettings = Readonly<ReturnType<typeof resolveSettings>>;

/** One `--get`, as typed and as parsed. */
export interface GetPath {
  readonly text: string;
  readonly path: JsonPath;
}

type SettingSource = 'variable' | 'config.json';

/** An option precedes its variable, that precedes the profile in config.json, and that the rest of config.json. */
interface Sources {
  readonly options: SharedOptions;
  readonly env: Env;
  readonly config: ConfigFile;
  /** The sources whose invalid values are errors. In the other sources, they are ignored. */
  readonly strict: readonly SettingSource[];
}

/** Those that shape messages, which help and an early error need too. */
export function messageSettings(sources: Sources) {
  const { options, env } = sources;
  return {
    output: outputOf(sources),
    color: options.color === false ? 'never' : (options.color ?? stored('color', sources) ?? 'auto'),
    quiet: options.quiet ?? 0,
    verbose: options.verbose ?? debugLevel(env),
  } satisfies MessageSettings;
}

/** @throws CliError for an invalid value */
export function resolveSettings(sources: Sources) {
  const { options, env } = sources;
  const { keyStdin = false, keyFile, get = [] } = options;
  // Not a stored setting: it applies to the network of one container.
  const insecureHttp = options.insecureHttp ?? isSwitchedOn(env['FXRATES_INSECURE_HTTP']);
  return {
    ...messageSettings(sources),
    get: get.map((text): GetPath => ({ text, path: parseGetPath(text) })),
    profile: profileOf(sources),
    baseUrl: baseUrlOf(sources),
    keyStdin,
    keyFile,
    insecureHttp,
    timeoutMs: options.timeout ?? stored('timeout', sources) ?? 30_000,
    retries: options.retries ?? stored('retries', sources) ?? 2,
    /** 0: never wait. */
    maxWaitMs: options.wait === false ? 0 : (options.maxWait ?? stored('max_wait', sources) ?? 600_000),
    /** Whether commands share the limit of a key. Default: unless the service is on this machine. */
    shareLimit: stored('share_limit', sources),
    mayAsk: options.input !== false && !isSwitchedOn(env['FXRATES_NO_INPUT']) && !isSwitchedOn(env['CI']),
    /** Instead of sending the request. */
    printsCurl: options.curl ?? false,
  };
}

function outputOf(sources: Sources): OutputFormat {
  const { json, output } = sources.options;
  return json ? 'json' : (output ?? stored('output', sources) ?? 'auto');
}

/** Its text is checked where it is used, because `--curl` and `doctor` report an invalid one themselves. */
function baseUrlOf(sources: Sources): SourcedText | undefined {
  const { options, env, config } = sources;
  if (options.baseUrl !== undefined) return { text: options.baseUrl, source: '--base-url' };
  const variable = env['FXRATES_BASE_URL'];
  if (variable) return { text: variable, source: 'FXRATES_BASE_URL' };
  const profile = profileOf(sources);
  const text = tolerated('config.json', sources, () => configValue(config, 'base_url', profile));
  return text === undefined ? undefined : { text, source: `profile ${profile}` };
}

function parseGetPath(text: string): JsonPath {
  if (text === '') throw usageError("--get expects a path, got ''", 'e.g. rates.EUR or /rates/EUR');
  // JSONPath and jq; a name with such characters is written as a JSON pointer.
  const isOtherSyntax = !text.startsWith('/') && /^\$[.[]|\[.*\]/.test(text);
  if (isOtherSyntax) throw usageError(`--get expects a path, got '${text}'`, undefined, [`e.g. --get ${dotted(text)}`]);
  return parseJsonPath(text);
}

/** `list.0.name` for `$.list[0]['name']`. */
function dotted(path: string): string {
  const names = path.replace(/^\$\.?/, '').replace(/\[['"]?(.*?)['"]?\]/g, '.$1');
  return names.replace(/^\.+/, '') || 'rates.EUR';
}

function profileOf(sources: Sources): string {
  return sources.options.profile ?? stored('profile', sources) ?? 'default';
}

type SettingValue<Name extends SettingName> = ReturnType<(typeof CONFIG_SETTINGS)[Name]>;

/** From the variable FXRATES_NAME, or else from config.json. */
function stored<Name extends SettingName>(name: Name, sources: Sources): SettingValue<Name> | undefined {
  const { env, config } = sources;
  const variable = `FXRATES_${name.toUpperCase()}`;
  const ofVariable = name === 'color' ? undefined : env[variable]; // it has the usual variables, such as NO_COLOR
  const given = ofVariable ? tolerated('variable', sources, () => parseSetting(name, ofVariable, variable)) : undefined;
  if (given !== undefined) return given;
  const profile = name === 'profile' ? undefined : profileOf(sources);
  return tolerated('config.json', sources, () => storedSetting(name, config, profile));
}

/** From config.json: the value of the profile, or else that for all. @throws CliError with the commands that correct it */
export function storedSetting<Name extends SettingName>(name: Name, config: ConfigFile, profile?: string) {
  const text = configValue(config, name, profile);
  try {
    return text === undefined ? undefined : parseSetting(name, text, `${name} in ${config.path}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { why: _, hints = [], ...details } = error.details; // the message has the reason
    const owner = profile !== undefined && config.profiles.get(profile)?.has(name) ? ['--profile', profile] : [];
    const unset = commandLine(['config', 'unset', name, ...owner]);
    throw new CliError(error.message, { ...details, hints: [...hints, `To use the default:  ${unset}`] });
  }
}

/** `undefined` for an invalid value of a source that is not strict. */
function tolerated<Value>(source: SettingSource, { strict }: Sources, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (strict.includes(source)) throw error;
    return undefined;
  }
}

function parseSetting<Name extends SettingName>(name: Name, text: string, label: string): SettingValue<Name> {
  return CONFIG_SETTINGS[name](text, label) as SettingValue<Name>; // TypeScript unites the results of all
}

function isSwitchedOn(text: string | undefined): boolean {
  return text !== undefined && text !== '' && text !== '0' && text !== 'false';
}

/** FXRATES_DEBUG: 2 is -vv, any other value but 0 and false is -v. */
function debugLevel({ FXRATES_DEBUG: text }: Env): number {
  if (!isSwitchedOn(text)) return 0;
  return text === '2' ? 2 : 1;
}

/** The settings in config.json, and how a value is parsed. */
export const CONFIG_SETTINGS = {
  base_url: (text: string, source: string) => checkBaseUrl({ text, source }),
  profile: parseProfile,
  output: parseOutputFormat,
  timeout: parseTimeout,
  retries: parseRetries,
  max_wait: parseDuration,
  share_limit: parseSwitch,
  color: parseColor,
};

export const SETTING_NAMES = Object.keys(CONFIG_SETTINGS) as readonly SettingName[]; // Object.keys loses the type

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

export type SettingName = keyof typeof CONFIG_SETTINGS;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(CONFIG_SETTINGS, name);
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
