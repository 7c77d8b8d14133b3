import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { quoteForShell } from '../../../../src/cli/terminal/text.ts';
import { type FakeIoOptions, runCli } from '../../../helpers/cli-io.ts';
import { API_KEY, failedFetch, failure, quotaRecord, rateLimited, success } from '../../../helpers/service-replies.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

interface Check {
  readonly name: string;
  readonly status: string;
  readonly text: string;
  readonly next: readonly string[];
}

async function doctor({ env, ...options }: FakeIoOptions = {}, args = '') {
  const { code, stdout, stderr, requests } = await runCli(`doctor --json ${args}`, {
    replies: success(quotaRecord()),
    ...options,
    env: { FXRATES_CONFIG_DIR: folder, ...env },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { summary, checks } = JSON.parse(stdout) as { summary: object; checks: Check[] };
  const check = (name: string) => checks.find((candidate) => candidate.name === name)!;
  const statuses = checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name} ${status}`);
  return { summary, check, statuses, requests, stdout };
}

test('all checks pass with one free request', async () => {
  const { summary, statuses, requests, stdout } = await doctor();

  expect(statuses).toEqual(['clock skip']); // this service sends no Date
  expect(summary).toEqual({ ok: 8, warn: 0, fail: 0, skip: 1 });
  expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(['/api/v1/quota']);
  expect(stdout).not.toContain(API_KEY);
});

test('on a terminal and with -o table, prints a table', async () => {
  const options = { replies: failure(401), env: { FXRATES_CONFIG_DIR: folder, FXRATES_API_KEY_FILE: '/x' } };
  const { stdout } = await runCli('doctor -o table', options);
  const coloured = await runCli('doctor', { ...options, tty: ['stdout'] });

  expect(stdout).toMatch(/^ok {4}base URL {5}https:\/\/api.example.test \(from FXRATES_BASE_URL\)$/m);
  expect(stdout).toMatch(/^fail {2}service/m);
  expect(stdout).toContain('takes precedence over FXRATES_API_KEY_FILE /x.');
  expect(coloured.stdout).toContain('\u001b[31mfail  \u001b[39m');
});

test.each([
  ['an expired certificate', failedFetch('CERT_HAS_EXPIRED'), 'service fail', 'the certificate has expired'],
  ['an unknown failure', failedFetch('SOMETHING_NEW'), 'service fail', 'SOMETHING_NEW'],
  ['a refused key', failure(401), 'service fail', 'refused the key'],
  ['a server error', failure(500), 'service fail', 'HTTP 500'],
  ['a rate limit', rateLimited('30'), 'service warn', /^rate limited, retry in 30 s$/],
  ['a page that is not the service', { body: '<html>' }, 'service fail', 'the body starts with: <html>'],
])('%s is a result, without a second request', async (_, replies, status, says) => {
  const { statuses, check, requests } = await doctor({ replies });

  expect(statuses.filter((shown) => !shown.startsWith('clock'))).toEqual([status]);
  expect(check('service').text).toMatch(says);
  expect(requests).toHaveLength(1);
});

test('-v shows the request', async () => {
  const { stderr } = await runCli('doctor -v', {
    replies: success(quotaRecord()),
    env: { FXRATES_CONFIG_DIR: folder },
  });

  expect(stderr).toMatch(/^> GET https:\/\/api\.example\.test\/api\/v1\/quota\n< 200 in \d+ ms\n$/);
});

test('the next step for a refused key is another key, not doctor again', async () => {
  const stored = { version: 1, keys: { work: { origin: 'https://api.example.test', api_key: API_KEY } } };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify(stored), { mode: 0o600 });

  const ofVariable = await doctor({ replies: failure(401) });
  const ofFile = await doctor({ replies: failure(401), env: { FXRATES_API_KEY: '' } }, '--profile work');

  expect(ofVariable.check('service').next).toEqual(['Pass another key with FXRATES_API_KEY']);
  expect(ofFile.check('service').next).toEqual(['Store another key:  fxrates auth login --profile work']);
});

/** The Date of a service whose clock is so many milliseconds ahead. */
const dateOf = (skewMs: number) => new Date(Date.UTC(2026, 0, 21, 14, 20) + skewMs).toUTCString();

const quota = (changes: object, headers = {}) => ({ ...success(quotaRecord(changes)), headers });

test.each([
  ['clock', quota({}, { date: dateOf(0) }), 'ok', 'differs by less'],
  ['clock', quota({}, { date: dateOf(-29_000) }), 'ok', 'differs by less'],
  ['clock', quota({}, { date: dateOf(120_000) }), 'warn', '2 min behind that of the service'],
  ['clock', quota({}, { date: dateOf(-3_600_000) }), 'warn', '1 h ahead of that of the service'],
  ['clock', quota({}, { date: 'Fri, 99 Zzz 2026' }), 'skip', 'the service sends no valid Date header'],
  ['quota', quota({ monthly_used: 799 }), 'ok', '799 of 1,000'],
  ['quota', quota({ monthly_used: 800 }), 'warn', '800 of 1,000'],
  ['quota', quota({ monthly_limit: null }), 'ok', '742 used'],
])('the %s after the response %j is %s', async (name, replies, status, says) => {
  const { check } = await doctor({ replies });

  expect(check(name)).toMatchObject({ status, text: expect.stringContaining(says) });
});

test('reports missing settings and sends nothing', async () => {
  const { statuses, check, requests } = await doctor({ env: { FXRATES_BASE_URL: '', FXRATES_API_KEY: '' } });

  expect(statuses).toEqual(['base URL fail', 'key fail', 'service skip']);
  expect(check('base URL').next.join('\n')).toContain('fxrates mock');
  expect(requests).toEqual([]);
});

test('a key of another form is a warning, and is not shown', async () => {
  const key = 'something-else-entirely-0123456789';
  const { check, stdout } = await doctor({ env: { FXRATES_API_KEY: key } }, '-q');

  expect(check('key')).toMatchObject({ status: 'warn', text: expect.stringContaining('documented form') });
  expect(stdout).not.toContain(key);
});

test.each([
  ['{"timeout": ', 'it is not valid JSON'],
  ['{"timeout": "soon"}', 'timeout in'],
  ['{"profiles": {"work": {"base_url": "ftp://x"}}}', 'profile work expects an http or https URL'],
])('an invalid config.json, %s, is a finding, and the other checks run', async (text, says) => {
  await writeFile(join(folder, 'config.json'), text, { mode: 0o600 });

  const { check } = await doctor();

  expect(check('config file')).toMatchObject({ status: 'fail', text: expect.stringContaining(says) });
  expect(check('service').status).toBe('ok');
});

test('files in a folder that cannot be opened are not reported as missing', async () => {
  const path = join(folder, 'loop');
  await symlink(path, path); // fails with ELOOP for root, too, whom the mode of a folder does not stop

  const { check } = await doctor({ env: { FXRATES_CONFIG_DIR: path } }, '--offline');

  const failed = (file: string) => ({
    status: 'fail',
    text: expect.stringContaining(`cannot read ${join(path, file)}`),
  });
  expect(check('config file')).toMatchObject(failed('config.json'));
  expect(check('credentials')).toMatchObject(failed('credentials.json'));
});

test.skipIf(process.platform === 'win32')('files that others can read cause a warning with a command', async () => {
  folder = join(folder, "a user's files"); // the command has to be quoted, and changes no other mode
  await mkdir(folder);
  for (const name of ['config.json', 'credentials.json']) {
    await writeFile(join(folder, name), '{}');
    await chmod(join(folder, name), 0o644);
  }

  const { check, requests } = await doctor({}, '--offline');

  expect(requests).toEqual([]);
  expect(check('service')).toBeUndefined();
  expect(check('config file')).toMatchObject({ status: 'warn', text: expect.stringContaining('(mode 0644)') });
  expect(check('config file').next).toEqual([`chmod 600 ${quoteForShell(join(folder, 'config.json'))}`]);
  expect(check('credentials').text).toContain('(mode 0600)'); // corrected, as by each command that reads a key
  expect((await stat(join(folder, 'config.json'))).mode & 0o777).toBe(0o644);
});

test.each([
  ['api.example.test', 'none: NO_PROXY lists api.example.test'],
  ['', 'HTTPS_PROXY: proxy.test:3128'],
])('with NO_PROXY=%s the proxy is %s, without its password', async (noProxy, text) => {
  const env = { HTTPS_PROXY: 'http://user:secret@proxy.test:3128', NO_PROXY: noProxy };

  const { check, stdout } = await doctor({ env }, '--offline');

  expect(check('proxy')).toMatchObject({ status: 'ok', text });
  expect(stdout).not.toContain('secret');
});

test.each([
  ['doctor --strict', success(quotaRecord()), 0],
  ['doctor --strict', failure(401), 1],
  ['doctor --strict --json', failure(401), 1],
  ['doctor --strict', rateLimited('5'), 0],
  ['doctor', failure(401), 0],
] as const)('%s with the response %j exits with %d, after its report', async (line, replies, expected) => {
  const { code, stdout } = await runCli(line, { replies, env: { FXRATES_CONFIG_DIR: folder } });

  expect(code).toBe(expected);
  expect(stdout).toContain('config file');
});

test.each([
  ['a key with a line break', { env: { FXRATES_API_KEY: 'a key\nof two lines' } }, ['key fail', 'service skip']],
  ['an unknown profile', { env: { FXRATES_PROFILE: 'work' } }, ['profile fail', 'clock skip']],
  ['a proxy that is none', { env: { HTTPS_PROXY: 'proxy.test' } }, ['proxy fail', 'service skip']],
  ['a server error', { replies: failure(500) }, ['service fail', 'clock skip']],
  ['a record that is no quota', { replies: success({ plan: 1 }) }, ['service fail', 'clock skip']],
  ['cron without HOME', { env: { FXRATES_CONFIG_DIR: '' } }, ['config file warn', 'credentials warn', 'clock skip']],
] as const)('%s has a next step', async (_, options, expected) => {
  const { statuses, check } = await doctor(options);

  expect(statuses).toEqual(expected);
  expect(check(expected[0].replace(/ \w+$/, '')).next).not.toEqual([]);
});
