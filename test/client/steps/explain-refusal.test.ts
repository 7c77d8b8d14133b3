import { expect, test } from 'vitest';
import { type FxRates, FxRatesError, type FxRatesOptions, QuotaExhaustedError } from '../../../src/client/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, exhaustedQuota, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, quotaRequests, testClient } from '../../helpers/test-client.ts';

test.each([
  [402, 'payment_required'],
  [403, 'quota_exceeded'],
  [429, 'quota_exceeded'],
  [429, 'monthly_limit'],
])('a %i %s with an exhausted quota is a QuotaExhaustedError', async (status, code) => {
  const refusal = failure(status, {
    code,
    message: 'No more.',
    headers: { 'retry-after': '60', 'x-request-id': 'r1' },
  });
  const client = testClient(refusal, { quota: success(exhaustedQuota()) });

  const error = await client.clock.run(errorOf(client.fx.latest()));

  expect(error).toBeInstanceOf(QuotaExhaustedError);
  expect(error).toMatchObject({
    kind: 'quota_exhausted',
    status,
    code,
    local: false,
    quota: exhaustedQuota(),
    resetsAt: new Date('2026-02-01T00:00:00.000Z'),
    attempts: [{ status, code }],
    cause: { status, code, kind: status === 403 ? 'authentication' : 'request' },
    message: expect.stringMatching(
      /^The monthly quota is used up: 1000 of 1000 requests, resets at 2026-02-01T00:00:00\.000Z\. The service .*: No more\. \(HTTP/,
    ),
  });
  expect((error as QuotaExhaustedError).headers?.get('x-request-id')).toBe('r1');
  expect(client.fetch.requests).toHaveLength(2);
});

const ODD_RECORDS: readonly (readonly [object, string])[] = [
  [{ historical_days: null }, 'historical_days: null'],
  [{ plan: null }, 'plan: null'],
  [{ plan: undefined }, 'plan: undefined'],
  [{ rate_limit_per_minute: '30' }, "rate_limit_per_minute: '30'"],
  [{ resets_at: '2026-12-01' }, "resets_at: '2026-12-01'"],
  [{ resets_at: 'soon' }, "resets_at: 'soon'"],
  [{ resets_at: null }, 'resets_at: null'],
  [{ monthly_used: '1000' }, "monthly_used: '1000'"],
  [{ snapshot_granularity: 5 }, 'snapshot_granularity: 5 (number)'],
  [{ plan: 7, historical_days: 'all' }, "plan: 7 (number), historical_days: 'all'"],
];

test.each(ODD_RECORDS)(
  'a used-up month is a QuotaExhaustedError for a record with %j, which quota() rejects',
  async (...row) => {
    const [changes, shown] = row;
    const record = { ...exhaustedQuota(), ...changes };
    const client = testClient(failure(429, { code: 'monthly_limit' }), { quota: success(record) });

    expect(await client.clock.run(errorOf(client.fx.quota()))).toMatchObject({ kind: 'response', status: 200 });
    for (const _ of [1, 2]) {
      const error = await client.clock.run(errorOf(client.fx.latest()));
      expect(error).toMatchObject({ kind: 'quota_exhausted', quota: JSON.parse(JSON.stringify(record)) });
      expect((error as QuotaExhaustedError).resetsAt?.getTime()).not.toBeNaN();
    }

    expect(client.warnings).toEqual([
      `The quota record does not match the contract (${shown}); the client uses its other fields`,
    ]);
  },
);

test.each([null, 1_769_904_000, 'soon', [], {}])('resetsAt is unknown if resets_at is %j', async (resetsAt) => {
  const quota = success({ ...exhaustedQuota(), resets_at: resetsAt });
  const { fx, clock } = testClient(failure(402), { quota });

  expect(await clock.run(errorOf(fx.latest()))).toMatchObject({ kind: 'quota_exhausted', resetsAt: undefined });
});

test.each([{ resets_at: 'soon' }, { monthly_used: '1000' }])(
  'the guard rejects by a record with %j',
  async (changes) => {
    const quota = success({ ...exhaustedQuota(), ...changes });
    const { fx, clock, fetch } = testClient(success(), { quota, quotaGuard: { reserve: 1 } });

    expect(await clock.run(errorOf(fx.latest()))).toMatchObject({ kind: 'quota_exhausted', local: true });
    expect(fetch.requests).toHaveLength(1);
  },
);

test('warns once of the fields of an odd quota record, whatever their values', async () => {
  const odd = [{ monthly_used: '7' }, { monthly_used: '8' }, { plan: 7 }, { monthly_used: '9' }];
  const { fx, clock, warnings } = testClient(odd.map((changes) => success({ ...quotaRecord(), ...changes })));

  for (const _ of odd) await clock.run(errorOf(fx.quota()));

  expect(warnings).toEqual([expect.stringContaining("monthly_used: '7'"), expect.stringContaining('plan: 7')]);
});

/** A 429 of a proxy, which has no code. */
const nameless = (retryAfter: string, headers = {}): Reply => ({
  status: 429,
  body: '<html>slow down</html>',
  headers: { 'retry-after': retryAfter, ...headers },
});

const slowDown = failure(429, { code: 'slow_down', headers: { 'retry-after': '5' } });
const plenty = success(quotaRecord());

test.each<[string, readonly Reply[], Reply, readonly string[], FxRatesOptions?]>([
  ['with another code, if requests are left,', [slowDown], plenty, ['latest', 'quota', 'latest']],
  [
    'with another code, if quota() fails,',
    ...([[slowDown], failure(500), ['quota', 'latest', 'quota', 'latest']] as const),
    { quotaGuard: { reserve: 10 } },
  ],
  ['without a code, and then again,', [nameless('5'), nameless('5')], plenty, ['latest', 'latest', 'quota', 'latest']],
  ['without a code, after a 503,', [failure(503), nameless('5')], plenty, ['latest', 'latest', 'latest']],
])('a 429 %s waits for the limit', async (_, replies, quota, requests, options) => {
  const { fx, fetch, clock } = testClient([...replies, success({ EUR: 1 })], { quota, ...options });
  const startedAt = clock.now();

  await expect(clock.run(fx.latest())).resolves.toEqual({ EUR: 1 });

  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(5000);
  expect(fetch.requests.map(({ url }) => url.split('/').at(-1))).toEqual(requests);
});

test('the Retry-After of a refusal counts from its response, not from the end of the quota() that explains it', async () => {
  const { fx, clock } = testClient([slowDown, success({ EUR: 1 })], { quota: 'never' });
  const startedAt = clock.now();

  await clock.run(fx.latest());
  const refusedFor = clock.now() - startedAt;
  await clock.run(fx.latest({ base: 'EUR' }, { deadlineMs: 1_000 })); // the time of that quota() is no round trip

  expect(refusedFor).toBe(10_000);
});

test('after a quota() that failed, an old record with many requests left explains no refusal', async () => {
  const quota: Reply[] = [plenty, failure(503), success(exhaustedQuota())];
  const client = testClient([failure(429, { code: 'monthly_limit' })], { quota: () => quota.shift() ?? 'never' });
  await client.clock.run(client.fx.quota());
  await client.clock.advance(3 * 3_600_000);
  const startedAt = client.clock.now();

  expect(await client.clock.run(errorOf(client.fx.latest()))).toMatchObject({ kind: 'quota_exhausted', local: false });
  expect(quotaRequests(client)).toBe(3);
  expect(client.clock.now() - startedAt).toBeLessThan(5_000);
});

const DATE = 'Wed, 21 Jan 2026 14:20:00 GMT';

test.each<[string, object, number, FxRatesOptions?]>([
  ['75', {}, 0],
  ['76', {}, 1],
  ['5', {}, 1, { onLimit: 'throw' }],
  ['75000', {}, 0, { retryAfterUnit: 'milliseconds', deadlineMs: 4_000 }],
  ['75001', {}, 1, { retryAfterUnit: 'milliseconds', deadlineMs: 4_000 }],
  ['Wed, 21 Jan 2026 14:20:05 GMT', { date: DATE }, 0],
  ['Wed, 21 Jan 2026 15:20:05 GMT', { date: DATE }, 1],
  ['Wed, 21 Jan 2026 14:20:05 GMT', {}, 0],
])(
  'the first 429 without a code, with Retry-After: %s and %j, calls quota() %i times at once',
  async (retryAfter, headers, times, options = { deadlineMs: 4_000 }) => {
    const client = testClient(nameless(retryAfter, headers), { quota: success(exhaustedQuota()), ...options });

    const error = await client.clock.run(errorOf(client.fx.latest()));

    expect(quotaRequests(client)).toBe(times);
    expect(error instanceof QuotaExhaustedError).toBe(times === 1);
  },
);

test.each<[string, Reply, string, number]>([
  ['a 402', failure(402), 'request', 1],
  ['a 403', failure(403), 'authentication', 1],
  ['a rate_limited 429', rateLimited('1'), 'rate_limited', 0],
  ['a 400', failure(400), 'request', 0],
  ['a 401', failure(401), 'authentication', 0],
  ['a 404', failure(404), 'request', 0],
  ['a 500', failure(500), 'server', 0],
])('with requests left, %s keeps the kind %s, and calls quota() %i times', async (_, reply, kind, times) => {
  const client = testClient(reply, { quota: plenty, maxRetries: 0, onLimit: 'throw' });

  expect(await client.clock.run(errorOf(client.fx.latest()))).toMatchObject({ kind });

  expect(quotaRequests(client)).toBe(times);
});

test.each([
  ['60', 1000, 'rate_limited'],
  ['75', 1000, 'rate_limited'],
  ['76', 1000, 'quota_exhausted'],
  ['1468800', 1000, 'quota_exhausted'],
  // In the minute of the record, the key can make 30 requests, and another 30 in the next.
  ['60', 61, 'rate_limited'],
  ['60', 60, 'quota_exhausted'],
])('right after a record, a 429 with Retry-After: %s and %i requests left is %s', async (retryAfter, left, kind) => {
  const refusal = failure(429, { code: 'quota_exceeded', headers: { 'retry-after': retryAfter } });
  const quotas = [success(quotaRecord({ monthly_used: 1000 - left })), success(exhaustedQuota())];
  const client = testClient(refusal, { quota: () => quotas.shift() ?? 'never', deadlineMs: 5_000 });
  await client.clock.run(client.fx.quota());

  expect(await client.clock.run(errorOf(client.fx.latest()))).toMatchObject({ kind });
});

test('an error of a middleware with a status is not a refusal of the service', async () => {
  const denied = Object.assign(new Error('denied'), { status: 402 });
  const middleware = [() => Promise.reject(denied)];
  const client = testClient(success(), { quota: success(exhaustedQuota()), middleware });

  expect(await errorOf(client.fx.latest())).toBe(denied);
  expect(quotaRequests(client)).toBe(0);
});

test('a refused quota() does not call quota() again', async () => {
  const client = testClient(failure(403), { quota: failure(403) });

  await expect(client.fx.quota()).rejects.toMatchObject({ kind: 'authentication' });

  expect(client.fetch.requests).toHaveLength(1);
});

test.each([
  // The second question is the limiter's: of more calls than it may send at once, it asks for the limit per minute.
  [{}, 2],
  [{ rateLimit: { maxConcurrent: 50, perMinute: 1000 } }, 1],
  [{ rateLimit: false }, 1],
] as const)('fifty calls with an exhausted quota and %j call quota() %i times', async (options, times) => {
  const client = testClient(failure(429, { code: 'quota_exceeded' }), {
    quota: success(exhaustedQuota()),
    ...options,
  });

  const errors = await client.clock.run(Promise.all(differentCalls(client.fx, 50).map((call) => errorOf(call))));

  expect(errors.every((error) => error instanceof QuotaExhaustedError)).toBe(true);
  expect(quotaRequests(client)).toBe(times);
  expect(await client.clock.left()).toBe(0);
});

test.each<[string, Reply, number]>([
  ['is refused', failure(401), 0],
  ['is limited', rateLimited('30'), 0],
  ['is broken', { body: '<html></html>' }, 0],
  ['is lost', new Error('socket hang up'), 0],
  ['hangs', 'never', 3_000],
])('if quota() %s, the refusal is unchanged, and late by one timeout at most', async (_, quota, lateMs) => {
  const client = testClient(failure(402, { code: 'pay' }), { quota, timeoutMs: 3_000 });
  const startedAt = client.clock.now();

  const error = await client.clock.run(errorOf(client.fx.latest()));

  expect(error).toMatchObject({ kind: 'request', status: 402, code: 'pay' });
  expect(quotaRequests(client)).toBe(1);
  expect(client.clock.now() - startedAt).toBe(lateMs);
  expect(await client.clock.left()).toBe(0);
});

test('a refusal holds back other calls, even if its call was aborted while quota() was called', async () => {
  const refused = failure(429, { code: 'too_many', headers: { 'retry-after': '120' } });
  const { fx, clock } = testClient([refused, success()], { quota: 'never' });
  const controller = new AbortController();
  const call = errorOf(fx.latest({ call: 1 }, { signal: controller.signal }));
  await quiet();

  controller.abort();
  expect(await call).toMatchObject({ kind: 'aborted' });
  await quiet();

  expect(fx.limits()).toMatchObject({ reason: 'retry_after', nextSlotAt: new Date(clock.now() + 120_000) });
});

test('after a refusal, calls reject without a request for a minute, and quota() still works', async () => {
  let plan = exhaustedQuota();
  const service: Reply = () =>
    plan.monthly_used < 1000 ? success({ EUR: 1 }) : failure(429, { code: 'quota_exceeded' });
  const client = testClient(service, { quota: () => success(plan) });
  const { fx, fetch, clock } = client;
  await errorOf(fx.latest());
  const sent = fetch.requests.length;

  await clock.advance(1000);
  const local = await errorOf(fx.latest());
  const resetsAt = new Date('2026-02-01T00:00:00.000Z');
  expect(local).toMatchObject({ local: true, status: undefined, quota: exhaustedQuota(), resetsAt, attempts: [] });
  expect(String(local)).toContain('used up: 1000 of 1000 requests, resets at 2026-02-01T00:00:00.000Z; not sent');
  expect(fetch.requests).toHaveLength(sent);
  await expect(fx.quota()).resolves.toEqual(exhaustedQuota());

  await clock.advance(58_999);
  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'quota_exhausted', local: true });
  plan = quotaRecord();
  await clock.advance(1);
  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
});

test.each<[string, Reply, Reply, object]>([
  ['an upgrade', success(quotaRecord({ plan: 'developer' })), success({ EUR: 1 }), { EUR: 1 }],
  ['nothing, because it fails,', failure(500), success(), { kind: 'quota_exhausted', local: true, attempts: [] }],
])('after a refusal, if quota() shows %s, the next call knows it', async (_, shown, reply, outcome) => {
  let quota: Reply = success(exhaustedQuota());
  const { fx } = testClient([failure(402), reply], { quota: () => quota, maxRetries: 0 });
  await errorOf(fx.latest());

  quota = shown;
  await fx.quota().catch(() => undefined);

  expect(await fx.latest().catch((error: unknown) => error)).toMatchObject(outcome);
});

/** Accepts 30 requests at once and 20 a minute later; then the month is used up. */
function usedUpInAMinute(options: FxRatesOptions) {
  let left = 50;
  const service: Reply = () => (left-- > 0 ? success({ EUR: 1 }) : failure(402));
  const client = testClient(service, {
    ...{ quota: success(exhaustedQuota()), rateLimit: { perMinute: 30 } },
    ...options,
  });
  const { clock } = client;
  const startedAt = clock.now();
  return { ...client, elapsedMs: () => clock.now() - startedAt };
}

async function batchErrors(fx: FxRates, count: number): Promise<unknown[]> {
  const queries = Array.from({ length: count }, (_, call) => ({ call }));
  const errors: unknown[] = [];
  for await (const { error } of fx.batch(queries)) errors.push(error);
  return errors;
}

test.each<[string, (fx: FxRates) => Promise<unknown[]>]>([
  ['calls', (fx) => Promise.all(differentCalls(fx, 100).map((call) => call.catch((error: unknown) => error)))],
  ['calls of a batch', (fx) => batchErrors(fx, 100)],
])('%s that wait for the minute reject as soon as the month is used up', async (_, run) => {
  const { fx, clock, fetch, elapsedMs } = usedUpInAMinute({});

  const results = run(fx);
  await clock.advance(1_000);
  const quota = fx.quota();
  const kinds = (await clock.run(results)).map((error) => FxRatesError.is(error) && error.kind);

  expect(kinds.filter((kind) => kind === 'quota_exhausted')).toHaveLength(50);
  expect(elapsedMs()).toBe(60_000);
  expect(fetch.requests.length).toBeLessThanOrEqual(62); // those of two minutes, and two of quota()
  await expect(clock.run(quota)).resolves.toEqual(exhaustedQuota());
  expect(await clock.left()).toBe(0);
});

test('a backoff ends as soon as the month is used up, and the call is sent with the next key', async () => {
  const replies = [rateLimited('300'), failure(402), success({ EUR: 1 })];
  const keys = [API_KEY];
  const { fx, clock } = testClient(replies, {
    ...{ quota: success(exhaustedQuota()), rateLimit: false, apiKey: () => keys.shift() ?? `${API_KEY}0` },
  });
  const startedAt = clock.now();

  const waiting = fx.latest({ call: 1 });
  await clock.advance(1_000);
  await fx.latest({ call: 2 });

  await expect(clock.run(waiting)).resolves.toEqual({ EUR: 1 });
  expect(clock.now() - startedAt).toBe(1_000);
});
