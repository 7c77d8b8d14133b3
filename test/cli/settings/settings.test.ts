import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';

test.each([
  ['latest --timeout 30', '--timeout expects a duration'],
  ['latest --timeout 0', '--timeout expects a time above 0'],
  ['latest --timeout inf', '--timeout expects a time above 0'],
  ['latest --retries two', '--retries expects a whole number from 0 to 99'],
  ['latest --retries -1', '--retries expects a whole number from 0 to 99'],
  ['latest --max-wait soon', '--max-wait expects a duration'],
  ['latest -o xml', '--output expects one of auto, table, json, compact, csv, tsv, raw'],
  ['-o xml', '--output expects one of auto, table, json, compact, csv, tsv, raw'],
  ['latest --color sometimes', '--color expects one of auto, always, never'],
  ['latest --json -o tsv', '--json and --output tsv cannot be used together'],
  ['latest --key-stdin --key-file k', '--key-stdin and --key-file cannot be used together'],
  ['latest --no-wait --max-wait 5s', '--no-wait and --max-wait cannot be used together'],
  ['latest -o raw --get a', '--get and --output raw cannot be used together'],
  ['latest --get=', '--get expects a path'],
])('%s is refused before anything is sent', async (line, message) => {
  const { code, stdout, stderr, requests } = await runCli(line);

  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stdout).toBe('');
  expect(requests).toEqual([]);
});

test.each([
  ['FXRATES_TIMEOUT', '30', "FXRATES_TIMEOUT expects a duration, got '30'"],
  ['FXRATES_RETRIES', 'x', "FXRATES_RETRIES expects a whole number from 0 to 99, got 'x'"],
  ['FXRATES_MAX_WAIT', '1', "FXRATES_MAX_WAIT expects a duration, got '1'"],
  ['FXRATES_OUTPUT', 'xml', "FXRATES_OUTPUT expects one of auto, table, json, compact, csv, tsv, raw, got 'xml'"],
  ['FXRATES_BASE_URL', 'ftp://x', "FXRATES_BASE_URL expects an http or https URL, got 'ftp://x'"],
])('an invalid %s is reported with its name', async (name, value, message) => {
  const { code, stderr } = await runCli('latest', { env: { [name]: value } });

  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('an option overrides its variable, and an empty variable counts as not set', async () => {
  const env = { FXRATES_OUTPUT: 'tsv', FXRATES_TIMEOUT: '', FXRATES_RETRIES: '' };

  expect((await runCli('latest', { env })).stdout).toBe('base\tUSD\nrates.EUR\t0.92\n');
  expect((await runCli('latest --json', { env })).stdout).toBe('{"base":"USD","rates":{"EUR":0.92}}\n');
});

test.each(['latest --get rates.EUR', 'quota --get plan'])(
  '%s selects a value also with FXRATES_OUTPUT=raw',
  async (line) => {
    const quota = success(quotaRecord());

    const { code, stdout } = await runCli(line, { quota, env: { FXRATES_OUTPUT: 'raw' } });

    expect({ code, stdout }).toEqual({ code: 0, stdout: line.startsWith('latest') ? '0.92\n' : 'free\n' });
  },
);

test('global options are accepted before and after the command', async () => {
  const before = await runCli('--base-url https://other.example.test -o compact latest');
  const after = await runCli('latest -o compact --base-url https://other.example.test');

  expect(before.stdout).toBe(after.stdout);
  expect(before.requests[0]?.url).toBe('https://other.example.test/api/v1/latest');
  expect(after.requests[0]?.url).toBe('https://other.example.test/api/v1/latest');
});

test('an option that is typed before and after the command counts twice if it is repeatable', async () => {
  const { stdout } = await runCli('--get base latest --get rates.EUR');
  const { stderr } = await runCli('-v latest -v');

  expect(stdout).toBe('USD\t0.92\n');
  expect(stderr).toContain('> accept: ');
});

test('--retries is the number of further attempts', async () => {
  const { code, requests } = await runCli('latest --retries 1', { replies: { status: 503 } });

  expect(code).toBe(5);
  expect(requests).toHaveLength(2);
});

test('FXRATES_MAX_WAIT has the effect of --max-wait', async () => {
  const replies = [rateLimited('5'), success()];

  expect((await runCli('latest', { replies, env: { FXRATES_MAX_WAIT: '3s' } })).code).toBe(7);
  expect((await runCli('latest', { replies, env: { FXRATES_MAX_WAIT: '6s' } })).code).toBe(0);
});

test('FXRATES_DEBUG=2 is -vv, and shows the stack of an error', async () => {
  const { stderr } = await runCli('latest', { env: { FXRATES_DEBUG: '2' }, replies: { status: 404 } });

  expect(stderr).toContain('> accept: ');
  expect(stderr).toMatch(/\n +at /);
});

test.each(['1', 'true'])('FXRATES_DEBUG=%s is -v', async (value) => {
  const { stderr } = await runCli('latest', { env: { FXRATES_DEBUG: value } });

  expect(stderr).toContain('> GET https://api.example.test/api/v1/latest');
});
