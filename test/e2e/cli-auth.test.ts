import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUNDLE, hasBundle, Running, runBundle, startBundle } from '../helpers/cli-bundle.ts';

const KEY = `fx_live_${'a1b2c3d4'.repeat(6)}`;
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fxrates-e2e-'));
});

afterEach(() => rm(folder, { recursive: true }));

const loginAs = (profile: string) => [
  ...['auth', 'login', '--key-stdin', '--no-verify'],
  ...['--base-url', 'http://127.0.0.1:9', '--profile', profile],
];
const storedProfiles = async () =>
  Object.keys(JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8')).keys).sort();

describe.skipIf(!hasBundle)('the built command', () => {
  test('ten simultaneous logins are all stored', async () => {
    const profiles = Array.from({ length: 10 }, (_, index) => `p${index}`);

    const results = await Promise.all(
      profiles.map((profile) => runBundle(loginAs(profile), { stdin: KEY, env: { FXRATES_CONFIG_DIR: folder } })),
    );

    expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr)).join('')).toBe('');
    expect(await storedProfiles()).toEqual(profiles);
  });

  test('logins killed at any moment leave a complete file, and the next login works', async () => {
    const env = { FXRATES_CONFIG_DIR: folder };
    await runBundle(loginAs('first'), { stdin: KEY, env });
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const victim = startBundle(loginAs(`victim${attempt}`), { stdin: KEY, env });
      while ((await readdir(folder)).every((name) => !name.endsWith('.lock')) && victim.stderr === '');
      victim.kill('SIGKILL');
      await victim.ended;

      expect(await storedProfiles()).toContain('first');
    }

    expect((await runBundle(loginAs('last'), { stdin: KEY, env })).code).toBe(0);
    expect(await storedProfiles()).toEqual(expect.arrayContaining(['first', 'last']));
  });

  test.skipIf(spawnSync('bash', ['-c', 'script --version']).status !== 0)(
    'on a terminal, login prompts for the base URL and shows it, but not a key that is pasted with it',
    async () => {
      const line = `"${process.execPath}" "${BUNDLE}" auth login --no-verify`;
      const env = { FXRATES_CONFIG_DIR: folder, TERM: 'xterm' };
      const typed = new Running('script', ['-qec', line, '/dev/null'], { env, stdin: 'open' });
      await typed.shows('stdout', 'Base URL of the service');
      typed.write(`http://127.0.0.1:8\u007f9\r${KEY}\r`);

      expect((await typed.ended).code).toBe(0);
      expect(typed.stdout).toContain('http://127.0.0.1:8\b \b9');
      expect(typed.stdout).toContain('for http://127.0.0.1:9 stored in');
      expect(typed.stdout).not.toContain(KEY);
    },
  );

  test.skipIf(spawnSync('bash', ['-c', 'script --version']).status !== 0)(
    'on a terminal, the typed key is not shown, and Ctrl-C exits with 130',
    async () => {
      const prompt = () =>
        new Running(
          'script',
          [
            '-qec',
            `"${process.execPath}" "${BUNDLE}" auth login --no-verify --base-url http://127.0.0.1:9`,
            '/dev/null',
          ],
          { env: { FXRATES_CONFIG_DIR: folder, TERM: 'xterm' }, stdin: 'open' },
        );
      const typed = prompt();
      await typed.shows('stdout', 'input is hidden');
      typed.write(`${KEY}\r`);
      const stopped = prompt();
      await stopped.shows('stdout', 'input is hidden');
      stopped.write('\u0003');

      expect((await typed.ended).code).toBe(0);
      expect(typed.stdout).not.toContain(KEY);
      expect((await stopped.ended).code).toBe(130);
      expect(await storedProfiles()).toEqual(['default']);
    },
  );
});
