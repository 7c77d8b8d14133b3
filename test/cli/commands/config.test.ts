import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import fs, { lstat, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { type FakeIoOptions, runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY, rateLimited } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const NOT_SET = 'fxrates: timeout is not set\n';
let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

const run = (line: string, { env, ...options }: FakeIoOptions = {}) =>
  runCli(line, { ...options, env: { FXRATES_CONFIG_DIR: folder, ...env } });

test('a setting is read, listed and removed, also by the name of its option', async () => {
  await run('config set timeout 10s');
  await run('config set base-url http://127.0.0.1:4010 --profile mock');
  const LIST = { timeout: '10s', 'profiles.mock.base_url': 'http://127.0.0.1:4010' };

  for (const [line, stdout] of [
    ['config get timeout', '10s\n'],
    ['config get base_url --profile mock', 'http://127.0.0.1:4010\n'],
    ['config get base-url --profile mock', 'http://127.0.0.1:4010\n'],
    ['config list -o table', 'timeout                 10s\nprofiles.mock.base_url  http://127.0.0.1:4010\n'],
    ['config list --get timeout', '10s\n'],
    ['config list', `${JSON.stringify(LIST)}\n`],
    ['config unset timeout', ''],
  ] as const) {
    expect(await run(line)).toMatchObject({ code: 0, stdout });
  }
  expect(await run('config get timeout')).toMatchObject({ code: 1, stdout: '', stderr: NOT_SET });
  expect((await run('config unset base-url --profile mock')).stderr).toContain('base_url of profile mock removed');
});

test.each([
  ['config list', ['stdout'], '', 'fxrates: nothing is set in CONFIG\n'],
  ['config list', [], '{}\n', ''],
  ['config list -o csv', [], 'name,value\n', ''],
  ['config list -o tsv', [], '', ''],
] as const)('%s on the terminals %j prints an empty list', async (line, tty, stdout, note) => {
  const stderr = note.replace('CONFIG', join(folder, 'config.json'));

  expect(await run(line, { tty })).toMatchObject({ code: 0, stdout, stderr });
});

test('options override variables, variables profiles, profiles config.json', async () => {
  await writeFile(
    join(folder, 'config.json'),
    '{"version":1,"max_wait":"1s","profiles":{"patient":{"max_wait":"2s"}}}',
  );
  const limit = async (line: string, env = {}) =>
    /longer than --max-wait (\w+)/.exec((await run(line, { env, replies: rateLimited('60') })).stderr)?.[1];

  expect(await limit('latest')).toBe('1s');
  expect(await limit('latest --profile patient')).toBe('2s');
  expect(await limit('latest --profile patient', { FXRATES_MAX_WAIT: '3s' })).toBe('3s');
  expect(await limit('latest --max-wait 4s', { FXRATES_MAX_WAIT: '3s' })).toBe('4s');
});

test.each([
  ['timeout', '10', 'timeout expects a duration'],
  ['retries', 'many', 'retries expects a whole number'],
  ['output', 'xml', 'output expects one of auto, table, json'],
  ['color', 'blue', 'color expects one of auto, always, never'],
  ['base_url', 'example.test', 'base_url expects an http or https URL'],
  ['nonsense', '1', "unknown setting 'nonsense'"],
  ['base_url', `https://${API_KEY}@api.example.test`, 'contains an API key'],
  ['base_url', `https://api.example.test/?x=${API_KEY}`, 'contains an API key'],
  ['base_url', 'https://api.example.test/?api_key=short', 'Store it:  fxrates auth login'],
  ['base_url', `https://api.example.test/${API_KEY.replace('_live_', '%5flive_')}`, 'contains an API key'],
  ['base_url', `https://${API_KEY}.example.test`, 'contains an API key'],
  ['base_url', 'https://secret@api.example.test', 'Store it:  fxrates auth login'],
  ['base-url', 'x', 'base_url expects an http or https URL'],
  ['base-rul', 'x', "unknown setting 'base-rul'\n\n  Did you mean base_url?"],
  ['api_key', 'x', 'fxrates auth login'],
])('config set %s %s is refused', async (name, value, message) => {
  const stderr = await usageError(`config set ${name} ${value}`, { env: { FXRATES_CONFIG_DIR: folder } });

  expect(stderr).toContain(message);
  expect(stderr).not.toContain(API_KEY);
  expect((await run('config list')).stdout).toBe('{}\n');
});

test.each([
  ['{"version":1,"timeout":"soon"}', ''],
  ['{"profiles":{"default":{"timeout":true}}}', ' --profile default'],
])('an invalid value in %s is reported with its place, and config unset removes it', async (text, owner) => {
  await writeFile(join(folder, 'config.json'), text);

  const { code, stderr } = await run('latest');
  const { stdout } = await run('doctor --offline');

  expect([code, stderr]).toEqual([2, expect.stringContaining(`timeout in ${folder}`)]);
  for (const shown of [stderr, stdout])
    expect(shown).toContain(`  To use the default:  fxrates config unset timeout${owner}\n`);
  expect((await run(`config unset timeout${owner}`)).code).toBe(0);
  expect((await run('latest')).code).toBe(0);
});

test.skipIf(process.platform === 'win32')('config.json can be a symbolic link, which stays, with a BOM', async () => {
  const target = join(folder, 'dotfiles.json');
  await writeFile(target, '\uFEFF{"retries":1}', { mode: 0o600 });
  await symlink(target, join(folder, 'config.json'));

  const { code } = await run('config set timeout 10s');
  const { stdout } = await run('doctor --offline -o table');

  expect(code).toBe(0);
  expect(JSON.parse(await readFile(target, 'utf8'))).toMatchObject({ retries: 1, timeout: '10s' });
  expect((await lstat(join(folder, 'config.json'))).isSymbolicLink()).toBe(true);
  expect(stdout).toMatch(/^ok +config file\s+\S+\s+\(mode\s+0600\)/m);
});

test('an empty config.json, such as one created for a mount, has no settings', async () => {
  await writeFile(join(folder, 'config.json'), '');

  expect(await run('config list')).toMatchObject({ code: 0, stdout: '{}\n', stderr: '' });
  expect((await run('config set timeout 10s')).code).toBe(0);
  expect((await run('config get timeout')).stdout).toBe('10s\n');
});

test('a full disk leaves no lock that the next command waits for', async () => {
  const file = await fs.open(join(folder, 'other'), 'w');
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  vi.spyOn(Object.getPrototypeOf(file), 'writeFile').mockRejectedValue(full);

  const { code, stderr } = await run('config set timeout 10s');
  await file.close();

  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('no space left') });
  expect(await readdir(folder)).toEqual(['other']);
});

test.each(['config set timeout 10s', 'auth login --key-stdin --no-verify'])('%s needs a home folder', async (line) => {
  const stderr = expect.stringContaining('HOME is not set');

  expect(await runCli(line, { stdin: API_KEY })).toMatchObject({ code: 3, stderr });
});

test('an invalid config.json is reported with line and column by the commands that need it', async () => {
  const path = join(folder, 'config.json');
  await writeFile(path, '{\n  "timeout": 10s\n}\n');

  for (const line of ['latest', 'quota', 'api /x', 'config list', 'config set timeout 5s', 'auth status']) {
    const { code, stderr } = await run(line);
    expect({ line, code }).toEqual({ line, code: 3 });
    expect(stderr).toContain(`cannot use ${path} — it is not valid JSON: line 2, column 16`);
  }
  for (const line of ['--help', 'help options', 'config path', '--version', 'auth', 'config --help']) {
    expect({ line, code: (await run(line)).code }).toEqual({ line, code: 0 });
  }
  expect(await readFile(path, 'utf8')).toBe('{\n  "timeout": 10s\n}\n');
});

test('a setting is stored for the profile that --profile names, and the default profile for all', async () => {
  await run('config set timeout 5s');
  await run('config set timeout 9s --profile staging');
  await run('config set profile staging --profile staging');

  const unset = await run('config unset timeout --profile other');

  expect(unset).toMatchObject({ code: 0, stderr: 'fxrates: timeout of profile other is not set\n' });
  expect((await run('config list -o tsv')).stdout).toBe(
    'profile\tstaging\ntimeout\t5s\nprofiles.staging.timeout\t9s\n',
  );
});

test.each(['quota --base-url ftp://wrong.test', 'config get nonsense', 'config set timeout soon', 'completion tcsh'])(
  'errors use the colour setting of config.json: %s',
  async (line) => {
    await run('config set color always');

    expect((await run(line)).stderr).toContain('\u001b[31m');
  },
);

test.each([{ FXRATES_OUTPUT: 'json' }, {}])('a command without requests obeys %j or config.json', async (env) => {
  await writeFile(join(folder, 'config.json'), '{"timeout":"5s","output":"json","retries":"many"}');

  expect(await run('config get timeout', { env })).toMatchObject({ code: 0, stdout: '"5s"\n' });
  expect(JSON.parse((await run('config get nonsense', { env })).stderr).error.code).toBe('usage');
});

const CI = '{"version":1,"color":"never","profiles":{"ci":{"output":"json"}}}';
const AS_JSON = /^\{"error":\{"code":"usage"/;

test.each<[line: string, text: string, env: object, stderr: RegExp]>([
  ['quota --base-url ftp://x.test -o tsv', '{}', { FXRATES_OUTPUT: 'json' }, /^\S*fxrates: --base-url expects an http/],
  ['latest --nonsense', CI, {}, /^fxrates: unknown option/],
  ['latest --nonsense --profile ci', CI, {}, AS_JSON],
  ['latest --nonsense', CI, { FXRATES_PROFILE: 'ci' }, AS_JSON],
  ['latest --nonsense', '{"version":1,"color":{}}', {}, /unknown option '--nonsense'/],
])('the usage error of %s with the settings %s has their form, unless an option sets it', async (...given) => {
  const [line, text, env, stderr] = given;
  await writeFile(join(folder, 'config.json'), text);

  expect((await run(line, { tty: ['stderr'], env: { ...env } })).stderr).toMatch(stderr);
});

test.skipIf(process.platform === 'win32').each<[string, (path: string) => unknown, string]>([
  ['a pipe', (path) => execFileSync('mkfifo', [path]), 'it is not a file'],
  ['UTF-16', (path) => writeFileSync(path, Buffer.from('\uFEFF{}', 'utf16le')), 'it is UTF-16; save it as UTF-8'],
  ['a list as setting', (path) => writeFileSync(path, '{"timeout":["3s"]}'), 'timeout is null, an object or a list'],
  ['a list of profiles', (path) => writeFileSync(path, '{"profiles":[]}'), 'profiles is not an object of settings'],
  [
    'a URL as profile',
    (path) => writeFileSync(path, '{"profiles":{"work":"https://api.example.test"}}'),
    'profiles.work is not an object of settings',
  ],
])('%s in place of config.json is refused at once', async (_, make, why) => {
  const path = join(folder, 'config.json');
  make(path);

  const { code, stderr } = await run('latest');

  expect(code).toBe(3);
  expect(stderr).toContain(`cannot use ${path} — ${why}\n\n  Correct or remove it:  ${path}\n`);
});

const PROFILES = '{"version":1,"profiles":{"work":{"base_url":"https://api.example.test"}}}';
const full = { FXRATES_BASE_URL: 'https://api.example.test', FXRATES_API_KEY: API_KEY };

test.each([
  ['latest --profile wrok', full],
  ['latest', { ...full, FXRATES_PROFILE: 'wrok' }],
  ['batch --each n=1 --profile wrok', full],
  ['auth status --profile wrok', full],
  ['config set profile wrok', {}],
])('a profile that does not exist is an error that lists the others: %s', async (line, env) => {
  await writeFile(join(folder, 'config.json'), PROFILES);

  const { code, stderr, requests } = await run(line, { env });

  expect({ code, requests }).toEqual({ code: 3, requests: [] });
  expect(stderr).toContain("fxrates: there is no profile 'wrok' — stored profiles: work\n");
  expect(stderr).toContain('Create it:  fxrates auth login --profile wrok');
});

test('a profile exists if it has a key only, and auth login creates one', async () => {
  const keys = { ci: { origin: 'https://api.example.test', api_key: API_KEY } };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, keys }));

  for (const [line, code] of [
    ['latest --profile ci', 0],
    ['latest --profile other', 3],
    ['latest --profile default', 0],
    ['auth login --no-verify --profile other --key-stdin', 0],
    ['latest --profile other', 0],
    ['config set profile nope', 3],
    ['config get profile', 1],
  ] as const) {
    expect([line, (await run(line, { env: full, stdin: API_KEY })).code]).toEqual([line, code]);
  }
});

test.each([
  ['{"time_out":"5s"}', "unknown setting 'time_out'; did you mean timeout?"],
  ['{"max-wait":"5s"}', "unknown setting 'max-wait'; did you mean max_wait?"],
  [
    '{"profiles":{"default":{"baseurl":"http://x"}}}',
    "unknown setting 'profiles.default.baseurl'; did you mean base_url?",
  ],
  ['{"language":"de"}', "unknown setting 'language'; valid settings: base_url, profile, output,"],
])('%s: commands and doctor warn of the name that has no effect', async (text, says) => {
  await writeFile(join(folder, 'config.json'), text);

  const latest = await run('latest', { env: full });
  const doctor = await run('doctor --offline -o table', { env: full });

  expect(latest).toMatchObject({ code: 0, stderr: expect.stringContaining(`config.json: ${says}`) });
  expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(says);
  expect(doctor.stdout).toMatch(/warn +config file/);
});
