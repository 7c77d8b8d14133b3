import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { open, realpath, rename, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { processState } from '../../process-state.ts';
import { pause, repeat } from '../clock/event-loop.ts';
import { systemNow } from '../clock/real-clock.ts';
import { MockServerError } from '../mock-server-error.ts';
import { readWithoutWaiting, unwritable } from './state-file.ts';

/** The right of one server to write a state file. */
export interface StateLock {
  /** Whether another server has replaced the lock, because this process was suspended for seconds. */
  isLost(): Promise<boolean>;
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  /** The machine or container in which `pid` is valid. */
  readonly host: string;
  readonly id: string;
}

type Wait = (ms: number) => Promise<void>;

/** Ids of the locks of this process: a lock with its pid and another id is of a dead process with the same pid. */
const heldIds = () => processState('state-locks.1', () => new Set<string>());

/**
 * Locks a state file with `<path>.lock`. Throws `MockServerError` with code `state_in_use`, after 3 s at most, if a
 * running server has the lock. The lock of a killed server is replaced.
 */
export async function lockState(path: string, { wait = pause } = {}): Promise<StateLock> {
  // The real path, so that a link to the file is the same state.
  const lockPath = `${await realpath(path).catch(() => resolve(path))}.lock`;
  const owner = { pid: process.pid, host: pidHost(), id: randomBytes(8).toString('hex') };
  heldIds().add(owner.id);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    if (await create(path, lockPath, owner)) return holdLock(lockPath, owner.id);
    const found = await readOwner(lockPath);
    if (await isAlive(lockPath, found, wait)) break;
    if (await takeOver({ path, lockPath, dead: found, wait }, owner)) return holdLock(lockPath, owner.id);
  }
  heldIds().delete(owner.id);
  const text = `The state file ${path} is in use by another server; stop that server, or use another file.`;
  throw new MockServerError(text, { code: 'state_in_use' });
}

/** Containers can have the same host name, but not the same namespace of pids (pid_namespaces(7)). */
export function pidHost(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // not Linux: no containers with their own pids
  }
}

const MOST_ATTEMPTS = 3;
const BEAT_MS = 1000;
/** Three intervals, because a busy machine may miss one. */
const OBSERVED_MS = 3 * BEAT_MS;

async function create(path: string, lockPath: string, owner: Owner): Promise<boolean> {
  try {
    const file = await open(lockPath, 'wx', 0o600);
    await file.writeFile(JSON.stringify(owner)).finally(() => file.close());
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(path, cause);
  }
}

/**
 * Whether the owner is running: on this machine by its pid. On another machine or in another container, or if the pid is
 * reused, a running owner updates the time of the lock.
 */
async function isAlive(lockPath: string, owner: Owner | undefined, wait: Wait): Promise<boolean> {
  if (owner !== undefined && heldIds().has(owner.id)) return true;
  if (owner?.host === pidHost() && (owner.pid === process.pid || !isRunning(owner.pid))) return false;
  const before = await touchedAt(lockPath);
  await wait(OBSERVED_MS);
  return before !== (await touchedAt(lockPath));
}

interface DeadLock {
  readonly path: string;
  readonly lockPath: string;
  readonly dead: Owner | undefined;
  readonly wait: Wait;
}

/**
 * Replaces the lock of a killed owner. Of several servers that start at the same time, only one can create the file
 * that is named after that owner. It checks the owner again and renames the file to the lock in one step.
 */
async function takeOver({ path, lockPath, dead, wait }: DeadLock, owner: Owner): Promise<boolean> {
  const claimPath = `${lockPath}.${/^[0-9a-f]{16}$/.exec(dead?.id ?? '')?.[0] ?? 'unknown'}`;
  if (!(await create(path, claimPath, owner))) {
    // Another server has just created it, or was killed before the rename.
    if (!(await isAlive(claimPath, await readOwner(claimPath), wait))) await unlink(claimPath).catch(() => undefined);
    return false;
  }
  if ((await readOwner(lockPath))?.id === dead?.id) {
    await rename(claimPath, lockPath);
    return true;
  }
  await unlink(claimPath);
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function readOwner(lockPath: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(String(await readWithoutWaiting(lockPath)));
  } catch {
    // Removed, or not written yet.
    return undefined;
  }
}

async function touchedAt(lockPath: string): Promise<number> {
  return await stat(lockPath).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function holdLock(lockPath: string, id: string): StateLock {
  const isLost = async () => {
    const owner = await readOwner(lockPath);
    return owner !== undefined && owner.id !== id;
  };
  const beat = async () => {
    if (!(await isLost())) await utimes(lockPath, systemNow() / 1000, systemNow() / 1000);
  };
  const stop = repeat(BEAT_MS, () => void beat().catch(() => undefined));
  return {
    isLost,
    async release() {
      stop();
      heldIds().delete(id);
      if (!(await isLost())) await unlink(lockPath).catch(() => undefined);
    },
  };
}
