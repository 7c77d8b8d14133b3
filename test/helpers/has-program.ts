import { spawnSync } from 'node:child_process';

const missing = new Set<string>();

/** Whether a program is installed. A test that needs one that is not is skipped, which a line on stderr says once. */
export function hasProgram(name: string): boolean {
  if (spawnSync(name, ['--version']).error === undefined) return true;
  if (!missing.has(name)) process.stderr.write(`SKIPPED: tests that need ${name}. Install it to run them.\n`);
  missing.add(name);
  return false;
}
