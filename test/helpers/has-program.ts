import { spawnSync } from 'node:child_process';

/** Whether a program is installed. A test that needs one that is not is skipped. */
export function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).error === undefined;
}
