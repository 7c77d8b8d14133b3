import { expect, test } from 'vitest';
import { main } from '../../../src/cli/program/main.ts';
import { FakeIo, runCli, usageError } from '../../helpers/cli-io.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failedFetch, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';

test.each([
  ['a byte order mark', '\u00ef\u00bb\u00bf{"success":true,"data":{"n":1.10}}', '{"success":true,"data":{"n":1.10}}\n'],
  ['bytes that are not UTF-8', '{"success":true,"data":{"n":"\u00e9"}}', ''],
])('%s: api prints it, and latest --envelope does not', async (_, text, envelope) => {
  const chunks: Uint8Array[] = [];
  const replies = () => new Response(Buffer.from(text, 'latin1'));
  const io = new FakeIo({ replies });
  const stdout = { ...io.stdout, write: async (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk)) };

  await main(['api', '/api/v1/latest'], Object.assign(io, { stdout }));

  expect(Buffer.concat(chunks).toString('latin1')).toBe(text);
  expect((await runCli('latest --envelope', { replies })).stdout).toBe(envelope);
});

test.each([
  ['api/v1/x', '/api/v1/x'],
  ['/x?a=1&b=2&a=3', '/x?a=1&a=3&b=2'],
  ['/x?a=1', '/x?a=1'],
])('the path %s is sent as %s', async (path, target) => {
  expect((await runCli(['api', path])).requests[0]?.url).toBe(`https://api.example.test${target}`);
});

test.each([
  ...['/../x', '//evil.example/x', '/a/%2e%2e/b', '/with space', '/a#b', '/a\\b', '.'],
  ...['/a/%252e%252e/b', '/a/..%2fb', '/a/..%5cb', '/a/..;x/b', '/a/%2e.%3b', '/a\u0001b'],
])('the path %s is refused', async (path) => {
  expect(await usageError(['api', path])).toContain("' is not a path of the service — without host, '..',");
});

test.each([
  [`/api/v1/${API_KEY}`, 'refusing an argument that contains an API key'],
  ['https://evil.example/api/v1/quota', 'The path:  /api/v1/quota\n'],
  ['https://evil.example/x?base=EUR&a=b c', "The path:  '/x?base=EUR&a=b%20c'\n"],
  ['http://', "'http://' is a URL"],
  ['C:/Program Files/Git/api/v1/latest', 'Git Bash changes arguments that begin with /'],
  ['C:/Program Files/Git/api/v1/latest', 'fxrates api api/v1/latest'],
])('the path %s is refused with the next step: %s', async (path, says) => {
  const stderr = await usageError(['api', path, '-i']);

  expect(stderr).toContain(says);
  expect(stderr).not.toContain(API_KEY);
});

test.each([
  ['quota', 404, 9, true],
  ['/v1/latest', 404, 9, true],
  ['/api/v2/quota', 404, 9, true],
  ['/api/v1/nope', 404, 9, false],
  ['/quota', 401, 4, false],
])('after %s and a %d, the next step names the start of paths: %s %s', async (path, status, exitCode, isNamed) => {
  const { code, stderr } = await runCli(['api', path], { replies: failure(status) });

  expect(code).toBe(exitCode);
  expect(stderr.includes('\n\n  Paths begin with /api/v1\n')).toBe(isNamed);
});

test.each([
  [401, 4],
  [404, 9],
  [429, 7],
  [500, 5],
])('a %d is the failure to report, also if its body lacks what --get selects', async (status, exitCode) => {
  const line = 'api /api/v1/quota --retries 0 --no-wait --get';
  const replies = status === 429 ? rateLimited('20') : failure(status);

  const missing = await runCli(`${line} data.plan`, { replies });
  const found = await runCli(`${line} error.status`, { replies });

  expect([missing.code, missing.stdout]).toEqual([exitCode, JSON.stringify(replies.body)]);
  expect(missing.stderr).not.toContain("has no 'data.plan'");
  expect([found.code, found.stdout]).toEqual([exitCode, `${status}\n`]);
});

test('a failure is reported although nothing reads its body', async () => {
  expect((await runCli('api /api/v1/nope', { replies: failure(404), stdoutError: 'EPIPE' })).code).toBe(9);
});

test('prints no body of an earlier attempt, and knows that the port has answered in http', async () => {
  const { code, stdout, stderr } = await runCli('api /api/v1/latest --base-url http://127.0.0.1:4010 --retries 1', {
    replies: [failure(503), failedFetch('ECONNRESET')],
  });

  expect([code, stdout]).toEqual([6, '']);
  expect(stderr).not.toContain('Does this port speak https?');
});

test.each([
  ['/health', '{"status":"ok"}', 0],
  ['/health', '[1]', 0],
  ['/health', '{"status":', 10],
  ['/api/v1/latest', '{"status":"ok"}', 10],
  ['/page', '<h1>It works</h1>', 10],
  ['/api/v1/other', '{"success":true ,\n "data":{"rate":1.10}}\n\n', 0],
  ['/api/v1/café', '{"a":1}', 0],
  ['/api/v1/a"b', '{"a":1}', 0],
])('%s with the body %j prints it byte for byte, and ends with %d', async (path, body, exitCode) => {
  expect(await runCli(['api', path], { replies: { body } })).toMatchObject({ code: exitCode, stdout: body });
});

test.each([
  ['', '/api/v1/latest', 429],
  ['', '/quota', 403],
  ['', '/quota', 429],
  ['', '/v1/quota', 402],
  ['/fx/', '/quota', 403],
  ['/fx', '/v1/quota', 403],
  ['/quota', '/fx', 403],
  ['', '/api/v1/quota', 403],
  ['/fx/', '/api/v1/quota', 403],
])(
  'base URL with %j: prints the response to %s, a %d, not to the quota request that explains it',
  async (base, path, status) => {
    const refusal = failure(status, { code: 'quota_exceeded', message: 'Used up.' });
    const own = base.replace(/\/$/, '') + path;
    const replies: Reply = ({ url }) =>
      new URL(url).pathname === own ? refusal : success(quotaRecord({ monthly_used: 1000 }));

    const { code, stdout, requests } = await runCli(['api', path], {
      env: { FXRATES_BASE_URL: `https://api.example.test${base}` },
      replies,
    });

    expect([code, requests.length]).toEqual(path === '/api/v1/quota' ? [4, 1] : [8, 2]);
    expect(stdout).toBe(JSON.stringify(refusal.body));
  },
);

test('after a wait, prints only the last response', async () => {
  const { code, stdout } = await runCli('api /api/v1/latest', { replies: [rateLimited('2'), success({ a: 1 })] });

  expect(code).toBe(0);
  expect(stdout).toBe('{"success":true,"data":{"a":1}}');
});

test('--curl encodes a quote in the path, which would end the argument', async () => {
  const { stdout } = await runCli(['api', "/it's", '--curl']);

  expect(stdout).toContain(" 'https://api.example.test/it%27s'\n");
});
