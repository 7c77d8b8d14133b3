import { expect, test } from 'vitest';
import { FxRates, type ResponseMeta, type RetryEvent } from '../../../src/client/index.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failure, quotaRecord, success } from '../../helpers/service-replies.ts';
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
  ['a 200 that says 503', { status: 200, body: failure(503).body }],
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
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/' }, body: '' }],
  ['a body that is not JSON', { body: '<html></html>' }],
  ['a body that is not the contract’s', { body: { success: true } }],
  ['a certificate that is not trusted', failed('SELF_SIGNED_CERT_IN_CHAIN')],
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

test.each([
  ['ENOTFOUND', /^No valid HTTP response from fx.test: ENOTFOUND; the host does not exist; check baseUrl$/],
  ['ECONNREFUSED', /: ECONNREFUSED; no server listens on that port; check baseUrl, or start the server$/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /; the server uses plain http on that port; check https:\/\/ in baseUrl$/],
  ['ECONNRESET', /^No valid HTTP response from fx.test: ECONNRESET$/],
])('the error of %s has the next step, if there is one', async (code, message) => {
  const { fx } = testClient(failed(code), { maxRetries: 0 });

  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'network', code, message: expect.stringMatching(message) });
});

test('the error of a port that fetch blocks names the port as the cause', async () => {
  const fx = new FxRates({ baseUrl: 'https://fx.test:1', apiKey: API_KEY, fetch, maxRetries: 0 });

  expect(await errorOf(fx.latest())).toMatchObject({
    kind: 'network',
    message: 'No valid HTTP response from fx.test:1: bad port; fetch blocks that port; check baseUrl',
  });
});

test('retries a 503 no earlier than its Retry-After', async () => {
  const { fx, clock } = testClient([failure(503, { headers: { 'retry-after': '7' } }), success()]);
  const startedAt = clock.now();

  await clock.run(fx.latest());

  expect(clock.now() - startedAt).toBe(7000);
});

test('a 503 with a Retry-After beyond maxRetryAfterMs rejects immediately', async () => {
  const { fx, fetch, clock } = testClient(failure(503, { headers: { 'retry-after': '3600' } }), { deadlineMs: false });
  const startedAt = clock.now();

  await expect(clock.run(fx.latest())).rejects.toMatchObject({ kind: 'server', status: 503 });

  expect(clock.now()).toBe(startedAt);
  expect(fetch.requests).toHaveLength(1);
});

test('reports each retry before its wait', async () => {
  const events: RetryEvent[] = [];
  const { fx, clock } = testClient([failure(503, { code: 'down' }), lost, success()], {
    onRetry: (event) => events.push(event),
  });
  const startedAt = clock.now();

  await clock.run(fx.latest({ base: 'EUR' }));

  const same = {
    operation: 'latest',
    target: '/api/v1/latest?base=EUR',
    callId: expect.any(String),
    key: 'fx_live_…cdef',
    limits: expect.objectContaining({ waiting: 0, reason: undefined }),
    retryAfterUnit: undefined,
  };
  const at = (ms: number) => new Date(startedAt + ms);
  expect(events).toEqual([
    { ...same, retry: 1, kind: 'server', status: 503, code: 'down', waitMs: 375, until: at(375) },
    { ...same, retry: 2, kind: 'network', status: undefined, code: 'ECONNRESET', waitMs: 750, until: at(375 + 750) },
  ]);
});

test('during an outage, many calls make no more retries than their budget', async () => {
  const { fx, fetch, clock } = testClient(failure(503), { rateLimit: false });

  await clock.run(Promise.all(differentCalls(fx, 100, { maxRetries: 5 }).map((call) => errorOf(call))));

  expect(fetch.requests).toHaveLength(120);
});

test('successes refill the retry budget', async () => {
  const { fx, fetch, clock } = testClient(
    [...Array(120).fill(failure(503)), ...Array(5).fill(success()), failure(503)],
    {
      rateLimit: false,
    },
  );
  await clock.run(Promise.all(differentCalls(fx, 100, { maxRetries: 5 }).map((call) => errorOf(call))));
  expect(fetch.requests).toHaveLength(120);

  await clock.run(Promise.all(differentCalls(fx, 5)));
  await clock.run(errorOf(fx.latest({}, { maxRetries: 5 })));

  expect(fetch.requests).toHaveLength(120 + 5 + 2);
});

test('attempts, waits and durations add up', async () => {
  const slow: Reply = async () => {
    await clock.sleep(200);
    return failure(500);
  };
  const { fx, clock } = testClient([slow, success()]);

  const { meta } = (await clock.run(fx.latest().withMeta())) as { meta: ResponseMeta };

  expect(meta.attempts).toEqual([
    { status: 500, code: 'some_code', waitedMs: 0, reason: 'first' },
    { status: 200, code: undefined, waitedMs: 375, reason: 'retry' },
  ]);
  expect(meta.durationMs).toBe(575);
});
