import { spawnSync } from 'node:child_process';
import { temporaryFolder } from './temporary-folder.ts';

/** Whether tests can mount a file system: on Linux, as root, and not in a container without that right. */
export const canMountDisk =
  process.platform === 'linux' &&
  process.geteuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '--version']).status === 0;

/** Calls `use` with a folder on a disk of `size`, such as `64k`. */
export async function onDisk(size: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  try {
    if (status !== 0) throw new Error(`cannot mount a disk: ${stderr}`);
    await use(folder);
  } finally {
    if (status === 0) spawnSync('umount', [folder]);
  }
}
