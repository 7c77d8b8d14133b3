import { nearestName } from '../../nearest-name.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { type JsonPath, parseJsonPath } from '../json/select-value.ts';
import {
  type OutputFormat,
  parseColor,
  parseOutputFormat,
  parseProfile,
  parseRetries,
  parseSwitch,
  parseTimeout,
  type SharedOptions,
} from '../options.ts';
import { profilesWithKey } from '../storage/credentials.ts';
import { type ConfigFile, configValue, NO_CONFIG, profileEntries, profileNames } from '../storage/json-file.ts';
import type { ColorWhen } from '../terminal/screen.ts';
import { lowerFirst } from '../terminal/text.ts';
import { checkBaseUrl, type SourcedText } from './base-url.ts';
import { parseDuration } from './duration.ts';

/** The global options with environment and defaults applied. */
export type CliSettings = Readonly<ReturnType<typeof resolveSettings>>;

/** One `--get`, as typed and as parsed. */
export interface GetPath {
  readonly text: string;
  readonly path: JsonPath;
}

/** Flag before environment before config.json before default. An empty variable counts as not set. */
export function resolveSettings(options: SharedOptions, env: Io['env'], config: ConfigFile = NO_CONFIG) {
  refuseContradictions(options);
  const top: Sources = { env, config, profile: undefined };
  const profile: string = options.profile ?? stored(top, 'profile') ?? 'default';
  const sources = { ...top, profile };
  const { keyStdin = false, keyFile, insecureHttp = false, quiet = 0, get = [] } = options;
  const color: ColorWhen =
    options.color === false ? 'never' : (options.color ?? fromConfig(sources, 'color') ?? 'auto');
  return {
    output: outputOf(options, sources),
    get: get.map((text): GetPath => ({ text, path: parseGetPath(text) })),
    profile,
    /** Whether --profile names it, so that a setting is stored only for this profile. */
    hasTypedProfile: options.profile !== undefined,
    baseUrl: baseUrlOf(options, sources),
    keyStdin,
    keyFile,
    insecureHttp,
    timeoutMs: options.timeout ?? stored(sources, 'timeout') ?? 30_000,
    retries: options.retries ?? stored(sources, 'retries') ?? 2,
    /** 0: never wait; Infinity: as long as it takes. */
    maxWaitMs: maxWaitOf(options, sources),
    /** Whether commands that run at the same time share the limit of a key. */
    shareLimit: stored(sources, 'share_limit') !== 'off',
    color,
    quiet,
    verbose: options.verbose ?? debugLevel(env),
    /** Whether the command may ask questions on the terminal. */
    mayAsk: options.input !== false && !isSwitchedOn(env['FXRATES_NO_INPUT']) && !isSwitchedOn(env['CI']),
    /** Instead of sending: print the request in this form. */
    printRequestAs: printFormOf(options),
  };
}

function outputOf({ json, output, get }: SharedOptions, sources: Sources): OutputFormat {
  if (json) return 'json';
  if (output !== undefined) return output;
  const preferred = stored(sources, 'output') ?? 'auto';
  return preferred === 'raw' && get !== undefined ? 'auto' : preferred; // raw would ignore the typed --get
}

function maxWaitOf({ wait, maxWait }: SharedOptions, sources: Sources): number {
  if (wait === false) return 0;
  return maxWait ?? stored(sources, 'max_wait') ?? 60_000;
}

function refuseContradictions({ json, output, keyStdin, keyFile, wait, maxWait, get }: SharedOptions): void {
  if (json && output !== undefined && output !== 'json') {
    throw usageError(`--json and --output ${output} cannot be used together`, 'use one of them');
  }
  if (keyStdin && keyFile !== undefined) {
    throw usageError('--key-stdin and --key-file cannot be used together', 'a command uses one key');
  }
  if (wait === false && maxWait !== undefined && maxWait !== 0) {
    throw usageError('--no-wait and --max-wait cannot be used together', '--no-wait is --max-wait 0');
  }
  if (output === 'raw' && get !== undefined) {
    throw usageError('--get and --output raw cannot be used together', 'raw is the whole body, byte for byte');
  }
}

function printFormOf({ curl, dryRun }: SharedOptions): 'json' | 'curl' | undefined {
  if (curl) return 'curl';
  return dryRun ? 'json' : undefined;
}

function baseUrlOf({ baseUrl }: SharedOptions, { env, config, profile }: Sources): SourcedText | undefined {
  if (baseUrl !== undefined) return { text: baseUrl, source: '--base-url' };
  const text = env['FXRATES_BASE_URL'];
  if (text) return { text, source: 'FXRATES_BASE_URL' };
  const ofProfile = configValue(config, 'base_url', profile);
  return ofProfile === undefined ? undefined : { text: ofProfile, source: `profile ${profile}` };
}

function parseGetPath(text: string): JsonPath {
  if (text === '') throw usageError("--get expects a path, got ''", 'e.g. rates.EUR or /rates/EUR');
  return parseJsonPath(text);
}

interface Sources {
  readonly env: Io['env'];
  readonly config: ConfigFile;
  readonly profile: string | undefined;
}

type SettingValue<Name extends SettingName> = ReturnType<(typeof CONFIG_SETTINGS)[Name]['parse']>;

/** From the variable FXRATES_NAME, else from config.json. */
function stored<Name extends SettingName>(sources: Sources, name: Name): SettingValue<Name> | undefined {
  const variable = `FXRATES_${name.toUpperCase()}`;
  const text = sources.env[variable];
  return text ? parseSetting(name, text, variable) : fromConfig(sources, name);
}

function fromConfig<Name extends SettingName>(
  { config, profile }: Sources,
  name: Name,
): SettingValue<Name> | undefined {
  const text = configValue(config, name, profile);
  return text === undefined ? undefined : parseSetting(name, text, `${name} in ${config.path}`);
}

function parseSetting<Name extends SettingName>(name: Name, text: string, label: string): SettingValue<Name> {
  return CONFIG_SETTINGS[name].parse(text, label) as SettingValue<Name>; // TypeScript unites the results of all
}

function isSwitchedOn(text: string | undefined): boolean {
  return text !== undefined && text !== '' && text !== '0' && text !== 'false';
}

/** FXRATES_DEBUG: 2 is -vv, any other value but 0 and false is -v. */
export function debugLevel({ FXRATES_DEBUG: text }: Io['env']): number {
  if (!isSwitchedOn(text)) return 0;
  return text === '2' ? 2 : 1;
}

/** The settings in config.json: how a value is parsed, and the text of its variable in `fxrates help environment`. */
export const CONFIG_SETTINGS = {
  base_url: {
    parse: (text: string, source: string) => checkBaseUrl({ text, source }),
    variable: 'URL of the service (--base-url)',
  },
  profile: { parse: parseProfile, variable: 'stored base URL and key to use (--profile)' },
  output: { parse: parseOutputFormat, variable: 'output format (--output)' },
  timeout: { parse: parseTimeout, variable: 'longest time for one attempt (--timeout)' },
  retries: { parse: parseRetries, variable: 'further attempts after a failure (--retries)' },
  max_wait: { parse: parseDuration, variable: 'longest wait when rate limited (--max-wait)' },
  share_limit: { parse: parseSwitch, variable: 'off: commands do not share the limit per minute' },
  color: { parse: parseColor, variable: undefined }, // has the usual variables, such as NO_COLOR
} satisfies Record<string, ConfigSetting>;

export const SETTING_NAMES = Object.keys(CONFIG_SETTINGS);

/** A warning for each unknown name in config.json. */
export function unknownSettings(config: ConfigFile): readonly string[] {
  const profiles = profileNames(config).map((name) => [`profiles.${name}.`, profileEntries(config, name)] as const);
  const others = ['version', 'profiles', '$schema'];
  return [['', config.document] as const, ...profiles].flatMap(([where, values]) =>
    Object.keys(values)
      .filter((name) => !isSettingName(name) && (where !== '' || !others.includes(name)))
      .map((name) => `unknown setting '${where}${name}'; ${lowerFirst(settingHint(name))}`),
  );
}

/** The next step for an unknown name. */
export function settingHint(name: string): string {
  const nearest = nearestName(name.replaceAll('-', '_'), SETTING_NAMES);
  return nearest === undefined ? `Valid settings: ${SETTING_NAMES.join(', ')}` : `Did you mean ${nearest}?`;
}

interface ConfigSetting {
  readonly parse: (text: string, label: string) => unknown;
  readonly variable: string | undefined;
}

export type SettingName = keyof typeof CONFIG_SETTINGS;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(CONFIG_SETTINGS, name);
}

/** A misspelt profile would use other settings and another key. @throws CliError that lists the profiles */
export async function requireProfile(
  { profile }: Pick<CliSettings, 'profile'>,
  { config, env }: { readonly config: ConfigFile; readonly env: Io['env'] },
): Promise<void> {
  if (profile === 'default') return; // it needs no entry
  const withKey = await profilesWithKey(env).catch(() => [profile]); // the key itself is read later, with the reason
  const names = new Set([...profileNames(config), ...withKey]);
  if (names.has(profile)) return;
  throw new CliError(`there is no profile '${profile}'`, {
    code: 'unknown_profile',
    exitCode: exitCodes.config,
    why: names.size === 0 ? 'no profile is stored' : `stored profiles: ${[...names].sort().join(', ')}`,
    hints: [`Create it:  fxrates auth login --profile ${profile}`],
  });
}
