import { isJsonObject, type JsonObject } from '../../json-object.ts';
import { storageError } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';
import { configFolder, pathIn } from './folders.ts';
import { readJsonFile, updateJsonFile } from './json-file.ts';

/** config.json as it was read; empty when there is none. */
export interface ConfigFile {
  readonly path: string | undefined;
  readonly document: JsonObject;
}

export const NO_CONFIG: ConfigFile = { path: undefined, document: {} };

export function configPath(env: Io['env']): string | undefined {
  return pathIn(configFolder(env), 'config.json');
}

export async function readConfig(env: Io['env']): Promise<ConfigFile> {
  const path = configPath(env);
  return path === undefined ? NO_CONFIG : { path, document: (await readJsonFile(path)) ?? {} };
}

/** What config.json says under `name`: for the profile, else for all. @throws CliError for what is neither text nor number */
export function configValue({ path, document }: ConfigFile, name: string, profile?: string): string | undefined {
  const own = profile === undefined ? undefined : ownSetting({ document }, name, profile);
  const value = own ?? memberOf(document, name);
  if (value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw storageError(`cannot use ${path}`, `${name} is neither a string nor a number`);
}

/** The entry of this profile itself, valid or not. */
export function ownSetting(config: Pick<ConfigFile, 'document'>, name: string, profile: string): unknown {
  return memberOf(profileEntries(config, profile), name);
}

/** All entries of a profile, valid or not. */
export function profileEntries({ document }: Pick<ConfigFile, 'document'>, profile: string): JsonObject {
  return objectOf(memberOf(memberOf(document, 'profiles'), profile));
}

export function profileNames({ document }: ConfigFile): readonly string[] {
  const profiles = memberOf(document, 'profiles');
  return isJsonObject(profiles) ? Object.keys(profiles) : [];
}

/** Sets `name` for `profile`, or for all without one; `undefined` removes it. Returns the path of the file. */
export function changeConfig(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  name: string,
  { value, profile }: { readonly value: string | undefined; readonly profile?: string },
): Promise<string> {
  const change = (document: JsonObject): JsonObject => {
    if (profile === undefined) return withMember(document, name, value);
    const profiles = objectOf(memberOf(document, 'profiles'));
    const changed = withMember(objectOf(memberOf(profiles, profile)), name, value);
    return { ...document, profiles: { ...profiles, [profile]: changed } };
  };
  return updateJsonFile(configPath(env), change, clock);
}

/** Of its own: a profile may be called `constructor`. */
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function withMember(document: JsonObject, name: string, value: string | undefined): JsonObject {
  const { [name]: _, ...rest } = document;
  return value === undefined ? rest : { ...rest, [name]: value };
}
