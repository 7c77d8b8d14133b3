import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  return { enableCompileCache: () => mkdirSync(join(compiled(), version), { recursive: true }) };
}

/** Compiled code of a version. */
function used(version: string, files: number): void {
  mkdirSync(join(compiled(), version), { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(compiled(), version, String(index)), 'code');
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

test('the code of many versions and installations is removed, since each adds files', () => {
  used('v24', 300);
  used('v26', 600);
  useCompileCache({ HOME: home }, nodeOf('v26'));
  expect(compileCacheSize({ HOME: home }).files).toBe(900);

  used('v22', 101);
  useCompileCache({ HOME: home }, nodeOf('v26'));
  expect(compileCacheSize({ HOME: home }).files).toBe(0);
});

test('cache info counts the compiled code, and cache clear removes it', async () => {
  used('v24', 3);
  used('v26', 2);
  const env = { HOME: home };

  expect(JSON.parse((await runCli('cache info', { env })).stdout)).toMatchObject({ responses: 0, compiled_bytes: 20 });
  const { stderr } = await runCli('cache clear', { env });

  expect(stderr).toBe('fxrates: removed 0 cached responses and 20 bytes of compiled code\n');
  expect(existsSync(compiled())).toBe(false);
});
