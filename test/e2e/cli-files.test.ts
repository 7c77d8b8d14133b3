import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createMockServer, recordedRules } from '../../src/mock-server/index.ts';
import {
  BUNDLE,
  hasBundle,
  hasTerminal,
  Running,
  runBundle,
  startBundle,
  startOnTerminal,
} from '../helpers/cli-bundle.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { servedMock } from '../helpers/served-mock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { mock, server } = await servedMock({ clock: 'real' });
const { key } = mock.createKey();
afterAll(() => mock.close());

const KEY = `fx_live_${'a1b2c3d4'.repeat(6)}`;
let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

const loginAs = (profile: string) => [
  ...['auth', 'login', '--key-stdin', '--no-verify'],
  ...['--base-url', 'http://127.0.0.1:9', '--profile', profile],
];
const storedProfiles = async () =>
  Object.keys(JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8')).keys).sort();

describe.skipIf(!hasBundle)('logins of the built command', () => {
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

  test.skipIf(!hasTerminal)(
    'on a terminal, login shows the base URL, but not a key that is pasted with it',
    async () => {
      const typed = startOnTerminal('auth login --no-verify', { FXRATES_CONFIG_DIR: folder });
      await typed.shows('stdout', 'Base URL of the service');
      typed.write(`http://127.0.0.1:8\u007f9\r${KEY}\r`);

      expect((await typed.ended).code).toBe(0);
      expect(typed.stdout).toContain('for http://127.0.0.1:9 stored in');
      expect(typed.stdout).not.toContain(KEY);
    },
  );
});

/** Runs with exactly this environment, without the home folder of the machine. */
const run = (line: string, env: Record<string, string>) => {
  const all = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, LANG: 'C.UTF-8', ...env };
  const assignments = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  return new Running('env', ['-i', ...assignments, process.execPath, BUNDLE, ...line.split(' ')], {}).ended;
};

describe.skipIf(!hasBundle)('the built command and its home folder', () => {
  // Root can write anywhere, but not into a file in place of the folder.
  test('a HOME that cannot be written does not prevent calls', async () => {
    const blocked = join(folder, 'blocked');
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

  test.runIf(process.geteuid?.() === 0 && hasProgram('setpriv'))(
    'a HOME of another user prevents no call, and is named once',
    async () => {
      await chmod(folder, 0o700); // of root
      const as = ['--reuid=999', '--regid=999', '--clear-groups', process.execPath, BUNDLE];
      const env = { HOME: folder, FXRATES_SHARE_LIMIT: 'on' };
      const given = { ...env, FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key };
      const runAs = (line: string, more: Record<string, string> = given) =>
        new Running('setpriv', [...as, ...line.split(' ')], { env: more }).ended;
      const unreadable = /^fxrates: cannot read \S*config\.json — permission denied; its settings are not used\n/;
      const refused = /^fxrates: cannot read \S*config\.json — permission denied\n/;

      const withKey = await runAs('quota --get plan');
      const withoutUrl = await runAs('quota', env);
      const ofProfile = await runAs('quota --profile work');

      expect(withKey).toMatchObject({ code: 0, stdout: 'free\n' });
      expect(withKey.stderr.replace(unreadable, '')).toBe('');
      expect(withoutUrl).toMatchObject({ code: 3, stderr: expect.stringMatching(unreadable) });
      expect(withoutUrl.stderr).toContain('no base URL');
      expect(ofProfile).toMatchObject({ code: 0, stderr: expect.stringMatching(unreadable) });
      expect((await runAs('auth login --key-file /nowhere')).stderr.replace(unreadable, '')).toMatch(refused);
      for (const line of ['list', 'get timeout', 'set timeout 5s', 'unset timeout'])
        expect(await runAs(`config ${line}`)).toMatchObject({ code: 3, stderr: expect.stringMatching(refused) });
    },
  );

  test('adds the responses of eight commands at the same time, and a mock replays them', async () => {
    const file = join(folder, 'responses.ndjson');
    const currencies = ['EUR', 'GBP', 'CHF', 'USD'].flatMap((base) => ['1', '2'].map((n) => [base, n]));
    const env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key };

    const results = await Promise.all(
      currencies.map(([base, n]) => runBundle(['latest', `base=${base}`, `n=${n}`, '--fixture-out', file], { env })),
    );

    expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr)).join('')).toBe('');
    expect(await readdir(folder)).toEqual(['responses.ndjson']);
    const replay = createMockServer({ rules: recordedRules(await readFile(file, 'utf8')) });
    const headers = { authorization: `Bearer ${replay.createKey({ plan: 'developer' }).key}` };
    for (const [base, n] of currencies) {
      const response = await replay.fetch(`${replay.baseUrl}/api/v1/latest?base=${base}&n=${n}`, { headers });
      expect(await response.json()).toMatchObject({ success: true, data: { base } });
    }
  });
});
