import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  durationOption,
  durationOptionAbove,
  formatDuration,
  parseDuration,
} from '../../../src/cli/settings/values.ts';
import { runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY, quotaRecord, success } from '../../helpers/service-replies.ts';
import { fileOf, temporaryFolder } from '../../helpers/temporary-folder.ts';

test.each([
  ['latest --timeout 30', '--timeout expects a duration'],
  ['latest --timeout 0', '--timeout expects a time above 0'],
  ['latest --retries two', '--retries expects a whole number from 0 to 99'],
  ['latest --retries -1', '--retries expects a whole number from 0 to 99'],
  ['latest --max-wait soon', '--max-wait expects a duration'],
  ['latest -o xml', '--output expects one of auto, table, json, csv, tsv'],
  ['-o xml', '--output expects one of auto, table, json, csv, tsv'],
  ['latest --color sometimes', '--color expects one of auto, always, never'],
  ['latest --json -o tsv', "option '--json' cannot be used with option '-o, --output <format>'"],
  ['latest --key-stdin --key-file k', "option '--key-stdin' cannot be used with option '--key-file <file>'"],
  ['--no-wait latest --max-wait 5s', "option '--no-wait' cannot be used with option '--max-wait <duration>'"],
  ['latest --get=', '--get expects a path'],
  ['latest --cache 0', '--cache expects a time above 0 or snapshot'],
  ['latest --cache 5x', '--cache expects a duration'],
  ['latest --cache snapsht', "--cache expects a time above 0 or snapshot, got 'snapsht'"],
])('%s is refused before anything is sent', async (line, message) => {
  expect(await usageError(line)).toContain(message);
});

test.each([
  ['FXRATES_TIMEOUT', '30', "FXRATES_TIMEOUT expects a duration, got '30'"],
  ['FXRATES_RETRIES', 'x', "FXRATES_RETRIES expects a whole number from 0 to 99, got 'x'"],
  ['FXRATES_MAX_WAIT', '1', "FXRATES_MAX_WAIT expects a duration, got '1'"],
  ['FXRATES_OUTPUT', 'xml', "FXRATES_OUTPUT expects one of auto, table, json, csv, tsv, got 'xml'"],
  ['FXRATES_BASE_URL', `https://x.test/${API_KEY}`, 'FXRATES_BASE_URL contains a key — URLs end up in logs'],
  ['FXRATES_BASE_URL', 'ftp://x', "FXRATES_BASE_URL expects an http or https URL, got 'ftp://x'"],
  ['FXRATES_SHARE_LIMIT', 'maybe', "FXRATES_SHARE_LIMIT expects one of on, off, got 'maybe'"],
])('an invalid %s is reported with its name', async (name, value, message) => {
  expect(await usageError('latest', { env: { [name]: value } })).toContain(message);
});

test.each(['latest --retries x', 'latest --count x', 'latest --count 1', '--curl config path'])(
  'a mistake in %s is reported before one in a variable',
  async (line) => {
    expect(await usageError(line, { env: { FXRATES_TIMEOUT: '30' } })).not.toContain('FXRATES_TIMEOUT');
  },
);

test('an option overrides its variable, and an empty variable counts as not set', async () => {
  const env = { FXRATES_OUTPUT: 'tsv', FXRATES_TIMEOUT: '', FXRATES_RETRIES: '' };

  expect((await runCli('latest', { env })).stdout).toBe('base\tUSD\nrates.EUR\t0.92\n');
  expect((await runCli('latest --json', { env })).stdout).toBe('{"base":"USD","rates":{"EUR":0.92}}\n');
});

test('an option that is typed before and after the command counts twice if it is repeatable', async () => {
  const { stdout } = await runCli('--get base latest --get rates.EUR');
  const { stderr } = await runCli('-v latest -v');

  expect(stdout).toBe('USD\t0.92\n');
  expect(stderr).toContain('> accept: ');
});

test.each([
  ['1', /> GET https:\/\/api\.example\.test\/api\/v1\/latest\n< 404/],
  ['true', /> GET https:\/\/api\.example\.test\/api\/v1\/latest\n< 404/],
  ['2', /> accept: .*\n +at /s], // -vv, with the stack of an error
])('FXRATES_DEBUG=%s is -v so many times', async (value, expected) => {
  const { stderr } = await runCli('latest', { env: { FXRATES_DEBUG: value }, replies: { status: 404 } });

  expect(stderr).toMatch(expected);
});

test('without a base URL, shows how to set one and exits with 3', async () => {
  const { code, stderr, stdout } = await runCli('quota', { env: { FXRATES_BASE_URL: undefined } });

  expect(code).toBe(3);
  expect(stdout).toBe('');
  expect(stderr).toBe(`fxrates: no base URL — the host of the service is not documented, so there is no default

  Set it:      export FXRATES_BASE_URL=https://…   or   --base-url https://…
  Store it:    fxrates auth login --base-url https://…
  No account?  fxrates mock   (a local server with invented rates)
`);
});

test.each([
  ['not a url', '--base-url expects an http or https URL'],
  ['localhost:4010', 'e.g. http://localhost:4010\n'],
  ['api.example.test', 'e.g. https://api.example.test\n'],
  ['https//api.example.test', 'e.g. https://api.example.test\n'],
  ['http//localhost:4010', 'e.g. http://localhost:4010\n'],
  ['htps://api.example.test/x', 'e.g. https://api.example.test/x\n'],
  ['//api.example.test', 'e.g. https://api.example.test\n'],
  ['ftp://example.test', '--base-url expects an http or https URL'],
  ['ftp://user:pw@example.test', "got 'ftp://***@example.test'"],
  ['user:pw@example.test', "got '***@example.test'"],
  ['https://user:pw@example.test', 'contains a user name or a password'],
  ['https://example.test?x=1', 'contains a query or a fragment'],
  ['https://example.test/api/v1', 'ends with /api/v1'],
  ['https://example.test/api/v2/', '--base-url https://example.test\n'],
  ['https://example.test/x/api/v1/latest', '--base-url https://example.test/x\n'],
  ['http://example.test', 'refusing to send the key to http://example.test'],
  ['http://10.0.0.5', 'refusing to send the key to http://10.0.0.5'],
  ['http://127.0.0.1.example.test', 'refusing to send the key to http://127.0.0.1.example.test'],
])('%s is refused', async (url, message) => {
  expect(await usageError(['quota', '--base-url', url])).toContain(message);
});

test.each(['http://127.0.0.1:4010', 'http://localhost:4010/', 'http://[::1]:4010', 'https://example.test/base/'])(
  '%s is accepted',
  async (url) => {
    const { code, requests } = await runCli(['latest', '--base-url', url]);

    expect(code).toBe(0);
    expect(requests[0]?.url).toBe(`${url.replace(/\/$/, '')}/api/v1/latest`);
  },
);

test.each([
  ['1', 0],
  ['on', 0],
  ['True', 0],
  ['0', 2],
  ['off', 2],
  ['false', 2],
  ['no', 2],
  ['', 2],
])('FXRATES_INSECURE_HTTP=%s ends a call of http://mock:4010 with %d', async (value, expected) => {
  const env = { FXRATES_INSECURE_HTTP: value, FXRATES_BASE_URL: 'http://mock:4010' };

  expect((await runCli('latest', { env })).code).toBe(expected);
});

test.each(['FXRATES_INSECURE_HTTP', 'FXRATES_NO_INPUT', 'FXRATES_DEBUG'])('%s accepts no other text', async (name) => {
  const stderr = await usageError('latest', { env: { [name]: 'no' } });

  expect(stderr).toContain(`${name} expects 1, true, on, 0, false or off, got 'no'`);
});

test.each([
  ['completion bash', 0],
  ['help latest', 0],
  ['config path', 0],
  ['quota', 2],
  ['auth status', 2],
])('invalid variables end %s with %d: only a command that uses one fails', async (line, expected) => {
  const env = { FXRATES_TIMEOUT: 'x', FXRATES_OUTPUT: 'x', FXRATES_INSECURE_HTTP: 'x', FXRATES_SHARE_LIMIT: 'x' };

  expect((await runCli(line, { env: { HOME: temporaryFolder(), ...env } })).code).toBe(expected);
});

test.each(['.', 'a..b', '..a', 'a.'])('--get %s, with an empty name, is refused before a request', async (path) => {
  expect(await usageError(['latest', '--get', path])).toContain(`A name with dots:  --get /${path}\n`);
});

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['1h30m', 5_400_000],
  ['1m0.5s', 60_500],
  ['2h', 7_200_000],
  ['0', 0],
  ['0s', 0],
])("'%s' is %d ms", (text, ms) => {
  expect(parseDuration(text, '--timeout')).toBe(ms);
});

test.each(['30', '', ' 30s', '30 s', '-1s', '1e3s', '1d', 's', '0x10s', 'inf', '1h30', '1h 30m', '9999999999h'])(
  "'%s' is not a duration",
  (text) => {
    expect(() => parseDuration(text, '--timeout')).toThrow(`--timeout expects a duration, got '${text}'`);
  },
);

test.each([
  [0, '0 s'],
  [1, '0.1 s'],
  [380, '0.4 s'],
  [999, '1 s'],
  [1001, '2 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [95_000, '1 min 35 s'],
  [3_600_000, '1 h'],
  [3_660_000, '1 h 1 min'],
  [86_399_500, '1 day'],
  [86_400_000, '1 day'],
  [86_460_000, '1 day 1 min'],
  [86_400_000 + 3_601_000, '1 day 2 h'],
  [10 * 86_400_000 + 9 * 3_600_000, '10 days 9 h'],
])('%d ms read as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [1, '1s'],
  [119_000, '119s'],
  [119_001, '2m'],
  [121_000, '3m'],
  [86_400_000 + 1_100, '25h'],
])('%d ms as an option value are %s: never too short', (ms, text) => {
  expect(durationOptionAbove(ms)).toBe(text);
});

test.each([
  [300, '300ms'],
  [1_500, '1500ms'],
  [30_000, '30s'],
  [90_000, '90s'],
  [120_000, '2m'],
  [121_000, '121s'],
  [7_200_000, '2h'],
])('%d ms as an option value are exactly %s', (ms, text) => {
  expect(durationOption(ms)).toBe(text);
  expect(parseDuration(text, '--timeout')).toBe(ms);
});

test.each([
  ['quota --profile work', {}, 'FXRATES_BASE_URL and FXRATES_API_KEY override profile work'],
  ['--profile=work latest', { FXRATES_API_KEY: '' }, 'FXRATES_BASE_URL overrides profile work'],
  ['quota --profile work --key-file KEY', {}, 'FXRATES_BASE_URL overrides profile work'],
  ['quota --profile work --base-url https://b.test', {}, 'FXRATES_API_KEY overrides profile work'],
  ['quota --profile work -q', {}, undefined],
  ['quota', { FXRATES_PROFILE: 'work' }, undefined],
  ['quota --profile other', {}, undefined], // it stores neither
  ['config get base_url --profile work', {}, undefined],
])('%s with %j says which variables override a typed profile: %s', async (line, env, says) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), '{"profiles":{"work":{"base_url":"https://w.test"},"other":{}}}');
  const keys = { work: { origin: 'https://api.example.test', api_key: API_KEY } };
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify({ keys }), { mode: 0o600 });
  const options = { env: { FXRATES_CONFIG_DIR: folder, ...env }, replies: success(quotaRecord()) };

  const { code, stderr } = await runCli(line.replace('KEY', fileOf('key', API_KEY)), options);

  expect(code).toBe(0);
  expect(stderr).toBe(says === undefined ? '' : `fxrates: ${says}\n`);
});
