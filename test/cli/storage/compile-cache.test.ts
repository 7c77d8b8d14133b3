import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileCacheSize, useCompileCache } from '../../../src/cli/storage/compile-cache.ts';
import { runCli } from '../../helpers/cli-io.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fxrates-compiled-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const compiled = () => join(home, '.cache', 'fxrates', 'compiled');

/** Node.js with a compile cache: it creates a folder for its version. */
function nodeOf(version: string) {
  const dir = () => join(compiled(), version);
  return {
    enableCompileCache: () => mkdirSync(dir(), { recursive: true }),
    getCompileCacheDir: dir,
  };
}

/** Files in the folder of a version that was last used this number of hours ago. */
function used(version: string, { files, hoursAgo = 0 }: { readonly files: number; readonly hoursAgo?: number }): void {
  const folder = join(compiled(), version);
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(folder, String(index)), 'code');
  const at = statSync(folder).mtimeMs / 1000 - hoursAgo * 3600;
  utimesSync(folder, at, at);
}

test('compiled code is stored in a folder that only the user can read', () => {
  useCompileCache({ HOME: home }, nodeOf('v26'));

  expect(readdirSync(compiled())).toEqual(['v26']);
  expect(statSync(join(home, '.cache', 'fxrates')).mode & 0o777).toBe(0o700);
});

test.each([
  ['without a home folder', {}, nodeOf('v26')],
  ['with a home folder that does not exist', { HOME: '/nonexistent' }, nodeOf('v26')],
  ['on a Node.js without a compile cache', undefined, {}],
])('%s nothing is stored', (_, env, node) => {
  useCompileCache(env ?? { HOME: home }, node);

  expect(existsSync(join(home, '.cache'))).toBe(false);
});

test('the code of the last three versions of Node.js is kept', () => {
  for (const [index, version] of ['v20', 'v21', 'v22', 'v23'].entries())
    used(version, { files: 1, hoursAgo: 10 - index });
  used('v19', { files: 1, hoursAgo: 99 });

  useCompileCache({ HOME: home }, nodeOf('v19'));

  expect(readdirSync(compiled()).sort()).toEqual(['v19', 'v22', 'v23']);
});

test('the code of many installations is removed, since each adds files', () => {
  used('v26', { files: 60 });
  useCompileCache({ HOME: home }, nodeOf('v26'));
  expect(compileCacheSize({ HOME: home }).files).toBe(60);

  used('v26', { files: 61 });
  useCompileCache({ HOME: home }, nodeOf('v26'));
  expect(compileCacheSize({ HOME: home }).files).toBe(0);
});

test('cache info counts the compiled code, and cache clear removes it', async () => {
  used('v24', { files: 3 });
  used('v26', { files: 2 });
  const env = { HOME: home };

  expect(JSON.parse((await runCli('cache info', { env })).stdout)).toMatchObject({ responses: 0, compiled_bytes: 20 });
  const { stderr } = await runCli('cache clear', { env });

  expect(stderr).toBe('fxrates: removed 0 cached responses and 20 bytes of compiled code\n');
  expect(existsSync(compiled())).toBe(false);
});
