/** `npm run test:node -- 24`: the tests under another Node. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installNode } from './install-node.ts';

const [version, ...vitestOptions] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write(`test:node: expected a Node version such as 24, got ${version ?? 'none'}\n`);
  process.exit(2);
}

const root = join(import.meta.dirname, '..');
const node = installNode(version);
run(node, ['--version']);
process.exit(run(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...vitestOptions]));

function run(command: string, args: readonly string[]): number {
  return spawnSync(command, args, { stdio: 'inherit', cwd: root }).status ?? 1;
}
