import { chmod, lstat } from 'node:fs/promises';
import type { JsonObject } from '../../json-object.ts';
import { storageError } from '../errors/cli-error.ts';
import type { Env, Io } from '../io.ts';
import { entriesOf, objectOf } from './config-file.ts';
import { configFolder, pathIn } from './folders.ts';
import { readJsonFile, updateJsonFile } from './json-file.ts';

/** A key in credentials.json. It is sent to its own origin and to no other. */
export interface StoredKey {
  readonly origin: string;
  readonly secret: string;
  /** The file, and whether others could read it until now. */
  readonly path: string;
  readonly wasReadable: boolean;
}

export async function readCredential(env: Env, profile: string): Promise<StoredKey | undefined> {
  const path = credentialsPath(env);
  const document = path === undefined ? undefined : readJsonFile(path);
  if (path === undefined || document === undefined) return undefined;
  const wasReadable = await tighten(path);
  const { origin, api_key: secret } = objectOf(entriesOf(document['keys']).get(profile));
  if (typeof origin !== 'string' || typeof secret !== 'string') return undefined;
  return { origin, secret, path, wasReadable };
}

/** Removes the rights of other users; returns whether they could read the file. */
async function tighten(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (process.platform === 'win32' || !stats?.isFile() || (stats.mode & 0o077) === 0) return false; // Windows has no modes
  await chmod(path, 0o600).catch(() => undefined); // the file of another user stays as it is
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

/** Stores the key of `profile`. Returns the path of the file. */
export function storeCredential(
  io: Pick<Io, 'env' | 'clock'>,
  profile: string,
  { origin, secret }: Pick<StoredKey, 'origin' | 'secret'>,
): Promise<string> {
  const entry = { origin, api_key: secret, added_at: new Date(io.clock.now()).toISOString() };
  return changeKeys(io, (keys) => ({ ...keys, [profile]: entry }));
}

export function removeCredential(io: Pick<Io, 'env' | 'clock'>, profile: string): Promise<string> {
  return changeKeys(io, ({ [profile]: _, ...others }) => others);
}

async function changeKeys(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  change: (keys: JsonObject) => JsonObject,
): Promise<string> {
  const update = (document: JsonObject): JsonObject => ({ ...document, keys: change(objectOf(document['keys'])) });
  const path = credentialsPath(env);
  if (path !== undefined) await refuseSymlink(path);
  return updateJsonFile(path, update, clock);
}

/** The target of the link may be in a folder that others read, such as a repository. */
async function refuseSymlink(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink()) throw storageError(`refusing to write ${path}`, 'it is a symbolic link');
}

export function credentialsPath(env: Env): string | undefined {
  return pathIn(configFolder(env), 'credentials.json');
}
