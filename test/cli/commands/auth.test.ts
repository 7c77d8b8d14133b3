import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type FakeIoOptions, runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const STORED = `fx_live_${'5700ed'.repeat(8)}`;
const ORIGIN = 'https://api.example.test';
const replies = success(quotaRecord());
let folder = '';

beforeEach(() => {
  folder = temporaryFolder();
});

function run(line: string, { env, ...options }: FakeIoOptions = {}) {
  const own = { FXRATES_CONFIG_DIR: folder, FXRATES_API_KEY: undefined, FXRATES_BASE_URL: undefined, ...env };
  return runCli(line, { replies, ...options, env: own });
}

const login = (options: FakeIoOptions = {}, more = '') =>
  run(`auth login --key-stdin --base-url ${ORIGIN} ${more}`, { stdin: `${STORED}\n`, ...options });
const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('login checks the key with one quota call and stores it with its origin', async () => {
  const { code, stdout, stderr, requests } = await login();

  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('key fx_live_…00ed for https://api.example.test stored');
  expect(stderr).toContain(`base URL stored in ${join(folder, 'config.json')}\n`);
  expect(requests.map(({ url }) => url)).toEqual([`${ORIGIN}/api/v1/quota`]);
  expect(await read('credentials.json')).toEqual({
    version: 1,
    keys: { default: { origin: ORIGIN, api_key: STORED, added_at: '2026-01-21T14:20:00.000Z' } },
  });
  expect(await read('config.json')).toEqual({ version: 1, profiles: { default: { base_url: ORIGIN } } });
});

test('after login, also without a check, commands need no environment variable', async () => {
  expect((await login({}, '--no-verify')).requests).toEqual([]);

  const { code, requests } = await run('latest');

  expect(code).toBe(0);
  expect(requests[0]).toMatchObject({ url: `${ORIGIN}/api/v1/latest`, headers: { authorization: `Bearer ${STORED}` } });
});

test.each(['000', '077', '027'])('under umask %s the folder is 0700 and its files 0600', async (umask) => {
  const before = process.umask(Number.parseInt(umask, 8));
  const env = { FXRATES_CONFIG_DIR: join(folder, 'new', 'fxrates') };
  await login({ env }).finally(() => process.umask(before));

  expect(await modeOf(env.FXRATES_CONFIG_DIR)).toBe('700');
  expect(await modeOf(join(env.FXRATES_CONFIG_DIR, 'credentials.json'))).toBe('600');
  expect(await modeOf(join(env.FXRATES_CONFIG_DIR, 'config.json'))).toBe('600');
  expect((await readdir(env.FXRATES_CONFIG_DIR)).sort()).toEqual(['config.json', 'credentials.json']);
});

test.each([
  ['0644', undefined],
  ['0640', undefined],
  ['0604', STORED], // another key is in use
])('a key file of mode %s gets the mode 0600, with a warning', async (mode, FXRATES_API_KEY) => {
  await login();
  await chmod(join(folder, 'credentials.json'), mode);

  const { code, stderr } = await run('quota', { env: { FXRATES_API_KEY } });

  expect(code).toBe(0);
  expect(stderr).toContain('was readable by other users; its mode is now 0600');
  expect(await modeOf(join(folder, 'credentials.json'))).toBe('600');
  expect((await run('quota')).stderr).toBe('');
});

test('login does not write through a symbolic link', async () => {
  const target = join(folder, 'elsewhere');
  await writeFile(target, '{}');
  await symlink(target, join(folder, 'credentials.json'));

  expect(await login()).toMatchObject({ code: 3, stderr: expect.stringContaining('it is a symbolic link') });
  expect(await readFile(target, 'utf8')).toBe('{}');
});

const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test.each([
  ['the key could not be checked', 6, refusedConnection, 'cannot reach api.example.test — ECONNREFUSED'],
  ['the key could not be checked', 9, failure(404), 'Some text.'],
  ['the key could not be checked', 5, failure(503), 'the service failed'],
  ['the key could not be checked', 7, rateLimited('30'), 'retry in 30 s'],
  ['the key could not be checked', 10, { body: '<html>' }, 'the body starts with: <html>'],
  ['the service refuses this key', 4, failure(401, { code: 'unauthorized' }), ''],
] as const)('%s (exit code %d): it is not stored', async (what, exitCode, replies, why) => {
  const { code, stderr } = await login({ replies, quota: replies }, '--retries 0 --no-wait');

  expect(code).toBe(exitCode);
  expect(stderr).toContain(`fxrates: ${what}; nothing is stored`);
  expect(stderr).toContain(why);
  expect(stderr).toContain('  To store it without a check:  --no-verify\n');
  expect(await readdir(folder)).toEqual([]);
});

const LONG = 'https://a-long-name.example.test';

test.each([
  [
    'for the key, without the blanks around it',
    `--base-url ${ORIGIN}`,
    ` ${STORED} `,
    ORIGIN,
    [`API key for ${ORIGIN} (input is hidden): `],
  ],
  ['between words', `--base-url ${LONG}`, STORED, LONG, [`API key for\n${LONG} (input\nis hidden): `], 40],
  [
    'for the base URL if none is set',
    '',
    ` ${ORIGIN} \n${STORED}`,
    ORIGIN,
    ['Base URL of the service, e.g. https://api.example.test: \nAPI key for https'],
  ],
  [
    'again after an invalid base URL',
    '',
    `ftp://x\nlocalhost:1\n${ORIGIN}\n${STORED}`,
    ORIGIN,
    ["the base URL expects an http or https URL, got 'ftp://x'", 'e.g. http://localhost:1\n'],
  ],
] as const)('on a terminal, login prompts %s', async (_, option, stdin, origin, prompts, narrow?) => {
  const { code, stderr } = await run(`auth login ${option}`, {
    stdin,
    tty: ['stdin', 'stderr'],
    columns: narrow ?? 80,
  });

  expect(code).toBe(0);
  for (const prompt of prompts) expect(stderr).toContain(prompt);
  expect((await read('credentials.json')).keys.default).toMatchObject({ origin, api_key: STORED });
  expect((await read('config.json')).profiles.default.base_url).toBe(origin);
});

test.each([
  // The end of the input instead of a base URL.
  ['', ['stdin', 'stderr'], 3, 'fxrates: no base URL'],
  ['', ['stdin', 'stderr'], 3, 'Store it:    fxrates auth login --base-url https://…'],
  ['--no-input', ['stdin', 'stderr'], 3, 'fxrates: no base URL'],
  ['--profile new', [], 3, 'Store it:    fxrates auth login --base-url https://… --profile new\n'],
  ['', [], 3, 'fxrates: no base URL'],
  [`--base-url ${ORIGIN}`, [], 2, 'From a file:  --key-stdin < key.txt'],
  [`--base-url ${ORIGIN}`, ['stdin'], 2, 'no key to store — a prompt needs a terminal as stdin and stderr'],
  [`--base-url ${ORIGIN} --no-input`, ['stdin', 'stderr'], 2, 'FXRATES_NO_INPUT'],
] as const)('with %j and terminals %j it asks for no key', async (option, tty, expected, says) => {
  const { code, stderr } = await run(`auth login ${option}`, { tty });

  expect(code).toBe(expected);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain('API key for');
});

test.each([
  ['FXRATES_API_KEY', API_KEY],
  ['FXRATES_API_KEY_FILE', '/run/secrets/fxrates'],
])('login warns if the variable %s overrides the stored key', async (name, value) => {
  const stderr = expect.stringContaining(`${name} overrides the stored key`);

  expect(await login({ env: { [name]: value } })).toMatchObject({ code: 0, stderr });
});

test('the stored key is sent only to its own origin', async () => {
  await login();

  for (const other of ['https://api.example.test:8443', 'https://evil.test', 'http://127.0.0.1:9']) {
    const { code, stderr, requests } = await run(`quota --base-url ${other}`);

    expect(code).toBe(4);
    expect(stderr).toContain(`refusing to send the stored key to ${other} — it belongs to ${ORIGIN}`);
    expect(requests).toEqual([]);
  }
  expect((await run(`quota --base-url ${ORIGIN}/gateway`)).code).toBe(0);
});

test('profiles keep their own base URL and key', async () => {
  await login();
  const other = `fx_live_${'0'.repeat(44)}beef`;
  await run('auth login --key-stdin --profile mock --base-url http://127.0.0.1:4010', { stdin: other });

  const byFlag = await run('latest --profile mock');
  const byVariable = await run('latest', { env: { FXRATES_PROFILE: 'mock' } });
  await run('config set profile mock');
  const byConfig = await run('latest');

  for (const { requests } of [byFlag, byVariable, byConfig]) {
    expect(requests[0]).toMatchObject({
      url: 'http://127.0.0.1:4010/api/v1/latest',
      headers: { authorization: `Bearer ${other}` },
    });
  }
  expect((await run('latest --profile default')).requests[0]?.url).toContain(ORIGIN);
});

test.each(['constructor', 'toString'])('accepts the profile name %s', async (profile) => {
  expect((await run(`latest --profile ${profile}`)).code).toBe(3);
  await login({}, `--profile ${profile}`);
  expect((await run(`latest --profile ${profile}`)).code).toBe(0);
});

test.each(['__proto__', '../x', '', 'a b'])("rejects the profile name '%s'", async (profile) => {
  await usageError(['quota', '--profile', profile]);
});

test('status shows each value in use, its source, and the values that it overrides', async () => {
  await login();

  const { code, stdout } = await run('auth status', { env: { FXRATES_API_KEY: API_KEY } });

  expect(code).toBe(0);
  const oneLine = stdout.replace(/\s+/g, ' ');
  expect(oneLine).toContain('ok key fx_live_…cdef (from FXRATES_API_KEY; overrides profile default in ');
  expect(oneLine).toContain('ok service accepts the key');
  expect(stdout).toContain('plan free, 742 of 1,000 used');
});

test('status as JSON, with a key that the service refuses', async () => {
  const { code, stdout } = await run('auth status --json', {
    env: { FXRATES_API_KEY: API_KEY, FXRATES_BASE_URL: ORIGIN },
    replies: failure(401, { code: 'unauthorized' }),
  });

  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toMatchObject({
    summary: { ok: 2, fail: 1 },
    checks: expect.arrayContaining([
      { name: 'base URL', status: 'ok', text: `${ORIGIN} (from FXRATES_BASE_URL)`, next: [] },
      { name: 'key', status: 'ok', text: 'fx_live_…cdef (from FXRATES_API_KEY)', next: [] },
      expect.objectContaining({ name: 'service', status: 'fail' }),
    ]),
  });
});

test.each([
  ['api.example.test', 'FXRATES_BASE_URL expects an http or https URL'],
  ['localhost:4010', 'FXRATES_BASE_URL expects an http or https URL'],
  [`${ORIGIN}?a=1`, 'FXRATES_BASE_URL contains a query or a fragment'],
])('with a stored key and the base URL %s, status, token and doctor name the problem', async (url, says) => {
  await login();
  const env = { FXRATES_BASE_URL: url };

  const token = await run('auth token', { env });
  const status = await run('auth status --json', { env });
  const doctor = await run('doctor --json', { env });

  expect([token.code, token.stdout, status.code, doctor.code]).toEqual([2, '', 2, 0]);
  expect(token.stderr).toContain(says);
  const key = { name: 'key', status: 'skip', text: 'not checked: the stored key needs a valid base URL', next: [] };
  for (const { stdout } of [status, doctor]) {
    expect(stdout).toContain(`"name":"base URL","status":"fail","text":"${says}`);
    expect(JSON.parse(stdout).checks).toContainEqual(key);
  }
});

test.each(['', ' --no-verify'])('status%s refuses a stored key of another origin and sends nothing', async (option) => {
  await login();

  const { code, stdout, requests } = await run(`auth status${option} --base-url https://other.test`);

  expect({ code, requests }).toEqual({ code: 4, requests: [] });
  expect(stdout).toContain('https://other.test (from --base-url)');
  expect(stdout).toMatch(/fail\s+key\s+refusing to send the stored key/);
});

test('logout removes the key of its profile, twice without failing', async () => {
  await login();
  await login({}, '--profile other');

  const first = await run('auth logout');
  const second = await run('auth logout');
  await run('config unset base_url --profile other');
  const other = await run('auth logout --profile other');

  expect([first.code, second.code, other.code]).toEqual([0, 0, 0]);
  expect(first.stderr).toContain('key of profile default removed');
  expect(first.stderr).toContain(`base URL is still stored in ${join(folder, 'config.json')}\n`);
  expect(second.stderr).toBe('fxrates: no key is stored for profile default\n');
  expect(other.stderr).not.toContain('base URL');
  expect((await read('config.json')).profiles.default.base_url).toBe(ORIGIN);
  expect((await read('credentials.json')).keys).toEqual({});
  expect((await run('quota')).code).toBe(4);
});

test.each([STORED, { origin: ORIGIN }, null])('a stored entry like %j is named, and can be replaced', async (entry) => {
  const store = () => writeFile(join(folder, 'credentials.json'), JSON.stringify({ keys: { default: entry } }));
  await store();

  const { code, stderr } = await run('quota', { env: { FXRATES_BASE_URL: ORIGIN } });
  const logout = await run('auth logout');
  await store();

  expect(code).toBe(3);
  expect(stderr).toContain('the entry of profile default is not an object with the texts origin and api_key\n');
  expect(stderr).toContain('  Store the key again:  fxrates auth login\n');
  expect(stderr).not.toContain(STORED);
  expect(logout.stderr).toContain('key of profile default removed');
  expect((await login()).code).toBe(0);
  expect((await run('quota')).code).toBe(0);
});

test('token prints the key to a pipe, and to a terminal with --show', async () => {
  await login();

  expect((await run('auth token')).stdout).toBe(`${STORED}\n`);
  expect(await run('auth token', { tty: ['stdout'] })).toMatchObject({ code: 2, stdout: '' });
  expect((await run('auth token --show', { tty: ['stdout'] })).stdout).toBe(`${STORED}\n`);
});

test('unknown fields of the files are kept', async () => {
  await writeFile(join(folder, 'credentials.json'), '{"version":1,"later":[1],"keys":{"other":{"x":1}}}');
  await writeFile(join(folder, 'config.json'), '{"version":1,"later":2,"profiles":{"default":{"y":3}}}');

  await login();

  expect(await read('credentials.json')).toMatchObject({ later: [1], keys: { other: { x: 1 }, default: {} } });
  expect(await read('config.json')).toMatchObject({ later: 2, profiles: { default: { y: 3, base_url: ORIGIN } } });
});

test.each([
  ['{"version":1,\n "keys":}', 'it is not valid JSON'],
  ['[]', 'it does not contain a JSON object'],
  ['{"version":2}', 'it has version 2; this release of fxrates reads version 1'],
  ['{"version":{"toString":1}}', 'it has version {"toString":1}; this release'],
  [' ', 'it is not valid JSON'],
])('a credentials file with %j is neither used nor overwritten', async (text, why) => {
  const path = join(folder, 'credentials.json');
  await writeFile(path, text);

  for (const result of [await login(), await run(`quota --base-url ${ORIGIN}`)]) {
    expect(result.code).toBe(3);
    expect(result.stderr).toContain(`cannot use ${path}`);
    expect(result.stderr).toContain(why);
  }
  expect(await readFile(path, 'utf8')).toBe(text);
  expect((await run(`quota --base-url ${ORIGIN}`, { env: { FXRATES_API_KEY: API_KEY } })).code).toBe(0);
});
