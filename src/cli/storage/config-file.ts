import { isJsonObject, type JsonObject } from '../../json-object.ts';
import { storageError } from '../errors/cli-error.ts';
import type { Env, Io } from '../io.ts';
import { configFolder, pathIn } from './folders.ts';
import { readJsonFile, updateJsonFile } from './json-file.ts';

/** Values by name. A map, because a profile can be called `constructor`. */
type Entries = ReadonlyMap<string, unknown>;

/** The content of config.json. A value is parsed where it is used, so that `config unset` can remove an invalid one. */
export interface ConfigFile {
  readonly path: string | undefined;
  /** For all profiles. */
  readonly settings: Entries;
  /** For one profile each. */
  readonly profiles: ReadonlyMap<string, Entries>;
}

/** Without a folder for config.json, or without the file. */
export const NO_CONFIG: ConfigFile = { path: undefined, settings: new Map(), profiles: new Map() };

export function configPath(env: Env): string | undefined {
  return pathIn(configFolder(env), 'config.json');
}

/** @throws CliError if the file cannot be read, or is not a JSON object of the version that fxrates knows */
export function readConfig(env: Env): ConfigFile {
  const path = configPath(env);
  if (path === undefined) return NO_CONFIG;
  const { version: _version, $schema: _schema, profiles, ...settings } = readJsonFile(path) ?? {};
  const ofProfiles = [...entriesOf(profiles)].map(([name, values]) => [name, entriesOf(values)] as const);
  return { path, settings: entriesOf(settings), profiles: new Map(ofProfiles) };
}

/** The entries of a JSON object; none for another value. */
export function entriesOf(value: unknown): Entries {
  return new Map(Object.entries(objectOf(value)));
}

/** The text of a setting: that of the profile, or else that for all profiles. @throws CliError for an object or a list */
export function configValue(config: ConfigFile, name: string, profile?: string): string | undefined {
  const ofProfile = profile === undefined ? undefined : config.profiles.get(profile)?.get(name);
  return settingText(ofProfile ?? config.settings.get(name), name, config);
}

/** @throws CliError for an object or a list */
export function settingText(value: unknown, name: string, { path }: Pick<ConfigFile, 'path'>): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw storageError(`cannot use ${path}`, `${name} is neither a string nor a number`);
}

/** Sets `name` for `profile`, or for all without one; `undefined` removes it. Returns the path of the file. */
export function changeConfig(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  name: string,
  { value, profile }: { readonly value: string | undefined; readonly profile?: string },
): Promise<string> {
  const change = (document: JsonObject): JsonObject => {
    if (profile === undefined) return withMember(document, name, value);
    const profiles = objectOf(document['profiles']);
    return { ...document, profiles: { ...profiles, [profile]: withMember(objectOf(profiles[profile]), name, value) } };
  };
  return updateJsonFile(configPath(env), change, clock);
}

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function withMember(object: JsonObject, name: string, value: string | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...others, [name]: value };
}
