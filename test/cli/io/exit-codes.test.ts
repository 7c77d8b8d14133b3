import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exitCodes, signalExitCodes } from '../../../src/cli/io/exit-codes.ts';
import { type FakeIoOptions, jsonLines, runCli } from '../../helpers/cli-io.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, exhaustedQuota, failedFetch, failure, rateLimited, success } from '../../helpers/service-replies.ts';

type Row = [name: string, options: FakeIoOptions, exitCode: number, code: string, says: string, line?: string];

const reply = (replies: NonNullable<FakeIoOptions['replies']>, quota?: Reply): FakeIoOptions =>
  quota === undefined ? { replies } : { replies, quota };
const usedUp = success(exhaustedQuota());
const found = { status: 302, headers: { location: 'https://evil.example/' }, body: '' };
const BROKEN_CLOCK = {
  now: () => {
    throw new Error('boom');
  },
  sleep: async () => undefined,
};
const tooLong = 'x'.repeat(10 * 2 ** 20 + 1);

const ROWS: readonly Row[] = [
  ['a usage error', {}, 2, 'usage', "'USD' is not a parameter", 'latest USD'],
  ['no base URL', { env: { FXRATES_BASE_URL: '' } }, 3, 'no_base_url', 'no base URL'],
  ['a missing key file', {}, 3, 'unusable_key', 'key file /no — the file does not exist\n', 'latest --key-file /no'],
  ['no key', { env: { FXRATES_API_KEY: '' } }, 4, 'no_key', 'No account?  fxrates mock'],
  ['401', reply(failure(401)), 4, 'authentication', 'refused the key fx_live_…cdef'],
  ['403', reply(failure(403), success()), 4, 'authentication', '(HTTP 403'],
  ['500 after the retries', reply(failure(500)), 5, 'server', 'after 3 attempts'],
  ['501', reply(failure(501)), 5, 'server', '(HTTP 501'],
  ['an HTML 502', reply({ status: 502, body: '<h1>Bad gateway</h1>' }), 5, 'server', '(HTTP 502)'],
  [
    'a refused connection',
    reply(failedFetch('ECONNREFUSED')),
    6,
    'network',
    'test — ECONNREFUSED; no server listens on that port, after 3 attempts\n',
  ],
  [
    'no response',
    reply('never'),
    6,
    'timeout',
    'no complete response from api.example.test within 30s — after 3 attempts\n',
  ],
  ['a body that stalls', reply('stalled body'), 6, 'timeout', 'no complete response'],
  ['a rate limit', reply(rateLimited('12')), 7, 'rate_limited', 'retry in 12 s', 'latest --no-wait'],
  ['a long Retry-After', reply(rateLimited('905')), 7, 'rate_limited', '15 min 5 s, longer than --max-wait 10m'],
  ['a used-up quota', reply(failure(429, { code: 'quota_exceeded' }), usedUp), 8, 'quota_exhausted', 'quota'],
  ['a used-up quota as 403', reply(failure(403), usedUp), 8, 'quota_exhausted', 'quota'],
  ['404', reply(failure(404, { code: 'not_found' })), 9, 'request', '(HTTP 404, not_found)'],
  ['422', reply(failure(422, { message: 'Unknown base XYZ.' })), 9, 'request', 'Unknown base XYZ.'],
  ['HTML with 200', reply({ body: '<html>hi</html>' }), 10, 'response', 'the body starts with: <html>hi</html>'],
  ['truncated JSON', reply({ body: '{"success":true,"data":' }), 10, 'response', 'starts with: {"success":true'],
  ['no envelope', reply({ body: '[1]' }), 10, 'response', 'the body starts with: [1]'],
  ['a long body', reply({ body: tooLong }), 10, 'response', 'longer than 10485760 bytes (HTTP 200)\n'],
  ['an empty body', reply({ body: '' }), 10, 'response', 'the body is empty'],
  ['a redirect', reply(found), 10, 'response', 'not followed'],
  ['invalid UTF-8', reply(() => new Response(new Uint8Array([0x7b, 0xff]))), 10, 'response', 'UTF-8'],
  ['an internal error', { clock: BROKEN_CLOCK }, 1, 'internal', 'unexpected failure — boom'],
  ['a missing --get path', {}, 10, 'missing_value', "the response has no 'nope'", 'latest --get nope'],
];

test.each(ROWS)('%s exits with its code, in each format', async (_, options, exitCode, word, says, line = 'latest') => {
  const [text, json, silent] = [
    await runCli(line, options),
    await runCli(`${line} --json`, options),
    await runCli(`${line} -qq`, options),
  ];

  expect([text, json, silent].map(({ code, stdout }) => [code, stdout])).toEqual(Array(3).fill([exitCode, '']));
  expect(text.stderr).toContain(says);
  expect(text.stderr).toMatch(/^fxrates: /m);
  expect(text.stderr).not.toMatch(/\n\s+at /);
  expect(text.stderr).not.toContain(API_KEY);
  expect(silent.stderr).toBe('');
  const lines = jsonLines(json.stderr);
  expect(lines.pop().error).toMatchObject({ code: word, exit_code: exitCode, message: expect.any(String) });
  expect(lines.every(({ event }) => ['retry', 'wait', 'warning'].includes(event))).toBe(true);
});

test('the JSON of a rate limit has the status and the seconds', async () => {
  const { stderr } = await runCli('latest --no-wait --json base=USD', { replies: rateLimited('12') });

  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: 'rate_limited',
      message: 'rate limited — retry in 12 s, and waiting is off (--no-wait)',
      status: 429,
      cause_code: 'rate_limited',
      retry_after_seconds: 12,
      hint: 'To wait:  --max-wait 12s instead of --no-wait',
      exit_code: 7,
    },
  });
});

test('an exhausted quota is reported with its numbers and its reset', async () => {
  const { stderr } = await runCli('latest', { replies: failure(402), quota: success(exhaustedQuota()) });

  expect(
    stderr,
  ).toBe(`fxrates: the monthly quota is used up — 1,000 of 1,000, resets 2026-02-01 01:00 CET (in 10 days 10 h)

  Not retried. See:  fxrates quota
`);
});

test('-vv names the error of a used-up quota, not that of the limit per minute', async () => {
  const replies = failure(429, { code: 'quota_exceeded' });

  const { stderr } = await runCli('latest -vv', { replies, quota: success(exhaustedQuota()) });

  expect(stderr).toContain('Caused by: QuotaExhaustedError');
  expect(stderr).not.toContain('RateLimitError');
});

test('the documented table has every code once', () => {
  const [, table = ''] = readFileSync('docs/cli.md', 'utf8').split('The exit codes do not change');
  const documented = Array.from(table.split('## ')[0]?.matchAll(/^\| (\d+) \|/gm) ?? [], ([, code]) => Number(code));

  expect(documented).toEqual([...Object.values(exitCodes), ...Object.values(signalExitCodes)]);
});
