import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

interface ReplaceOptions {
  /** Only the owner can read the file. Default: its mode stays, that of a new one is for the umask to say. */
  readonly isPrivate?: boolean;
  /** Whether it may be lost in a power cut, which saves the wait for the disk. */
  readonly isDisposable?: boolean;
  /** End of the name of the unfinished file. Default: one for each process. */
  readonly suffix?: string;
}

/**
 * Writes a file by renaming a finished one, so that a reader, or a crash, never meets half of it. A symbolic link keeps
 * its place: the file behind it is replaced.
 */
export async function replaceFile(
  path: string,
  text: string,
  { isPrivate = false, isDisposable = false, suffix = `${process.pid}.tmp` }: ReplaceOptions = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.${suffix}`;
  try {
    await rm(temporary, { force: true }); // left behind by a killed process
    const mode = isPrivate ? 0o600 : await modeOf(target);
    const file = await open(temporary, 'wx', mode);
    try {
      if (mode !== undefined) await file.chmod(mode); // whatever the umask is
      await file.writeFile(text);
      if (!isDisposable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
    throw error;
  }
}

/** Creates the folder and its parents. Node.js' own `recursive` never returns for a path below `/proc`. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent, mode);
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error; // another process made it
  });
}

async function modeOf(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined ? undefined : stats.mode & 0o777;
}
