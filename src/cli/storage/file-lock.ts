import { link, open, rename, rm, stat } from 'node:fs/promises';
import type { Clock } from '../../client/index.ts';
import { storageError } from '../errors/cli-error.ts';

const LOOK_EVERY_MS = 20;
const GIVE_UP_AFTER_MS = 5_000;
/** Nobody holds a lock for as long as that but a process that was killed. */
const STALE_AFTER_MS = 2_000;

/** Runs `work` while no other process does so for the same `path`. A lock left behind by a killed process is removed. */
export async function withLock(path: string, clock: Clock, work: () => Promise<void>): Promise<void> {
  const lock = `${path}.lock`;
  const giveUpAt = clock.now() + GIVE_UP_AFTER_MS;
  while (!(await take(lock))) {
    if (clock.now() > giveUpAt) throw storageError(`cannot write ${path}`, `another fxrates holds ${lock}`);
    await removeStale(lock, clock);
    await clock.sleep(LOOK_EVERY_MS);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // of node:fs
    throw error;
  }
}

/** Moved away before it is removed, since by then it may be another process's new lock, which is put back. */
async function removeStale(lock: string, clock: Clock): Promise<void> {
  if (!(await isStale(lock, clock))) return;
  const aside = `${lock}.old`;
  try {
    await rename(lock, aside);
    if (!(await isStale(aside, clock))) await link(aside, lock);
    await rm(aside, { force: true });
  } catch {
    // Somebody else was faster; the next look tells.
  }
}

async function isStale(path: string, clock: Clock): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && clock.now() - stats.mtimeMs > STALE_AFTER_MS;
}
