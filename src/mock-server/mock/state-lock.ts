import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../foreign-values.ts';
import { isJsonObject, parseJson } from '../../json.ts';
import { processState } from '../../process-state.ts';
import { pause } from '../clock/event-loop.ts';
import { MockServerError } from '../input/mock-server-error.ts';

/** The mock that writes to a state file, as the lock file beside it says. */
export interface LockOwner {
  readonly host: string;
  readonly pid: number;
  /** Differs for each mock. */
  readonly id: string;
}

/** Keeps other mocks from a state file while this one writes to it. */
export class StateLock {
  readonly #path: string;
  readonly #owner: LockOwner = { host: hostname(), pid: process.pid, id: randomUUID() };
  readonly #released = new AbortController();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Creates the lock file of a state file. Throws `MockServerError` with code `state_in_use` if another mock has it, and the
   * error of the system if the file cannot be created.
   */
  static acquire(statePath: string): StateLock {
    const lock = new StateLock(`${statePath}.lock`);
    lock.#create(statePath, false);
    held().add(lock.#owner.id);
    void lock.#refresh();
    return lock;
  }

  /** Whether the lock file is still that of this mock. Creates it again if it was removed. */
  isOurs(): boolean {
    const found = ownerIn(this.#path);
    if (found === 'none') this.#write('wx');
    return found === 'none' || (found !== 'unknown' && found.id === this.#owner.id);
  }

  release(): void {
    this.#released.abort();
    held().delete(this.#owner.id);
    const found = ownerIn(this.#path);
    if (typeof found === 'object' && found.id === this.#owner.id) rmSync(this.#path, { force: true });
  }

  /** Always the same text: a file that is never truncated stays that of this mock on a full disk. */
  #write(flag: 'wx' | 'r+'): void {
    try {
      writeFileSync(this.#path, JSON.stringify(this.#owner), { flag, mode: 0o600 });
    } catch (error) {
      // A full disk has space for the name.
      if (flag === 'wx' && codeOf(error) !== 'EEXIST') rmSync(this.#path, { force: true });
      throw error;
    }
  }

  #create(statePath: string, isSecondTry: boolean): void {
    try {
      this.#write('wx');
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const found = ownerIn(this.#path);
      // Of several that start now, one succeeds.
      if (isSecondTry) throw inUse(statePath, this.#path, found === 'none' ? 'unknown' : found);
      if (found !== 'none') this.#takeOver(found, statePath);
      this.#create(statePath, true);
    }
  }

  /** Moves an abandoned lock file away. Throws if it is in use. */
  #takeOver(found: LockOwner | 'unknown', statePath: string): void {
    const moved = `${this.#path}.${this.#owner.id}`;
    if (!isAbandoned(found, { ...this.#owner, ageMs: ageOf(this.#path, moved) }))
      throw inUse(statePath, this.#path, found);
    renameSync(this.#path, moved);
    const owner = ownerIn(moved);
    // Another mock that starts now has replaced it in between: it keeps its lock.
    if (JSON.stringify(owner) !== JSON.stringify(found)) {
      renameSync(moved, this.#path);
      throw inUse(statePath, this.#path, owner === 'none' ? found : owner);
    }
    rmSync(moved, { force: true });
  }

  /** Shows other hosts that this one runs. */
  async #refresh(): Promise<void> {
    const { signal } = this.#released;
    for (;;) {
      await pause(REFRESH_MS, signal, { holdsProcess: false });
      if (signal.aborted) return;
      try {
        if (this.isOurs()) this.#write('r+'); // for the time of the file system
      } catch {
        // The next write of the state reports what is wrong with the folder.
      }
    }
  }
}

const REFRESH_MS = 5_000;
const STALE_MS = 30_000;

/** What this process knows of a lock file. */
interface FoundLock {
  readonly host: string;
  readonly pid: number;
  /** Milliseconds since the lock file was refreshed. */
  readonly ageMs: number;
  readonly isRunning?: (pid: number) => boolean;
  /** Ids of the mocks of this thread that have a lock. */
  readonly heldIds?: ReadonlySet<string>;
}

/** Whether the mock that created a lock file is gone. */
export function isAbandoned(
  owner: LockOwner | 'unknown',
  { host, pid, ageMs, isRunning = isProcess, heldIds = held() }: FoundLock,
): boolean {
  // Another host, or a file that is being written.
  if (owner === 'unknown' || owner.host !== host) return ageMs > STALE_MS;
  if (owner.pid !== pid) return !isRunning(owner.pid);
  // Processes of containers often have the same pid, that of the one that was killed.
  return !heldIds.has(owner.id);
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM'; // of another user
  }
}

function held(): Set<string> {
  return processState('mock-state-locks.v1', () => new Set<string>());
}

/** The owner in a lock file; `'unknown'` in one that is being written or damaged. */
function ownerIn(path: string): LockOwner | 'unknown' | 'none' {
  try {
    const owner = parseJson(readFileSync(path, 'utf8'));
    return isJsonObject(owner) && typeof owner['id'] === 'string' ? (owner as unknown as LockOwner) : 'unknown';
  } catch {
    return 'none';
  }
}

/** By the time of the file system, which a new file at `probe` shows: a test can fake that of the process. */
function ageOf(path: string, probe: string): number {
  writeFileSync(probe, '');
  const { mtimeMs: now } = statSync(probe);
  rmSync(probe);
  return now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

function inUse(statePath: string, lockPath: string, owner: LockOwner | 'unknown'): MockServerError {
  const { pid, host = hostname() } = owner === 'unknown' ? {} : owner;
  const who = pid === undefined ? 'another mock server, which is starting' : `the mock server with pid ${pid}`;
  const text = `The state file ${statePath} is in use by ${who}${host === hostname() ? '' : ` (${host})`}; stop that server, use another file, or remove ${lockPath} if it no longer runs.`;
  return new MockServerError(text, { code: 'state_in_use', status: 409 });
}
