import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CacheStore, Clock } from '../../client/index.ts';
import { makeFolder, replaceFile } from '../storage/replace-file.ts';

/** Older answers are removed when the next one is stored. */
const KEPT_FOR_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{64}\.json$/;

/** Answers in files that only their owner can read; the client decides which of them is young enough. */
export class FileCacheStore implements CacheStore {
  readonly #folder: string;
  readonly #clock: Clock;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async get(name: string): Promise<string | undefined> {
    return readFile(this.#pathOf(name), 'utf8').catch(ifMissing(undefined));
  }

  async set(name: string, value: string): Promise<void> {
    await makeFolder(this.#folder, 0o700);
    await replaceFile(this.#pathOf(name), value, { isPrivate: true, isDisposable: true });
    const oldest = this.#clock.now() - KEPT_FOR_MS;
    for (const entry of await this.entries()) if (entry.keptAtMs < oldest) await rm(entry.path, { force: true });
  }

  /** Every answer that is kept. */
  async entries(): Promise<readonly { readonly path: string; readonly bytes: number; readonly keptAtMs: number }[]> {
    const names = await readdir(this.#folder).catch(ifMissing([]));
    const paths = names.filter((name) => ENTRY_NAME.test(name)).map((name) => join(this.#folder, name));
    const found = paths.map(async (path) => {
      const stats = await stat(path).catch(ifMissing(undefined));
      return stats === undefined ? [] : [{ path, bytes: stats.size, keptAtMs: stats.mtimeMs }];
    });
    return (await Promise.all(found)).flat();
  }

  /** Removes every answer; gives how many there were. */
  async clear(): Promise<number> {
    const entries = await this.entries();
    await Promise.all(entries.map(({ path }) => rm(path, { force: true })));
    return entries.length;
  }

  /** The name holds base URL, query and a hash of the key: a file name must show none of them. */
  #pathOf(name: string): string {
    return join(this.#folder, `${createHash('sha256').update(name).digest('hex')}.json`);
  }
}

function ifMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
