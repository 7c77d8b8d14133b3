import { randomUUID } from 'node:crypto';
import type * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { codeOf } from '../../foreign-values.ts';
import { parseJson } from '../../json.ts';

/** The functions of `node:fs` that the store uses. Tests pass a fake that fails, or stops like a killed process. */
export type Files = Pick<
  typeof fs,
  'lstatSync' | 'mkdirSync' | 'readdirSync' | 'readFileSync' | 'renameSync' | 'rmSync' | 'unlinkSync' | 'writeFileSync'
>;

const storedState = z.object({ version: z.string(), state: z.string(), writtenAtMs: z.number(), keepMs: z.number() });

export type StoredState = Readonly<z.infer<typeof storedState>>;

/** The current state and the id in the names of its files; `stored` is `undefined` if the file cannot be used. */
interface CurrentState {
  readonly id: string;
  readonly stored: StoredState | undefined;
}

/** `'damaged'`: the path exists, but this class did not create its content. */
export type FileContent = CurrentState | 'missing' | 'damaged';

const CURRENT = 'current-';
const STATE = 'state-';
/** Of the folder's name, a SHA-256 in hex. */
const HASH_LENGTH = 64;
/** A listing can miss a file that is renamed meanwhile, on some file systems. */
const MAX_LOOKS = 100;
/** A state is a few kB. */
const MAX_BYTES = 1 << 20;
/** An older state is unused: the client needs it for ten minutes, or until a Retry-After of at most a day has elapsed. */
const UNUSED_AFTER_MS = 86_400_000;

/**
 * The state of one limit, in a folder with two files: `state-<id>` contains a state, and the empty `current-<id>` marks
 * it as the current one. A write creates `state-<new>`, then renames `current-<id>` to `current-<new>`.
 *
 * The rename is the compare-and-swap: no id is used twice, so of all processes that have read `<id>` exactly one can
 * rename its file. It is one system call, so a killed process leaves the old state or the new one, and other processes
 * never have to wait. The alternatives are worse. The lock file of a killed process (proper-lockfile, `wx`) blocks the
 * others until it is considered stale. If its process was only slow, a write after that is lost. Numbered files,
 * created by `link()` or `wx`, need no lock, but a process that pauses between its read and its write can reuse a
 * number that others have created and removed meanwhile. That update is also lost.
 */
export class StateFolder {
  readonly #path: string;
  readonly #files: Files;
  /** The state that this process has read or written last. */
  #known: CurrentState | undefined;

  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  /** The state that was last read, if it is still current. It does not have to be read and checked again. */
  unchanged(): CurrentState | undefined {
    if (this.#known && !this.#exists(CURRENT + this.#known.id)) this.#known = undefined;
    return this.#known;
  }

  read(): FileContent {
    let missingId: string | undefined;
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const names = this.#list(this.#path);
      if (names === 'missing') return 'missing';
      const id = currentIdOf(names);
      if (id === undefined) continue;
      const text = this.#readText(STATE + id);
      if (text !== undefined || missingId === id) {
        // Incomplete after a power cut, or of another program.
        this.#known = { id, stored: storedState.safeParse(parseJson(text ?? '')).data };
        return this.#known;
      }
      missingId = id; // another process has replaced it since the listing; if it is still current, its file is lost
    }
    return 'damaged';
  }

  /** Writes if `content` is still current, and returns whether it was. Throws the errors of the disk. */
  replace(content: FileContent, stored: StoredState): boolean {
    const id = randomUUID();
    if (content === 'damaged' && !this.#moveAside(this.#path)) return false;
    const isWritten = typeof content === 'string' ? this.#create(id, stored) : this.#swap(content.id, id, stored);
    this.#known = isWritten ? { id, stored } : undefined;
    return isWritten;
  }

  #swap(oldId: string, newId: string, stored: StoredState): boolean {
    try {
      this.#write(join(this.#path, STATE + newId), JSON.stringify(stored));
      this.#files.renameSync(join(this.#path, CURRENT + oldId), join(this.#path, CURRENT + newId));
    } catch (error) {
      this.#unlink(join(this.#path, STATE + newId));
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
    this.#unlink(join(this.#path, STATE + oldId));
    return true;
  }

  /** Renames a complete folder to its final name, unless another process was faster; the folder is never empty. */
  #create(id: string, stored: StoredState): boolean {
    const fresh = `${this.#path}.${id}`;
    try {
      this.#files.mkdirSync(fresh, { mode: 0o700 });
      this.#write(join(fresh, STATE + id), JSON.stringify(stored));
      this.#write(join(fresh, CURRENT + id), '');
      this.#files.renameSync(fresh, this.#path);
    } catch (error) {
      this.#remove(fresh);
      if (this.#exists('')) return false;
      throw error;
    }
    return true;
  }

  #list(path: string): string[] | 'missing' {
    try {
      // Not through a symbolic link.
      return this.#files.lstatSync(path).isDirectory() ? this.#files.readdirSync(path) : [];
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return 'missing';
      throw error;
    }
  }

  #readText(name: string): string | undefined {
    const path = join(this.#path, name);
    try {
      const stats = this.#files.lstatSync(path);
      return stats.isFile() && stats.size <= MAX_BYTES ? this.#files.readFileSync(path, 'utf8') : '';
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #exists(name: string): boolean {
    return this.#files.lstatSync(join(this.#path, name), { throwIfNoEntry: false }) !== undefined;
  }

  #write(path: string, text: string): void {
    this.#files.writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  }

  /** Removes the folders beside this new one whose keys and origins are no longer used. */
  removeUnused(): void {
    const parent = dirname(this.#path);
    try {
      const nowMs = this.#files.lstatSync(this.#path).mtimeMs; // by the clock of the file system, as theirs
      const paths = this.#files
        .readdirSync(parent)
        .filter(isFolderName)
        .map((name) => join(parent, name));
      for (const path of paths) if (this.#isUnused(path, nowMs)) this.#moveAside(path);
    } catch {
      // The write has succeeded; a later one that adds a folder tries again.
    }
  }

  #isUnused(path: string, nowMs: number): boolean {
    const stats = this.#files.lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.mtimeMs < nowMs - UNUSED_AFTER_MS;
  }

  /** Renamed first: a process that writes to it finds no folder instead of a partly removed one. Returns whether it is gone. */
  #moveAside(path: string): boolean {
    const aside = join(dirname(path), `${basename(path).slice(0, HASH_LENGTH)}.${randomUUID()}`);
    try {
      this.#files.renameSync(path, aside);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return true; // another process has removed it
      throw error;
    }
    const names = this.#list(aside);
    // Since this process found its folder damaged, another one has repaired it.
    const isRepaired = path === this.#path && names !== 'missing' && currentIdOf(names) !== undefined;
    if (isRepaired) this.#moveBack(aside);
    else this.#remove(aside);
    return !isRepaired;
  }

  /** Unless another process, which found no folder meanwhile, has created a new one. */
  #moveBack(aside: string): void {
    try {
      this.#files.renameSync(aside, this.#path);
    } catch (error) {
      if (!this.#exists('')) throw error;
      this.#remove(aside);
    }
  }

  #remove(path: string): void {
    try {
      this.#files.rmSync(path, { recursive: true, force: true });
    } catch {
      // Files that remain are ignored; if a folder is added later than a day after this, they are removed.
    }
  }

  #unlink(path: string): void {
    try {
      this.#files.unlinkSync(path);
    } catch {
      // A file that remains is ignored. It is removed with the folder, which must be unused for a day.
    }
  }
}

/** `undefined` if there is not exactly one. */
function currentIdOf(names: readonly string[]): string | undefined {
  const [current, ...others] = names.filter((name) => name.startsWith(CURRENT));
  return others.length > 0 ? undefined : current?.slice(CURRENT.length);
}

function isFolderName(name: string): boolean {
  return /^[0-9a-f]{64}(\.[0-9a-f-]{36})?$/.test(name);
}
