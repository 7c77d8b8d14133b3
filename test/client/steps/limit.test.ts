import { expect, test } from 'vitest';
import {
  NetworkError,
  type RateLimitError,
  RequestError,
  ServerError,
  TimeoutError,
} from '../../../src/client/errors/errors.ts';
import {
  FxRates,
  type FxRatesError,
  type FxRatesOptions,
  type Middleware,
  type WaitEvent,
} from '../../../src/client/index.ts';
import { endOf } from '../../../src/client/steps/send.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { clientOnMock } from '../../helpers/mock-with-key.ts';
import { failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, type TestClient, testClient } from '../../helpers/test-client.ts';

/** A service that refuses for `refusesForMs` after its first request, and counts earlier requests. */
function closedAtFirst(clock: FakeClock, refusesForMs: number) {
  const startedAt = clock.now();
  let early = -1; // the first one could not know
  const reply: Reply = () => {
    const leftMs = startedAt + refusesForMs - clock.now();
    if (leftMs <= 0) return success();
    early += 1;
    return rateLimited(String(Math.ceil(leftMs / 1000)));
  };
  return { reply, early: () => early };
}

test('after a 429, all clients of the key wait', async () => {
  const clock = new FakeClock();
  const service = closedAtFirst(clock, 30_000);
  const { fx: first } = testClient(service.reply, { clock });
  const { fx: second } = testClient(service.reply, { clock });

  const one = first.latest({ call: 'a' });
  await clock.advance(1000);
  const others = [...differentCalls(second, 10), ...differentCalls(first, 10)];
  await clock.run(Promise.all([one, ...others]));

  expect(service.early()).toBe(0);
  expect(await clock.left()).toBe(0);
});

test('a wait for the limit does not use a retry', async () => {
  const { fx, fetch, clock } = testClient([...Array(5).fill(rateLimited('1')), success({ EUR: 1 })], { maxRetries: 0 });

  const { data, meta } = await clock.run(fx.latest().withMeta());

  expect(data).toEqual({ EUR: 1 });
  expect(fetch.requests).toHaveLength(6);
  expect(meta.attempts.map(({ reason }) => reason)).toEqual(['first', ...Array(5).fill('rate_limited')]);
  expect(meta.attempts.slice(1).every(({ waitedMs }) => waitedMs >= 1000)).toBe(true);
  expect(meta.durationMs).toBe(meta.attempts.reduce((sum, { waitedMs }) => sum + waitedMs, 0));
});

test("with onLimit 'throw', a 429 rejects the call and the calls in the queue immediately", async () => {
  const { fx, fetch, clock } = testClient([rateLimited('7'), success()], {
    ...{ onLimit: 'throw', rateLimit: { maxConcurrent: 1 } },
  });
  const startedAt = clock.now();

  const [refused, behind] = await Promise.all([1, 2].map((call) => errorOf(fx.latest({ call }))));

  const retryAt = new Date(startedAt + 7000);
  expect(refused).toMatchObject({ kind: 'rate_limited', reason: 'policy', retryAfterMs: 7000, retryAt });
  const cause = { message: expect.stringContaining('Too many requests.') };
  expect(refused).toMatchObject({ code: 'rate_limited', status: 429, attempts: [{ status: 429 }], cause });
  expect(behind).toMatchObject({ reason: 'policy', retryAfterMs: 7000, status: undefined, attempts: [] });
  expect(fetch.requests).toHaveLength(1);
  expect(clock.now()).toBe(startedAt);
  expect(await clock.left()).toBe(0);

  await clock.advance(7000);
  await expect(fx.latest({ call: 3 })).resolves.toBeDefined();
});

test('a call whose deadline is too early because requests are in flight has not met the limit', async () => {
  const options = { rateLimit: { perMinute: 1000, maxConcurrent: 2 }, deadlineMs: 1500 };
  const { fx, clock } = testClient(() => clock.sleep(1000).then(() => success()), options);

  const ended = await clock.run(Promise.allSettled(differentCalls(fx, 6)));

  const errors = ended.flatMap((call) => (call.status === 'rejected' ? [call.reason] : []));
  expect(errors).toHaveLength(4);
  for (const error of errors) {
    expect(error).toMatchObject({ kind: 'timeout', scope: 'deadline', limitMs: 1500, attempts: [] });
  }
  expect(errors.map(({ message }) => message)).toContain(
    'The call would not end within 1500 ms (deadlineMs), because requests in flight must end first, or a response takes longer',
  );
});

test('reports a wait once to each waiting client and no other, without the key', async () => {
  const events: WaitEvent[][] = [[], [], []];
  const clock = new FakeClock();
  const { reply } = closedAtFirst(clock, 20_000);
  const clientOf = (list: WaitEvent[]) => testClient(reply, { clock, onWait: (event) => list.push(event) }).fx;
  const [idle, ...clients] = events.toReversed().map(clientOf);
  const until = new Date(clock.now() + 20_000);

  await clock.run(Promise.all(clients.flatMap((client) => differentCalls(client, 5))));
  await idle?.latest();

  const [heard = []] = events;
  expect(heard[0]).toEqual({
    key: 'fx_live_…cdef',
    reason: 'retry_after',
    waitMs: 20_000,
    until,
    waiting: expect.any(Number),
    limits: expect.objectContaining({ reason: 'retry_after', nextSlotAt: until }),
  });
  expect(new Set(heard.map((event) => event.until.getTime())).size).toBe(heard.length);
  expect(events[1]?.[0]).toEqual(heard[0]);
  expect(events[2]).toEqual([]);
});

const coded = (code: string) => Object.assign(new Error('failed'), { code });
/** A middleware for all calls except `quota()`. */
const around = (middleware: Middleware): FxRatesOptions => ({
  middleware: [(request, next) => (request.operation === 'quota' ? next(request) : middleware(request, next))],
});
const bug = Object.assign(new Error('a bug'), { status: 404 });
const limitOfThree = { rateLimit: { perMinute: 3 }, maxRetries: 0, timeoutMs: 1000 } as const;

/** Sends three more calls, and returns how many the limit allows. */
async function sentOfThree({ fx, fetch, clock }: TestClient): Promise<number> {
  const before = fetch.requests.length;
  const calls = differentCalls(fx.withOptions({ middleware: [] }), 3).map((call) => call.catch(() => undefined));
  await clock.advance(100);
  const sent = fetch.requests.length - before;
  await fx.close();
  await Promise.all(calls);
  return sent;
}

test.each<[string, Reply, ofLimit: number, ofQuota: number, FxRatesOptions?]>([
  ['a success', success(), 1, 1],
  ['a success with a broken body', { body: 'no JSON' }, 1, 1],
  ['refused for the rate, which closes the gate,', rateLimited('1'), 3, 0, { onLimit: 'throw' }],
  ['refused for the key', failure(401), 1, 0],
  ['refused with 402', failure(402), 1, 0],
  ['refused with 403', failure(403), 1, 0],
  ['refused with 404', failure(404), 1, 1],
  ['failed by the service', failure(500), 1, 1],
  ['failed by a proxy with 502', failure(502), 1, 1],
  ['failed by a proxy with 503', failure(503), 1, 1],
  ['failed with 504, after it may have reached the service', failure(504), 1, 1],
  ['broken off', coded('ECONNRESET'), 1, 1],
  ['broken off without a code', new Error('reset'), 1, 1],
  ['never sent', coded('ECONNREFUSED'), 0, 0],
  ['never sent, because no connection was made in time', coded('UND_ERR_CONNECT_TIMEOUT'), 0, 0],
  ['never sent, because the host is not known', coded('ENOTFOUND'), 0, 0],
  ['never sent, because the host is not known yet', coded('EAI_AGAIN'), 0, 0],
  ['never sent, because there is no route to the host', coded('EHOSTUNREACH'), 0, 0],
  ['never sent, because the network cannot be reached', coded('ENETUNREACH'), 0, 0],
  ['never sent, because the proxy refused it', coded('PROXY_REFUSED'), 0, 0],
  ['never sent, because the proxy failed', coded('PROXY_FAILED'), 0, 0],
  ['kept back from a wrong certificate', coded('CERT_HAS_EXPIRED'), 0, 0],
  ['without a response in time', 'never', 1, 1],
  ['kept back by an error of a middleware', success(), 0, 0, around(() => Promise.reject(bug))],
  ['kept back by a response of a middleware', success(), 0, 0, around(async () => Response.json(success().body))],
  ['kept back by a middleware that does not end', success(), 0, 0, around(() => new Promise(() => undefined))],
  [
    'kept back from another host',
    success(),
    0,
    0,
    around((sent, next) => next({ ...sent, url: 'https://other.test/' })),
  ],
  [
    'sent before an error of a middleware',
    success(),
    1,
    1,
    around((request, next) => next(request).then(() => Promise.reject(bug))),
  ],
  ['sent twice by a middleware', success(), 1, 1, around((request, next) => next(request).then(() => next(request)))],
])('a request that was %s uses %j of the limit, and counts %j toward the quota', async (...row) => {
  const [, reply, ofLimit, ofQuota, options] = row;
  let quota: Reply = success(quotaRecord({ monthly_used: 900 }));
  const rateLimit = { perMinute: 4 }; // one of them is for quota()
  const client = testClient([reply, success()], { ...limitOfThree, rateLimit, quota: () => quota, ...options });
  await client.fx.quota();
  quota = failure(500); // a new record would replace the count

  await client.clock.run(client.fx.latest({ first: true }).catch(() => undefined));

  expect(client.fx.quotaEstimate()).toMatchObject({ usedSince: ofQuota, remaining: 100 - ofQuota });
  expect(await sentOfThree(client)).toBe(3 - ofLimit);
});

test('an aborted call uses a slot of the limit if its request was sent, and none otherwise', async () => {
  for (let ticks = 0; ticks < 40; ticks += 1) {
    const client = testClient(['never', success()], limitOfThree);
    const controller = new AbortController();
    const call = errorOf(client.fx.latest({ first: true }, { signal: controller.signal }));
    for (let tick = 0; tick < ticks; tick += 1) await undefined;

    controller.abort();
    await call;
    await quiet();
    const used = client.fetch.requests.length;

    expect(await sentOfThree(client)).toBe(used === 0 ? 3 : 2);
  }
});

test.each([
  [500, 'ServerError'],
  [404, 'RequestError'],
])('three responses %i in a row: the service is down only after a 5xx (%s)', async (status, name) => {
  const { fx } = testClient(failure(status), { maxRetries: 0 });

  for (let n = 0; n < 3; n += 1) expect(await errorOf(fx.latest({ n }))).toMatchObject({ name });

  expect(fx.limits()?.service === 'up').toBe(status < 500);
});

test('calls of high priority are sent before the other waiting calls', async () => {
  const { fx, fetch, clock } = testClient(success(), { rateLimit: { maxConcurrent: 1, perMinute: 1000 } });
  const priorities = ['normal', undefined, 'normal', 'high'] as const;

  await clock.run(Promise.all(priorities.map((priority, index) => fx.latest({ n: index + 1 }, { priority }))));

  expect(fetch.requests.map(({ url }) => url.at(-1))).toEqual(['1', '4', '2', '3']);
});

test('without a limiter, a 429 without Retry-After that the call may not wait for has no retryAt', async () => {
  const { fx } = testClient(rateLimited(), { onLimit: 'throw', rateLimit: false });

  const message = expect.stringContaining("rate_limited); the wait is unknown, and onLimit is 'throw'");
  expect(await errorOf(fx.latest())).toMatchObject({ retryAfterMs: undefined, retryAt: undefined, message });
});

const WHOLE_TIMES = [undefined, '1', '1.0005', '0.0001', '1769005201.0005'];

test.each(WHOLE_TIMES)('at the retryAt of a 429 with Retry-After %s, a call is sent', async (retryAfter) => {
  const { fx, clock, fetch } = testClient(rateLimited(retryAfter), { onLimit: 'throw' });

  for (let call = 0; call < 8; call += 1) {
    const { retryAt } = (await errorOf(fx.latest({ call }))) as RateLimitError;
    expect(fx.limits()).toMatchObject({ nextSlotAt: retryAt, gate: { until: retryAt } });
    await clock.advance(Number(retryAt) - clock.now());
  }

  expect(fetch.requests).toHaveLength(8);
});

const TOO_LATE = 'which is too late for the deadline of the call (deadlineMs)';

const down = (retryAfter: string) =>
  failure(503, { code: 'maintenance', headers: { 'retry-after': retryAfter, 'x-request-id': 'r1' } });
const SAID = ': Some text. (HTTP 503, maintenance)';

test.each<[Reply, FxRatesOptions, string]>([
  [down('30'), { onLimit: 'throw' }, `${SAID}; the next attempt is in 30 s, and onLimit is 'throw'`],
  [down('30'), { deadlineMs: 10_000 }, `${SAID}; the next attempt is in 30 s, ${TOO_LATE}`],
  [down('30'), { deadlineMs: 29_999 }, `${SAID}; the next attempt is in 30 s, ${TOO_LATE}`],
  [down('6'), { maxRetryAfterMs: 5_000 }, `${SAID}; the next attempt is in 6 s, which is longer than maxRetryAfterMs`],
  [coded('ECONNRESET'), { deadlineMs: 100 }, ` (ECONNRESET); the next attempt is in 0.6 s, ${TOO_LATE}`],
  [new Error('gone'), { deadlineMs: 100 }, ` (no response); the next attempt is in 0.6 s, ${TOO_LATE}`],
])('if the service is down with %o, a call with %j rejects at once, without retries', async (reply, options, why) => {
  const retries: unknown[] = [];
  const { fx, clock, fetch } = testClient(reply, { ...options, onRetry: (event) => retries.push(event) });
  const failures: FxRatesError[] = [];
  while (fx.limits()?.reason !== 'service') {
    failures.push((await errorOf(fx.latest({ n: failures.length }, { maxRetries: 0 }))) as FxRatesError);
  }
  const before = clock.now();

  const error = await errorOf(fx.latest({ late: true }));

  const { name, status, code, requestId } = failures.at(-1)!;
  const message = `The service is down${why}`;
  expect(error).toMatchObject({ name, status, code, requestId, attempts: [], cause: failures.at(-1), message });
  expect([retries.length, clock.now() - before]).toEqual([0, 0]);
  expect(fetch.requests).toHaveLength(failures.length);
  expect(await clock.left()).toBe(0);
});

test('a waiting call whose response would be too late names its deadline', async () => {
  const slowly = (reply: Reply) => () => clock.sleep(2_000).then(() => reply);
  const { fx, clock } = testClient([slowly(success()), slowly(failure(500))], { maxRetries: 0 });
  await clock.run(fx.latest());
  await clock.run(Promise.allSettled(differentCalls(fx, 3))); // the service is down
  await clock.run(errorOf(fx.latest())); // and the first probe has failed

  const calls = differentCalls(fx, 2, { deadlineMs: 1_000 }).map((call) => errorOf(call));
  const error = (await clock.run(Promise.race(calls))) as Error;

  expect(error.message).toBe(
    `The service is down: Some text. (HTTP 500, some_code); the next attempt is in 0.6 s, ${TOO_LATE}`,
  );
});

test('a quota() that the rate limit always refuses blocks no other call', async () => {
  const { mock, fx } = clientOnMock();
  const headers = { 'retry-after': '20' };
  const match = { operation: 'quota' } as const;
  mock.rules.add({ respond: { status: 429, headers }, counted: false, match });
  const startedAt = mock.clock.now();

  await Promise.all(Array.from({ length: 100 }, (_, n) => fx.latest({ n }, { deadlineMs: false })));

  expect(mock.clock.now() - startedAt).toBeLessThan(15 * 60_000);
  expect(mock.journal.list({ operation: 'quota' }).length).toBeLessThan(10);
});

test.each(['high', 'normal', 'low'] as const)(
  'a quota() of the client outlives no call of priority %s',
  async (priority) => {
    const mock = createMockServer({ clock: 'virtual' });
    const { key } = mock.createKey({ limits: { requests: 3, windowMs: 60_000 } });
    const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });

    await Promise.all(differentCalls(fx, 6, { priority }));

    expect(fx.limits()?.waiting).toBe(0);
    expect(mock.journal.list({ operation: 'quota', status: 200 })).toHaveLength(1);
  },
);

const LATE = new TimeoutError({ scope: 'attempt', limitMs: 1_000 });

test.each<[string, unknown, object]>([
  ['a response that is no refusal', new RequestError('no', { status: 404 }), { kind: 'accepted' }],
  ['no response, because the caller aborted', new Error('aborted'), { kind: 'lost' }],
  ['no connection', new NetworkError('down', { code: 'ECONNREFUSED' }), { wasSent: false, mayHaveUsedSlot: false }],
  ['no response on a connection', new NetworkError('down', { code: 'ECONNRESET' }), { mayHaveUsedSlot: true }],
  ['a proxy without its service', new ServerError('down', { status: 503 }), { wasSent: true, mayHaveUsedSlot: false }],
  ['a failure of the service', new ServerError('down', { status: 500 }), { mayHaveUsedSlot: true, isTimeout: false }],
  ['no response in time', LATE, { kind: 'failed', mayHaveUsedSlot: true, isTimeout: true }],
])('for the limit, a request ends with %s', (_, error, expected) => {
  expect(endOf({ kind: 'failed', error }, { wasTransmitted: true, unit: 'seconds' })).toMatchObject(expected);
  expect(endOf({ kind: 'failed', error }, { wasTransmitted: false, unit: 'seconds' })).toEqual({ kind: 'unused' });
});
