// Node.js loads `promises`, and `crypto` below, at their first use: `--help` has none.
import { constants, promises as fs, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './foreign-values.ts';

interface ReplaceOptions {
  /** Only the owner can read the file. Default: an existing file keeps its mode, a new one has that of the umask. */
  readonly isPrivate?: boolean;
  /** Do not wait for the disk: the text may be lost in a power failure. */
  readonly isDisposable?: boolean;
  /** The unfinished file is `<path>.lock`: another writer fails with EEXIST. Without a lock, nothing is written. */
  readonly isLocked?: boolean;
}

/** A function is called once the unfinished file exists, so that with a lock it can read the old text. */
type Text = string | (() => string);

/** Names of files that the process has open: with `> file`, `/dev/stdout` is that file, and its text must stay. */
const OPEN_FILE = /^\/dev\/(fd\/\d+|stdout|stderr)$/;

/** Why a file cannot be replaced that can be written: it is a mount of its own, or its folder is read-only. */
const ONLY_IN_PLACE = ['EBUSY', 'EROFS', 'EACCES', 'EPERM'];

/**
 * Writes a file by renaming a complete one, so that it is never incomplete for a reader or after a crash. If an existing file
 * cannot be replaced, such as one mounted into a container, it is overwritten. The target of a symbolic link is replaced. The
 * text is appended to a device, a pipe or an open file.
 */
export async function replaceFile(path: string, text: Text, options: ReplaceOptions = {}): Promise<void> {
  const stats = await statIfThere(path);
  if (stats !== undefined && (!stats.isFile() || OPEN_FILE.test(path))) return fs.appendFile(path, textOf(text));
  const target = await targetOf(path);
  const { isPrivate = false, isLocked = false, isDisposable = false } = options;
  const mode = isPrivate ? 0o600 : stats && stats.mode & 0o777;
  const inPlace = async (error: unknown) => {
    if (stats === undefined || isDisposable || !ONLY_IN_PLACE.includes(codeOf(error) ?? '')) throw error;
    await writeTo(await fs.open(target, 'r+'), text, { isDisposable, mode });
  };
  const unfinished = `${target}.${isLocked ? 'lock' : `${crypto.randomUUID()}.tmp`}`;
  const file = await fs.open(unfinished, 'wx', mode).catch((error: unknown) => {
    if (isLocked) throw error;
    return inPlace(error);
  });
  if (file === undefined) return;
  try {
    await writeTo(file, text, { isDisposable, mode });
    await fs.rename(unfinished, target);
  } catch (error) {
    // The lock stays until the file is written.
    await inPlace(error).finally(() => fs.rm(unfinished, { force: true }).catch(() => undefined));
  }
}

interface WriteOptions {
  readonly isDisposable: boolean;
  readonly mode: number | undefined;
}

async function writeTo(file: fs.FileHandle, text: Text, { mode, isDisposable }: WriteOptions): Promise<void> {
  try {
    const value = textOf(text);
    if (mode !== undefined) await file.chmod(mode).catch(() => undefined); // `open` applies the umask
    await file.writeFile(value);
    await file.truncate(Buffer.byteLength(value)); // after the write: a full disk does not empty the file
    if (!isDisposable) await file.sync().catch(unlessLost);
  } finally {
    await file.close();
  }
}

function textOf(text: Text): string {
  return typeof text === 'string' ? text : text();
}

/** Some file systems (WSL, 9p, network mounts) refuse `fsync` although the write itself works. @throws for a write that failed */
function unlessLost(error: NodeJS.ErrnoException): void {
  if (['EIO', 'ENOSPC', 'EDQUOT'].includes(error.code ?? '')) throw error;
}

/**
 * Checks, before anything is sent, that a file can be written at this path. `kept`: the paths of files that must stay, by the
 * reason. @throws the error of the system, or the reason
 */
export async function checkWritable(
  path: string,
  kept: Readonly<Record<string, string | undefined>> = {},
): Promise<void> {
  const stats = await statIfThere(path);
  if (stats?.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
  if (stats?.isFile() && !OPEN_FILE.test(path)) await refuseKept(stats, { ...OUTPUTS, ...kept });
  if (stats !== undefined) return fs.access(path, constants.W_OK);
  // The mode of a folder does not show that it was deleted, or that the path ends with a slash.
  const temporary = `${await targetOf(path)}.${crypto.randomUUID()}.tmp`;
  await (await fs.open(temporary, 'wx')).close();
  await fs.rm(temporary, { force: true });
}

/** The file of `> file` would be replaced, and the output in it lost. */
const OUTPUTS = { 'stdout is redirected to it': '/dev/stdout', 'stderr is redirected to it': '/dev/stderr' };

/** Compares the files themselves, because a file can have several names. @throws Error with the reason */
async function refuseKept({ dev, ino }: Stats, kept: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const [reason, path] of Object.entries(kept)) {
    const other = path === undefined ? undefined : await statIfThere(path);
    if (other?.ino === ino && other.dev === dev) throw new Error(reason);
  }
}

/** The file that a symbolic link leads to. It need not exist. */
async function targetOf(path: string): Promise<string> {
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return path; // such as links that form a cycle
    const link = await fs.readlink(path).catch(() => undefined);
    return link === undefined ? path : targetOf(resolve(dirname(path), link));
  }
}

/** Creates the folder and its parents. Node.js' own `recursive` never returns for a path below `/proc`. */
export function makeFolder(
  path: string,
  mode?: number,
  files: { readonly lstatSync: typeof lstatSync; readonly mkdirSync: typeof mkdirSync } = { lstatSync, mkdirSync },
): void {
  if (files.lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode, files);
  try {
    files.mkdirSync(path, { mode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error; // another process made it
  }
}

/** Why other users can change the content of a folder, and the next step; `undefined` if they cannot. */
export function folderProblem(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined; // Windows has no such owners and modes
  if (uid !== own)
    return `${path} belongs to another user (uid ${uid}, expected ${own}); change its owner, or use another folder`;
  return (mode & 0o022) === 0
    ? undefined
    : `${path} is writable by other users; run: chmod 700 '${path.replaceAll("'", `'\\''`)}'`;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  return fs.stat(path).catch(() => undefined);
}
