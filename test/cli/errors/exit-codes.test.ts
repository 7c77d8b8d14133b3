import { expect, test } from 'vitest';
import { exitCodeMeanings, exitCodes } from '../../../src/cli/exit-codes.ts';
import { type FakeIoOptions, runCli } from '../../helpers/cli-io.ts';
import { API_KEY, exhaustedQuota, failure, rateLimited, success } from '../../helpers/service-replies.ts';

interface Row {
  readonly name: string;
  readonly line?: string;
  readonly options: FakeIoOptions;
  readonly exitCode: number;
  /** Of the JSON line. */
  readonly code: string;
  readonly says: string;
}

const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
});

const ROWS: readonly Row[] = [
  {
    name: 'a usage error',
    line: 'latest USD',
    options: {},
    exitCode: 2,
    code: 'usage',
    says: "'USD' is not a parameter",
  },
  {
    name: 'no base URL',
    options: { env: { FXRATES_BASE_URL: '' } },
    exitCode: 3,
    code: 'no_base_url',
    says: 'no base URL',
  },
  {
    name: 'an unreadable key file',
    line: 'latest --key-file /nowhere',
    options: {},
    exitCode: 3,
    code: 'unusable_key',
    says: 'cannot read the key file',
  },
  { name: 'no key', options: { env: { FXRATES_API_KEY: '' } }, exitCode: 4, code: 'no_key', says: 'no API key' },
  {
    name: '401',
    options: { replies: failure(401) },
    exitCode: 4,
    code: 'authentication',
    says: 'refused the key fx_live_…cdef',
  },
  {
    name: '403',
    options: { replies: failure(403), quota: success() },
    exitCode: 4,
    code: 'authentication',
    says: '(HTTP 403',
  },
  {
    name: '500 after the retries',
    options: { replies: failure(500) },
    exitCode: 5,
    code: 'server',
    says: 'after 3 attempts',
  },
  { name: '501', options: { replies: failure(501) }, exitCode: 5, code: 'server', says: '(HTTP 501' },
  {
    name: 'an HTML 502',
    options: { replies: { status: 502, body: '<h1>Bad gateway</h1>' } },
    exitCode: 5,
    code: 'server',
    says: '(HTTP 502)',
  },
  {
    name: 'a refused connection',
    options: { replies: refused },
    exitCode: 6,
    code: 'network',
    says: 'cannot reach api.example.test — connection refused (ECONNREFUSED)',
  },
  {
    name: 'no response',
    options: { replies: 'never' },
    exitCode: 6,
    code: 'timeout',
    says: 'no complete response from api.example.test within 30s',
  },
  {
    name: 'a body that stalls',
    options: { replies: 'stalled body' },
    exitCode: 6,
    code: 'timeout',
    says: 'no complete response',
  },
  {
    name: 'a rate limit and --no-wait',
    line: 'latest --no-wait',
    options: { replies: rateLimited('12') },
    exitCode: 7,
    code: 'rate_limited',
    says: 'retry in 12 s',
  },
  {
    name: 'a long Retry-After',
    options: { replies: rateLimited('905') },
    exitCode: 7,
    code: 'rate_limited',
    says: 'retry in 15 min 5 s, longer than --max-wait 10m',
  },
  {
    name: 'an exhausted quota',
    options: { replies: failure(429, { code: 'quota_exceeded' }), quota: success(exhaustedQuota()) },
    exitCode: 8,
    code: 'quota_exhausted',
    says: 'quota',
  },
  {
    name: 'an exhausted quota as 403',
    options: { replies: failure(403), quota: success(exhaustedQuota()) },
    exitCode: 8,
    code: 'quota_exhausted',
    says: 'quota',
  },
  {
    name: '404',
    options: { replies: failure(404, { code: 'not_found' }) },
    exitCode: 9,
    code: 'request',
    says: '(HTTP 404, not_found)',
  },
  {
    name: '422',
    options: { replies: failure(422, { message: 'Unknown base XYZ.' }) },
    exitCode: 9,
    code: 'request',
    says: 'Unknown base XYZ.',
  },
  {
    name: 'HTML with 200',
    options: { replies: { body: '<html>hello</html>' } },
    exitCode: 10,
    code: 'response',
    says: 'the body starts with: <html>hello</html>',
  },
  {
    name: 'truncated JSON',
    options: { replies: { body: '{"success":true,"data":{"a":' } },
    exitCode: 10,
    code: 'response',
    says: 'the body starts with: {"success":true',
  },
  {
    name: 'JSON that is not the envelope',
    options: { replies: { body: '[1]' } },
    exitCode: 10,
    code: 'response',
    says: 'the body starts with: [1]',
  },
  { name: 'an empty body', options: { replies: { body: '' } }, exitCode: 10, code: 'response', says: 'not JSON' },
  {
    name: 'a redirect',
    options: { replies: { status: 302, headers: { location: 'https://evil.example/' }, body: '' } },
    exitCode: 10,
    code: 'response',
    says: 'not followed',
  },
  {
    name: 'invalid UTF-8',
    options: { replies: () => new Response(new Uint8Array([0x7b, 0xff, 0x7d])) },
    exitCode: 10,
    code: 'response',
    says: 'UTF-8',
  },
  {
    name: 'a missing --get path',
    line: 'latest --get nope',
    options: {},
    exitCode: 10,
    code: 'missing_value',
    says: "the response has no 'nope'",
  },
];

test.each(ROWS)(
  '$name exits $exitCode, with an empty stdout and no stack',
  async ({ line = 'latest', options, exitCode, says }) => {
    const { code, stdout, stderr } = await runCli(line, options);

    expect(code).toBe(exitCode);
    expect(stdout).toBe('');
    expect(stderr).toContain(says);
    expect(stderr).toMatch(/^fxrates: /m);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr).not.toContain(API_KEY);
  },
);

test.each(ROWS)(
  '$name is one JSON line on stderr with --json',
  async ({ line = 'latest', options, exitCode, code: word }) => {
    const { code, stdout, stderr } = await runCli(`${line} --json`, options);

    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    const { error } = lines.at(-1);
    expect(code).toBe(exitCode);
    expect(stdout).toBe('');
    expect(error).toMatchObject({ code: word, exit_code: exitCode, message: expect.any(String) });
    expect(lines.slice(0, -1).every(({ event }) => event === 'retry' || event === 'warning')).toBe(true);
  },
);

test.each(ROWS)('-qq leaves only the exit code of $name', async ({ line = 'latest', options, exitCode }) => {
  const { code, stdout, stderr } = await runCli(`${line} -qq`, options);

  expect({ code, stdout, stderr }).toEqual({ code: exitCode, stdout: '', stderr: '' });
});

test('the JSON of a rate limit has the status and the seconds', async () => {
  const { stderr } = await runCli('latest --no-wait --json base=USD', { replies: rateLimited('12') });

  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: 'rate_limited',
      message: 'rate limited — retry in 12 s, and waiting is off (--no-wait)',
      status: 429,
      retry_after_seconds: 12,
      hint: 'To wait:  fxrates latest --json base=USD --max-wait 14s',
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

test('the JSON of an exhausted quota has the time of the reset', async () => {
  const options = { replies: failure(402), quota: success(exhaustedQuota()) };

  const { stderr } = await runCli('latest --json', options);

  expect(JSON.parse(stderr).error).toMatchObject({ status: 402, resets_at: '2026-02-01T00:00:00.000Z' });
});

test('-vv adds the stack, without the key', async () => {
  const { stderr } = await runCli('latest -vv', { replies: failure(401, { message: `Bad key ${API_KEY}` }) });

  expect(stderr).toMatch(/\n\s+at /);
  expect(stderr).not.toContain(API_KEY);
});

test('an internal error is reported as a bug and exits with 1', async () => {
  const env = new Proxy(
    {},
    {
      get: () => 'x',
      ownKeys: () => {
        throw new Error('boom');
      },
    },
  );

  const { code, stderr } = await runCli('latest', {
    clock: {
      now: () => {
        throw new Error('boom');
      },
      sleep: async () => undefined,
    },
  });

  expect(env).toBeDefined();
  expect(code).toBe(1);
  expect(stderr).toContain('fxrates: unexpected failure — boom');
  expect(stderr).toContain('This is a bug of fxrates.');
});

test('a closed pipe is not a failure, a full disk is', async () => {
  expect(await runCli('latest', { stdoutError: 'EPIPE' })).toMatchObject({ code: 0, stderr: '' });
  expect(await runCli('--help', { stdoutError: 'EPIPE' })).toMatchObject({ code: 0, stderr: '' });
  expect(await runCli('latest', { stdoutError: 'ENOSPC' })).toMatchObject({
    code: 1,
    stderr: 'fxrates: cannot write the output — no space left on the device (ENOSPC)\n',
  });
});

test('the documented table has every code once', () => {
  const documented = exitCodeMeanings.map(([code]) => Number(code));

  expect(documented).toEqual([...Object.values(exitCodes), 129, 130, 143]);
});
