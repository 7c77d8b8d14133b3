import { promises as fs } from 'node:fs';
import { codeOf } from '../../foreign-values.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { CliError, loginLine, storageError } from '../errors/cli-error.ts';
import type { Env, Io } from '../io/io.ts';
import { configFolder, pathIn } from './folders.ts';
import { readJsonFile, unusable, updateJsonFile } from './json-file.ts';

/** Values by name. A map, because a profile can be called `constructor`. */
type Entries = ReadonlyMap<string, unknown>;

/** The content of config.json. A value is parsed where it is used, so that `config unset` can remove an invalid one. */
export interface ConfigFile {
  readonly path: string | undefined;
  /** For all profiles. */
  readonly settings: Entries;
  /** For one profile each. */
  readonly profiles: ReadonlyMap<string, Entries>;
  /** A CliError if the file cannot be read, or is not a JSON object of the version that fxrates knows. It has no content then. */
  readonly problem?: unknown;
}

export function configPath(env: Env): string | undefined {
  return pathIn(configFolder(env), 'config.json');
}

/** Without a folder or a file, it has no content. */
export function readConfig(env: Env): ConfigFile {
  const path = configPath(env);
  try {
    const document = path === undefined ? undefined : readJsonFile(path);
    const { version: _version, $schema: _schema, profiles, ...settings } = document ?? {};
    const section = (name: string, value: unknown) => {
      if (value === undefined || isJsonObject(value)) return entriesOf(value);
      throw unusable(String(path), `${name} is not an object of settings`);
    };
    const ofProfiles = [...section('profiles', profiles)].map(
      ([name, values]) => [name, section(`profiles.${name}`, values)] as const,
    );
    return { path, settings: entriesOf(settings), profiles: new Map(ofProfiles) };
  } catch (problem) {
    return { path, settings: new Map(), profiles: new Map(), problem };
  }
}

/** @throws CliError if the file cannot be used */
export function requireConfig({ problem }: ConfigFile): void {
  if (problem !== undefined) throw problem;
}

/** Returns a warning for a file that this user may not read, such as that of another user. @throws CliError for a broken one */
export function unreadableConfig(config: ConfigFile): string | undefined {
  const { problem } = config;
  const isForbidden = problem instanceof CliError && /^(EACCES|EPERM)$/.test(codeOf(problem.cause) ?? '');
  if (isForbidden) return `${problem.message}; its settings are not used`;
  requireConfig(config);
  return undefined;
}

function entriesOf(value: unknown): Entries {
  return new Map(Object.entries(objectOf(value)));
}

/** The settings for all profiles and those of each, with what their names begin with, such as `profiles.work.`. */
export function settingGroups({ settings, profiles }: ConfigFile): readonly (readonly [string, Entries])[] {
  return [['', settings], ...Array.from(profiles, ([name, values]) => [`profiles.${name}.`, values] as const)];
}

/** The text of a setting: that of the profile, or else that for all profiles. @throws CliError for null, an object or a list */
export function configValue(config: ConfigFile, name: string, profile?: string): string | undefined {
  const ofProfile = profile === undefined ? undefined : config.profiles.get(profile)?.get(name);
  return settingText(ofProfile ?? config.settings.get(name), name, config);
}

/** @throws CliError for null, an object or a list */
export function settingText(value: unknown, name: string, { path }: Pick<ConfigFile, 'path'>): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object') return String(value); // `true` is reported where the value is parsed
  throw unusable(String(path), `${name} is null, an object or a list`);
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

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...others, [name]: value };
}

/** A key in credentials.json. It is sent to its own origin and to no other. */
export interface StoredKey {
  readonly origin: string;
  readonly secret: string;
  /** The file, and whether others could read it until now. */
  readonly path: string;
  readonly wasReadable: boolean;
}

/** @throws CliError for an entry without an origin or a key */
export async function readCredential(env: Env, profile: string): Promise<StoredKey | undefined> {
  const path = credentialsPath(env);
  const document = path === undefined ? undefined : readJsonFile(path);
  if (path === undefined || document === undefined) return undefined;
  const wasReadable = await tighten(path);
  const entry = entriesOf(document['keys']).get(profile);
  const { origin, api_key: secret } = objectOf(entry);
  if (typeof origin === 'string' && typeof secret === 'string') return { origin, secret, path, wasReadable };
  if (entry === undefined) return undefined;
  const why = `the entry of profile ${profile} is not an object with the texts origin and api_key`;
  throw storageError(`cannot use ${path}`, why, { hint: `Store the key again:  ${loginLine(profile)}` });
}

/** Removes the rights of other users; returns whether they could read the file. */
async function tighten(path: string): Promise<boolean> {
  const stats = await fs.lstat(path).catch(() => undefined);
  if (process.platform === 'win32' || !stats?.isFile() || (stats.mode & 0o077) === 0) return false; // Windows has no modes
  await fs.chmod(path, 0o600).catch(() => undefined); // the file of another user stays as it is
  return true;
}

/** The profiles that have a stored key; `profile` if the file cannot be read: the reason follows when the key is read. */
export function profilesWithKey(env: Env, profile: string): readonly string[] {
  const path = credentialsPath(env);
  try {
    return path === undefined ? [] : [...entriesOf(readJsonFile(path)?.['keys']).keys()];
  } catch {
    return [profile];
  }
}

/** Stores the key of `profile`; `undefined` removes it. Returns the path of the file. */
export async function changeCredential(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  profile: string,
  key: Pick<StoredKey, 'origin' | 'secret'> | undefined,
): Promise<string> {
  const added_at = new Date(clock.now()).toISOString();
  const entry = key && { origin: key.origin, api_key: key.secret, added_at };
  const path = credentialsPath(env);
  if (path !== undefined) await refuseSymlink(path);
  const change = ({ keys, ...others }: JsonObject) => ({ ...others, keys: withMember(objectOf(keys), profile, entry) });
  return updateJsonFile(path, change, clock);
}

/** The target of the link may be in a folder that others read, such as a repository. */
async function refuseSymlink(path: string): Promise<void> {
  const stats = await fs.lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink()) throw storageError(`refusing to write ${path}`, 'it is a symbolic link');
}

export function credentialsPath(env: Env): string | undefined {
  return pathIn(configFolder(env), 'credentials.json');
}
