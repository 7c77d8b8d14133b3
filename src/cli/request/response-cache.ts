import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { CacheOptions, CacheStore, Clock } from '../../client/index.ts';
import { folderProblem, makeFolder, replaceFile } from '../../replace-file.ts';
import { cacheFolder } from '../settings/folders.ts';
import type { Invocation } from '../settings/settings.ts';

export interface CachingOptions {
  readonly cache?: number | 'snapshot';
}

/** The cache of `--cache`; `undefined` without this option. Without a folder, warns and returns `undefined`. */
export function cacheOf({ options: { cache }, io, screen }: Invocation<CachingOptions>): CacheOptions | undefined {
  if (cache === undefined) return undefined;
  const folder = cacheFolder(io.env);
  if (folder !== undefined) return { maxAgeMs: cache, store: new FileCacheStore(folder, io.clock) };
  void screen.warn('cache: no folder, because HOME and XDG_CACHE_HOME are not set; requests are sent to the service');
  return undefined;
}

/** Older responses are removed when another one is stored. */
const CACHED_FOR_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{64}\.json$/;

/** Responses in files that only their owner can read; the client decides which of them is young enough. */
class FileCacheStore implements CacheStore {
  readonly #folder: string;
  readonly #clock: Clock;
  #cleanUp: Promise<void> | undefined;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async get(name: string): Promise<string | undefined> {
    await this.#requireOwn();
    return fs.readFile(await this.#pathOf(name), 'utf8').catch(ifMissing(undefined));
  }

  async set(name: string, value: string): Promise<void> {
    makeFolder(this.#folder, 0o700);
    await this.#requireOwn();
    await replaceFile(await this.#pathOf(name), value, { isPrivate: true, isDisposable: true });
    // Not awaited, because the client limits the time of a write. If it fails, a later command tries again.
    this.#cleanUp ??= this.#removeOld().catch(() => undefined);
  }

  /** Other users who can write to the folder could change what a command prints. Throws the reason; the client warns with it. */
  async #requireOwn(): Promise<void> {
    const stats = await fs.stat(this.#folder).catch(ifMissing(undefined));
    const problem = stats && folderProblem(this.#folder, stats);
    if (problem !== undefined) throw new Error(problem);
  }

  async #removeOld(): Promise<void> {
    const since = this.#clock.now() - CACHED_FOR_MS;
    for (const name of await fs.readdir(this.#folder)) {
      const path = join(this.#folder, name);
      if (ENTRY_NAME.test(name) && (await fs.stat(path)).mtimeMs < since) await fs.rm(path, { force: true });
    }
  }

  /** Hashed, because the name contains the base URL and the query, which the names of files must not show. */
  async #pathOf(name: string): Promise<string> {
    const { createHash } = await import('node:crypto'); // only here, because it takes a tenth of the time of `--help`
    return join(this.#folder, `${createHash('sha256').update(name).digest('hex')}.json`);
  }
}

function ifMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
