import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { hasBundle, PATIENT } from '../helpers/cli-bundle.ts';

const folder = fileURLToPath(new URL('fake-timers', import.meta.url));
const JEST = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
/** As the package is read from node_modules: unchanged. */
const FILES = { rootDir: folder, testMatch: ['**/jest.test.cjs'], transform: {} };
const JESTS = { projects: [FILES, { ...FILES, fakeTimers: { enableGlobally: true } }] };

// Each has a process of its own and mostly waits, so they run side by side.
describe.skipIf(!hasBundle).concurrent('with the fake timers of', () => {
  test.each<[string, readonly string[]]>([
    ['node:test', ['--no-warnings', '--test', 'node.test.mjs']],
    ['sinon', ['sinon.mjs']],
    [
      'jest, also if they are installed before the package is loaded',
      [JEST, '-i', PATIENT, `--config=${JSON.stringify(JESTS)}`],
    ],
  ])('%s, clocks follow, virtual ones end, and all works when they are removed', async (_, args) => {
    const running = promisify(execFile)(process.execPath, args, { cwd: folder });

    const failure = await running.then(
      () => undefined,
      ({ stdout, stderr }) => stdout + stderr,
    );

    expect(failure).toBeUndefined();
  });
});
