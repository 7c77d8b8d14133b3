import { expect, test } from 'vitest';
import { explainClientError, LONGEST_RETRY_AFTER_MS } from '../../../src/cli/request/explain-error.ts';
import { LONGEST_OUTAGE_MS as cliOutageMs } from '../../../src/cli/request/send-request.ts';
import type { KeyInUse } from '../../../src/cli/settings/resolve-key.ts';
import type { Invocation } from '../../../src/cli/settings/settings.ts';
import { type NetworkError, TimeoutError } from '../../../src/client/errors/errors.ts';
import { networkFailure } from '../../../src/client/errors/network-failure.ts';
import { LONGEST_OUTAGE_MS as clientOutageMs } from '../../../src/client/limits/in-flight.ts';
import { readClientOptions } from '../../../src/client/options/option-table.ts';
import { jsonLines, runCli } from '../../helpers/cli-io.ts';
import { exhaustedQuota, failedFetch, failure, rateLimited, success } from '../../helpers/service-replies.ts';

const WRONG_URL = 'Is https://api.example.test the right base URL? It comes from FXRATES_BASE_URL.';

test('the times of the client that the command line repeats are those of the client', () => {
  const { maxRetryAfterMs } = readClientOptions({ baseUrl: 'https://api.example.test' });

  expect(cliOutageMs).toBe(clientOutageMs);
  expect(LONGEST_RETRY_AFTER_MS).toBe(maxRetryAfterMs);
});

test.each([
  ['latest -o csv --get rates.EUR --base-url https://other.test', 401, 'fxrates doctor --base-url https://other.test'],
  ['latest --base-url=https://other.test -- base=USD', 402, 'fxrates quota --base-url https://other.test'],
])('after %s and a %d, the next step is %s', async (line, status, next) => {
  const { stderr } = await runCli(line, { replies: failure(status), quota: success(exhaustedQuota()) });

  expect(stderr).toContain(`${next}\n`);
});

test.each([
  ['a 404', { FXRATES_BASE_URL: 'https://a.t/x' }, failure(404), 'Is https://a.t/x the right base URL? It comes from'],
  [
    'an http port that closes the connection',
    { FXRATES_BASE_URL: 'http://127.0.0.1:4010/x/' },
    failedFetch('ECONNRESET'),
    'Does this port speak https?  --base-url https://127.0.0.1:4010/x\n',
  ],
])('after %s, with %j, a hint names the setting that is wrong', async (_, env, replies, hint) => {
  const { stderr } = await runCli('latest --retries 0', { env, replies });

  expect(stderr).toContain(hint);
});

test.each([
  { 'retry-after': '700' },
  { 'retry-after': 'Wed, 21 Jan 2026 14:31:40 GMT', date: 'Wed, 21 Jan 2026 14:20:00 GMT' },
])('the Retry-After of a failing service is shown: %j', async (headers) => {
  const replies = failure(503, { headers });

  const text = await runCli('latest', { replies });
  const json = await runCli('latest --json', { replies });

  expect(text.stderr).toMatch(/^fxrates: the service failed: [^;]* — retry in 11 min 40 s\n$/);
  expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'server', retry_after_seconds: 700 });
});

test.each([
  ['a page', true, { body: '<html>' }],
  ['a redirect', true, { status: 301, headers: { location: 'https://other.test' } }],
  ['another record', false, success({ plan: 1 })],
])('after %s, a hint names the base URL: %j', async (_, isAsked, replies) => {
  const { code, stderr } = await runCli('quota', { replies });

  expect(code).toBe(10);
  expect(stderr.includes(`  ${WRONG_URL}\n`)).toBe(isAsked);
});

test.each([
  ['ENOTFOUND', '; the host does not exist', WRONG_URL],
  ['CERT_HAS_EXPIRED', '; the certificate has expired', "this machine's clock."],
  ['CERT_NOT_YET_VALID', '; the certificate is not valid yet', "this machine's clock."],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', '; the certificate', 'export NODE_EXTRA_CA_CERTS='],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    '; the certificate is not signed by a trusted authority',
    'export NODE_EXTRA_CA_CERTS=',
  ],
  ['ERR_TLS_CERT_ALTNAME_INVALID', '; the certificate is for another host', 'Is https://api.example.test the right'],
  ['CERT_REVOKED', '; the certificate has been revoked\n', undefined],
  [
    'HPE_HEADER_OVERFLOW',
    '; the headers of the response are too large',
    'set NODE_OPTIONS=--max-http-header-size=65536.',
  ],
  ['HPE_INVALID_CONSTANT', '; the response is not valid HTTP', 'Is https://api.example.test the right'],
  ['EPROTO', '; the TLS handshake failed', 'Does this port speak http?  --base-url http://api.example.test'],
  ['ECONNRESET', '; the server or a proxy closed the connection\n', undefined],
  ['EPIPE', '\n', undefined],
])('%s is reported by its name%s, with the next step', async (code, says, nextStep) => {
  const result = await runCli('latest --retries 0', { replies: failedFetch(code) });

  const [headline = '', ...hints] = result.stderr.split('\n').filter((line) => line !== '');
  expect(result.code).toBe(6);
  expect(`${headline}\n`).toContain(`cannot reach api.example.test — ${code}${says}`);
  expect(hints.length).toBe(nextStep === undefined ? 0 : 1);
  if (nextStep !== undefined) expect(hints[0]).toContain(nextStep);
});

test.each([
  [
    'a TLS alert',
    'https://a.test',
    {
      code: 'EPROTO',
      message: 'write EPROTO 8:error:0A:SSL routines:f:tlsv1 unrecognized name:../a.c:1:SSL alert number 112',
    },
  ],
  ['a response that is cut short', 'http://127.0.0.1:4010', { code: 'ECONNRESET', message: 'aborted' }],
])('after %s, no hint names the other scheme', async (_, url, failure) => {
  const replies = Object.assign(new Error(), failure);

  const { stderr } = await runCli('latest --retries 0', { env: { FXRATES_BASE_URL: url }, replies });

  expect(stderr).toContain(failure.code);
  expect(stderr).not.toContain('Does this port speak');
});

test('a failure without a code is reported once, in words of the command line', async () => {
  const replies = Object.assign(new TypeError('fetch failed'), { cause: new Error('bad port') });

  const { stderr } = await runCli('latest --retries 0', { replies });

  expect(stderr).toBe(`fxrates: cannot reach api.example.test — bad port; fetch blocks that port

  ${WRONG_URL}
`);
});

test('a timeout and a limit of milliseconds are shown exactly', async () => {
  const slow = await runCli('latest --timeout 300ms --retries 0', { replies: 'never' });
  const limited = await runCli('latest --max-wait 1500ms', { replies: rateLimited('30') });

  expect(slow.stderr).toContain('no complete response from api.example.test within 300ms');
  expect(slow.stderr).toContain('Wait longer:  --timeout 600ms');
  expect(limited.stderr).toContain('retry in 30 s, longer than --max-wait 1500ms');
});

test.each([
  ['latest --retries 0', failure(500)],
  ['latest', failure(401)],
  ['latest', failure(404)],
  ['latest --no-wait', rateLimited('30')],
  ['latest --max-wait 40s', rateLimited('30')], // the second refusal
])('%s: the error has the status and the ID of the request', async (line, reply) => {
  const replies = { ...reply, headers: { ...reply.headers, 'x-request-id': 'req_42' } };

  const text = await runCli(line, { replies });
  const json = await runCli(`${line} --json`, { replies });

  expect(text.stderr).toContain('\n\n  Request ID: req_42\n');
  expect(jsonLines(json.stderr).at(-1).error).toMatchObject({ status: reply.status, request_id: 'req_42' });
});

const BASE_URL_HINT = 'Is https://api.example.test the right base URL? It comes from --base-url.';
const PROXY_HINT = 'HTTPS_PROXY names the proxy proxy.example.test. To bypass it:  export NO_PROXY=api.example.test';

const PROXY = { HTTPS_PROXY: 'http://proxy.example.test' };

test.each([
  ['ENOTFOUND', {}, [BASE_URL_HINT]],
  ['ENOTFOUND', PROXY, [PROXY_HINT]],
  ['ERR_TLS_CERT_ALTNAME_INVALID', PROXY, [BASE_URL_HINT]],
  ['CERT_HAS_EXPIRED', PROXY, ["Check the certificate's dates and this machine's clock."]],
  ['INVALID_CA', PROXY, []],
  ['CERT_CHAIN_TOO_LONG', PROXY, []],
  ['a timeout', {}, ['Wait longer:  --timeout 4s']],
  ['a timeout', PROXY, ['Wait longer:  --timeout 4s', PROXY_HINT]],
])('%s with the environment %j: the message says whether proxy or service was not found', (code, env, hints) => {
  const isProxyFailure = hints.includes(PROXY_HINT);
  const name = isProxyFailure ? 'ProxyFailure' : 'Error';
  const thrown = Object.assign(new Error(code), { name, code });
  const baseUrl = 'https://api.example.test';
  const error =
    code === 'a timeout'
      ? new TimeoutError({ scope: 'attempt', limitMs: 2000, attempts: [] })
      : (networkFailure(thrown, { key: { redact: String }, attempts: [] }, baseUrl) as NetworkError);
  const settings = { baseUrl: { text: baseUrl, source: '--base-url' }, timeoutMs: 2000 };
  const invocation = { settings, io: { env } } as unknown as Invocation;

  const { details } = explainClientError(error, { invocation, baseUrl, key: {} as KeyInUse });

  expect(details.hints).toEqual(hints);
});

test('no message of a batch names an option of the client', async () => {
  const down = failure(503, { headers: { 'retry-after': '300' } });
  const queries = `--each n=${Array.from({ length: 20 }, (_, n) => n).join()}`;

  const refused = await runCli('batch --each n=1,2', { replies: [rateLimited('30000'), success()] });
  const unavailable = await runCli(`batch ${queries}`, { replies: down });

  expect(refused.stderr).toContain('is read in milliseconds, because of its value and the responses so far\n');
  expect(unavailable.stdout).toContain('the service is down: Some text. (HTTP 503, some_code) — retry in 5 min');
  for (const { stdout, stderr } of [refused, unavailable]) {
    expect(stdout + stderr).not.toMatch(/retryAfterUnit|maxRetryAfterMs|deadlineMs|onLimit/);
  }
});
