import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'fxrates-test-';

/** A new, empty folder, which is deleted at the end of the run. Only its user can read it. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'folder-'));
}

/** The path of a new file in a folder of its own. */
export function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

/**
 * Vitest calls it before the tests, once for each project: from then on, all temporary files are in one folder, also those
 * of workers and of the processes that they start. Returns a function that deletes the folder.
 */
export function setup(): (() => void) | undefined {
  if (basename(tmpdir()).startsWith(PREFIX)) return undefined;
  const root = mkdtempSync(join(tmpdir(), PREFIX));
  // A test becomes another user, who must get to its folder; the names in this one stay hidden.
  chmodSync(root, 0o711);
  // Windows reads the other two.
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = root;
  return () => {
    try {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      // The tests have ended. A process that one of them left behind may still write files.
      process.stderr.write(`The temporary folder of the tests stays: ${error}\n`);
    }
  };
}
