import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, Running } from '../helpers/cli-bundle.ts';

const mock = createMockServer();
const { key } = mock.createKey();
let url = '';
let home = '';

beforeAll(async () => {
  url = (await mock.serve()).url;
  home = await mkdtemp(join(tmpdir(), 'fxrates-home-'));
});

afterAll(async () => {
  await mock.close();
  await rm(home, { recursive: true });
});

/** Runs with exactly this environment, without the home folder of the machine. */
const run = (line: string, env: Record<string, string>) => {
  const all = { FXRATES_BASE_URL: url, FXRATES_API_KEY: key, LANG: 'C.UTF-8', ...env };
  const assignments = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  return new Running('env', ['-i', ...assignments, process.execPath, BUNDLE, ...line.split(' ')], {}).ended;
};

describe.skipIf(!hasBundle)('the built command', () => {
  test('calls need no HOME; commands that store something report that it is missing', async () => {
    expect(await run('quota --get plan', {})).toMatchObject({ code: 0, stdout: 'free\n', stderr: '' });
    for (const line of ['config set timeout 10s', 'auth login --key-stdin --no-verify', 'latest --cache 10m']) {
      const { code, stderr } = await run(line, {});

      expect({ line, code }).toEqual({ line, code: 3 });
      expect(stderr).toMatch(/HOME is not set|it is empty/);
    }
  });

  // Root can write anywhere, but not into a file in place of the folder.
  test('a HOME that cannot be written does not prevent calls', async () => {
    const blocked = join(home, 'blocked');
    await mkdir(blocked);
    for (const name of ['.config', '.cache', '.local']) await writeFile(join(blocked, name), '');
    await chmod(blocked, 0o555);
    const env = { HOME: blocked };

    expect(await run('quota --get plan', env)).toMatchObject({ code: 0, stdout: 'free\n', stderr: '' });
    expect(await run('latest --cache 10m --get base', env)).toMatchObject({ code: 0, stdout: 'USD\n' });
    const { code, stderr } = await run('config set timeout 10s', env);
    expect(code).toBe(3);
    expect(stderr).toContain('Another folder:  export FXRATES_CONFIG_DIR=');
    expect(await run('doctor', env)).toMatchObject({ code: 0 });
    await chmod(blocked, 0o755);
  });
});
