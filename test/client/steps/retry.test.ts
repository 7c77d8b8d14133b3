import { expect, test } from 'vitest';
import { FxRates, type FxRatesOptions, type RetryEvent } from '../../../src/client/index.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../../helpers/test-client.ts';

const failed = (code: string) => Object.assign(new Error(`failed: ${code}`), { code });
const lost = failed('ECONNRESET');

test.each<[string, Reply]>([
  ['a lost connection', lost],
  ['a fetch that failed', new TypeError('fetch failed', { cause: lost })],
  ['a name server that is busy', failed('EAI_AGAIN')],
  ['a host that is not known (yet)', failed('ENOTFOUND')],
  ['a 408', failure(408)],
  ['a 500', failure(500)],
  ['a 502 of a proxy', { status: 502, body: '<html>Bad gateway</html>' }],
  ['a 503', failure(503)],
  ['a 504', failure(504)],
  ...[520, 521, 522, 523, 524, 527, 529, 530].map((status): [string, Reply] => [`a ${status}`, failure(status)]),
  ['a 200 that says 503', { status: 200, body: failure(503).body }],
  ['no response in time', 'never'],
])('retries %s', async (_, reply) => {
  const { fx, fetch, clock } = testClient([reply, reply, success({ EUR: 1 })]);

  const { data, meta } = await clock.run(fx.latest().withMeta());

  expect(data).toEqual({ EUR: 1 });
  expect(fetch.requests).toHaveLength(3);
  expect(meta.attempts.map(({ waitedMs, reason }) => [reason, waitedMs])).toEqual([
    ['first', 0],
    ['retry', 375],
    ['retry', 750],
  ]);
});

test.each<[string, Reply]>([
  ['a 400', failure(400)],
  ['a 401', failure(401)],
  ['a 402', failure(402)],
  ['a 403', failure(403)],
  ['a 404', failure(404)],
  ['a 422', failure(422)],
  ['a 501', failure(501)],
  ['a 505', failure(505)],
  ['a 525, about a certificate', failure(525)],
  ['a 526, about a certificate', failure(526)],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/' }, body: '' }],
  ['a body that is not JSON', { body: '<html></html>' }],
  ['a body that is not the contract’s', { body: { success: true } }],
  ['a certificate that is not trusted', failed('SELF_SIGNED_CERT_IN_CHAIN')],
  ['a chain of certificates that is too long', failed('CERT_CHAIN_TOO_LONG')],
  ['a certificate that has expired, through fetch,', new TypeError('failed', { cause: failed('CERT_HAS_EXPIRED') })],
])('does not retry %s', async (_, reply) => {
  const { fx, fetch, clock } = testClient(reply, { quota: success(quotaRecord()) });

  await clock.run(errorOf(fx.latest()));

  expect(fetch.requests.filter(({ url }) => url.endsWith('/latest'))).toHaveLength(1);
  expect(clock.sleeps.filter((ms) => ms < 10_000)).toEqual([]);
});

test.each([
  [0, 1],
  [1, 2],
  [5, 6],
])('with maxRetries %i, makes at most %i attempts, which are all in the error', async (maxRetries, attempts) => {
  const { fx, fetch, clock } = testClient(lost, { maxRetries });

  const error = await clock.run(errorOf(fx.latest()));

  expect(error).toMatchObject({ kind: 'network', code: 'ECONNRESET', cause: lost });
  expect((error as { attempts: unknown[] }).attempts).toHaveLength(attempts);
  expect(fetch.requests).toHaveLength(attempts);
});

test.each<[string, unknown]>([
  ['an object with a code, as of nock', { code: 'ECONNRESET', message: 'lost' }],
  ['an object with a code alone', { code: 'ECONNRESET' }],
  ['an error whose cause is such an object', new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })],
  ['such objects, nested', { message: 'failed', cause: { code: 'ECONNRESET' } }],
])('names the code of %s', async (_, thrown) => {
  const { fx } = testClient(() => Promise.reject(thrown), { maxRetries: 0 });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({ kind: 'network', code: 'ECONNRESET', cause: thrown });
  expect((error as Error).message).toMatch(/: ECONNRESET; the server or a proxy closed the connection$/);
});

const blocked407 = new TypeError('fetch failed', { cause: new Error('') });

test.each<[string | undefined, RegExp, Error?]>([
  ['ENOTFOUND', /^No valid HTTP response from fx.test: ENOTFOUND; the host does not exist; check baseUrl$/],
  ['ECONNREFUSED', /: ECONNREFUSED; no server listens on that port; check baseUrl, or start the server$/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /; the server uses plain http on that port; check https:\/\/ in baseUrl$/],
  ['ECONNRESET', /: ECONNRESET; the server or a proxy closed the connection$/],
  ['UND_ERR_SOCKET', /: UND_ERR_SOCKET; the server or a proxy closed the connection$/],
  ['EHOSTUNREACH', /^No valid HTTP response from fx.test: EHOSTUNREACH; no route leads to the host$/],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', /; Content-Length or a later header is wrong; check the server or proxy/],
  [undefined, /^No valid HTTP response from fx.test: fetch failed$/, blocked407], // the deepest message that is not empty
])('the error of %s has the next step, if there is one: %s', async (code, message, thrown = failed(`${code}`)) => {
  const { fx } = testClient(thrown, { maxRetries: 0 });

  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'network', code, message: expect.stringMatching(message) });
});

test.each(['EPROTO', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'])(
  'the error of a TLS alert (%s) has its words',
  async (code) => {
    const words =
      'write EPROTO 80CC:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../a.c:1:SSL alert number 70';
    const { fx } = testClient(Object.assign(new Error(words), { code }), { maxRetries: 0 });

    const what = `${code}; the server refused the TLS handshake (tlsv1 alert protocol version); check baseUrl`;
    expect(await errorOf(fx.latest())).toMatchObject({ code, message: `No valid HTTP response from fx.test: ${what}` });
  },
);

test('the error of a port that fetch blocks names the port as the cause', async () => {
  const fx = new FxRates({ baseUrl: 'https://fx.test:1', apiKey: API_KEY, fetch, maxRetries: 0 });

  expect(await errorOf(fx.latest())).toMatchObject({
    kind: 'network',
    message: 'No valid HTTP response from fx.test:1: bad port; fetch blocks that port; check baseUrl',
  });
});

const date = 'Tue, 14 Nov 2023 22:13:20 GMT';

test.each<[string, Record<string, string>, FxRatesOptions, number, number]>([
  ['7 s', { 'retry-after': '7' }, {}, 7000, 2],
  ['exactly maxRetryAfterMs', { 'retry-after': '7' }, { maxRetryAfterMs: 7000 }, 7000, 2],
  ['a date, which counts from Date,', { date, 'retry-after': 'Tue, 14 Nov 2023 22:13:27 GMT' }, {}, 7000, 2],
  ['more than maxRetryAfterMs', { 'retry-after': '3600' }, { deadlineMs: false }, 0, 1],
  ['a wait beyond the deadline', { 'retry-after': '20' }, { deadlineMs: 10_000 }, 0, 1],
])('a 503 with a Retry-After of %s: %j, %j', async (...[, headers, options, tookMs, requests]) => {
  const { fx, fetch, clock } = testClient([failure(503, { headers }), success()], options);
  const startedAt = clock.now();

  const call = clock.run(fx.latest());
  if (requests === 2) await call;
  else await expect(call).rejects.toMatchObject({ kind: 'server', status: 503 });

  expect(clock.now() - startedAt).toBe(tookMs);
  expect(fetch.requests).toHaveLength(requests);
});

test('reports each retry before its wait; an attempt after a 429 is none', async () => {
  const events: RetryEvent[] = [];
  const replies = [rateLimited('1'), failure(503, { code: 'down' }), lost, success()];
  const { fx, clock } = testClient(replies, { onRetry: (event) => events.push(event) });

  await clock.run(fx.latest({ base: 'EUR' }));

  const same = {
    operation: 'latest',
    target: '/api/v1/latest?base=EUR',
    callId: expect.any(String),
    key: 'fx_live_…cdef',
    limits: expect.objectContaining({ waiting: 0, reason: undefined }),
  };
  expect(events).toEqual([
    { ...same, retry: 1, kind: 'server', status: 503, code: 'down', waitMs: 375 },
    { ...same, retry: 2, kind: 'network', status: undefined, code: 'ECONNRESET', waitMs: 750 },
  ]);
});

test('with the clock of a test that skips all waits, calls are limited, refused and retried until they end', async () => {
  const clock = { now: () => 1_000, sleep: async () => {} };
  const replies = [success(), rateLimited('30'), failure(503), success()];
  const { fx, fetch } = testClient(replies, { clock, rateLimit: { perMinute: 2 } });

  await Promise.all(differentCalls(fx, 4));

  expect(fetch.requests).toHaveLength(6);
});

test('a retry in an outage is reported with the time until the next attempt', async () => {
  const waits: number[] = [];
  const replies = [failure(503, { headers: { 'retry-after': '60' } }), failure(503), success(), success()];
  const { fx, clock } = testClient(replies, { onRetry: ({ waitMs }) => waits.push(waitMs) });

  await clock.run(Promise.all(differentCalls(fx, 2)));

  expect(waits).toEqual([60_000, 60_000]);
});

test.each([
  // The retry would be sent 375 ms after the start.
  [376, 2, 375, success().body.data],
  [375, 1, 0, 503],
])('with a deadline of %i ms, a failed request is sent %i times', async (deadlineMs, requests, tookMs, outcome) => {
  const { fx, fetch, clock } = testClient([failure(503), success()], { deadlineMs });
  const startedAt = clock.now();

  expect(await clock.run(fx.latest().catch(({ status }) => status))).toEqual(outcome);

  expect([fetch.requests.length, clock.now() - startedAt]).toEqual([requests, tookMs]);
});

/** A client without a rate limiter, and the duration of its call. */
function unlimited(replies: readonly Reply[], options = {}) {
  const client = testClient(replies, { rateLimit: false, ...options });
  const startedAt = client.clock.now();
  const call = async () => {
    const answer = client.fx.latest().withMeta();
    const outcome = await client.clock.run(answer.catch((error: unknown) => error));
    return { outcome, tookMs: client.clock.now() - startedAt, sent: client.fetch.requests.length };
  };
  return { ...client, call };
}

test.each<[string, number, FxRatesOptions?]>([
  ['30', 30_000, { maxRetryAfterMs: 30_000 }],
  ['30', 30_000, { deadlineMs: 30_001 }],
  ['120', 120_000],
  ['2.5', 2500],
  ['5000', 5000, { retryAfterUnit: 'milliseconds' }],
  ['Tue, 14 Nov 2023 22:13:50 GMT', 30_000],
])('without a limiter, a 429 with Retry-After %s is retried after %i ms', async (retryAfter, tookMs, options) => {
  const refused = failure(429, { code: 'rate_limited', headers: { date, 'retry-after': retryAfter } });
  const { call } = unlimited([refused, success()], options);

  expect(await call()).toMatchObject({
    tookMs,
    sent: 2,
    outcome: { meta: { attempts: [{}, { reason: 'rate_limited' }] } },
  });
});

test.each([
  ['90', 90_000, 2],
  ['91', 0, 1],
])('without a limiter, the wait of a 503 is at most 90 s: Retry-After %s takes %i ms', async (...row) => {
  const [retryAfter, tookMs, sent] = row;
  const { call } = unlimited([failure(503, { headers: { 'retry-after': retryAfter } }), success()]);

  expect(await call()).toMatchObject({ tookMs, sent });
});

test('without a limiter, refusals and failures share the retries and their growing waits', async () => {
  const events: RetryEvent[] = [];
  const refused = failure(429, { code: 'rate_limited' });
  const onRetry = (event: RetryEvent) => events.push(event);
  const { call } = unlimited([refused, failure(503), refused, success()], { onRetry, maxRetries: 3 });

  const { tookMs } = await call();

  expect(events.map(({ retry, waitMs }) => [retry, waitMs])).toEqual([
    [1, 375],
    [2, 750],
    [3, 1500],
  ]);
  expect(tookMs).toBe(375 + 750 + 1500);
});

test.each<[string, object, object]>([
  ['onLimit is throw', { onLimit: 'throw' }, { reason: 'policy' }],
  ['Retry-After exceeds maxRetryAfterMs', { maxRetryAfterMs: 29_999 }, { reason: 'max_retry_after' }],
  ['it was the last retry', { maxRetries: 0 }, { reason: 'retries' }],
  ['the wait ends at the deadline', { deadlineMs: 30_000 }, { reason: 'deadline' }],
])('without a limiter, a 429 rejects at once if %s', async (_, options, expected) => {
  const { call, clock } = unlimited([rateLimited('30'), success()], options);
  const retryAt = new Date(clock.now() + 30_000);

  const outcome = { kind: 'rate_limited', retryAt, ...expected, cause: expected };
  expect(await call()).toMatchObject({ tookMs: 0, sent: 1, outcome });
});
