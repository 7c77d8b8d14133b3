import { afterEach, expect, test, vi } from 'vitest';
import { FxRates, type FxRatesOptions, NetworkError, ServerError } from '../../src/client/index.ts';
import { createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';
import { processState } from '../../src/process-state.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { fakeFetch, type Reply } from '../helpers/fake-fetch.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { BASE_URL, differentCalls, errorOf, testClient } from '../helpers/test-client.ts';

/** What a client does without options. Everything is seen from outside: its requests, results, warnings and times. */

const WINDOWS = ['fixed-epoch', 'fixed-first-request', 'sliding-log', 'sliding-counter', 'token-bucket'] as const;
const MINUTE_MS = 60_000;

function service(behaviour: MockServerOptions['behaviour'] = {}, options: FxRatesOptions = {}) {
  const mock = createMockServer({ seed: 7, clock: 'virtual', behaviour });
  const { key } = mock.createKey({ plan: 'free' });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions(), ...options });
  return { mock, fx };
}

/** A client without other options than the connection, and the time of each request. */
function scripted(replies: Reply | readonly Reply[], { quota, ...options }: FxRatesOptions & { quota?: Reply } = {}) {
  const clock = new FakeClock();
  const startedAt = clock.now();
  const times: number[] = [];
  const fetch = fakeFetch(replies, quota === undefined ? {} : { quota });
  const timed = (url: string, init: Parameters<typeof fetch>[1]) => {
    times.push(clock.now() - startedAt);
    return fetch(url, init);
  };
  const fx = new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, clock, fetch: timed, ...options });
  return { fx, clock, times, fetch };
}

/** The largest number of requests in any minute; `times` are in order. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + MINUTE_MS).length));
}

function processWarnings() {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  return () => warn.mock.calls.filter(([, options]) => (options as { code?: string }).code === 'FXRATES_LONG_WAIT');
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('warns once per process when the last waiting call is more than a minute away', async () => {
  processState('warned-codes.1', () => new Set<string>()).clear(); // other test files share the process
  const warnings = processWarnings();
  const { fx } = service();
  await Promise.all(differentCalls(fx, 40));
  expect(warnings()).toEqual([]);

  await Promise.all(differentCalls(service().fx, 100));
  await Promise.all(differentCalls(service().fx, 200));

  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toEqual([
    expect.stringMatching(
      /^\d+ calls of key fx_live_…\w{4} wait for its limit of 30 per minute; the last will be sent in about 3 minutes\. In a request handler, set deadlineMs or onLimit: 'throw'$/,
    ),
    { type: 'FxRatesWarning', code: 'FXRATES_LONG_WAIT' },
  ]);
});

test('warns about one call that waits for longer than a minute, without a limit that is not known', async () => {
  const logged: string[] = [];
  const refused = failure(429, { headers: { 'retry-after': '120' } });
  const { fx, clock: time } = testClient([refused, success()], { logger: { warn: (message) => logged.push(message) } });

  await time.run(fx.latest());

  expect(logged).toEqual([
    expect.stringMatching(/^1 call of key fx_live_…\w{4} waits for its limit; it will be sent in about 2 minutes\./),
  ]);
});

test('the logger of a client receives the warning about long waits instead; batches do not cause it', async () => {
  const warnings = processWarnings();
  const logged: string[] = [];
  const { fx } = service({}, { logger: { warn: (message) => logged.push(message) } });

  for await (const { error } of fx.batch(Array.from({ length: 100 }, (_, n) => ({ n })))) expect(error).toBeUndefined();
  expect(logged).toEqual([]);
  await Promise.all(differentCalls(fx, 100));

  expect(logged).toEqual([expect.stringContaining('the last will be sent in about')]);
  expect(warnings()).toEqual([]);
});

test.each(WINDOWS.flatMap((rateWindow) => [100, 1_000].map((calls) => ({ rateWindow, calls }))))(
  '$calls calls at once all succeed with the defaults ($rateWindow)',
  async ({ rateWindow, calls }) => {
    processWarnings();
    const { fx } = service({ rateWindow });

    const results = await Promise.allSettled(differentCalls(fx, calls));

    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  },
);

test('a call waits for the limit for as long as necessary', async () => {
  const { fx, clock } = scripted([...Array(20).fill(rateLimited('590')), success()]);
  const startedAt = clock.now();

  await clock.run(fx.latest());

  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(20 * 590_000);
});

test('an attempt takes at most 10 s, then it is aborted, and made again twice', async () => {
  const { fx, clock, fetch } = scripted('never');
  const startedAt = clock.now();

  const error = await clock.run(errorOf(fx.latest()));

  expect(error).toMatchObject({ kind: 'timeout', scope: 'attempt', limitMs: 10_000, attempts: [{}, {}, {}] });
  expect(fetch.requests.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  expect(await clock.left()).toBe(0);
  expect(clock.now() - startedAt).toBeLessThan(60_000);
});

test.each([
  ['responses', failure(500, { code: 'broken' }), ServerError],
  ['refused connections', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), NetworkError],
] as const)(
  'calls reject with the last failure once the service has been down for 90 s (%s)',
  async (_, reply, kind) => {
    const { fx, clock } = scripted(reply);
    const startedAt = clock.now();
    const endedAt: number[] = [];
    const calls = differentCalls(fx, 200).map(async (call) => {
      const error = await errorOf(call);
      endedAt.push(clock.now() - startedAt);
      return error;
    });

    const errors = await clock.run(Promise.all(calls));

    expect(errors.every((error) => error instanceof kind)).toBe(true);
    expect((errors.at(-1) as Error).cause).toBeInstanceOf(kind);
    expect(String(errors.at(-1))).toContain('calls wait for an outage of at most 90 s');
    expect(Math.max(...endedAt)).toBeGreaterThanOrEqual(89_000);
    expect(Math.max(...endedAt)).toBeLessThanOrEqual(100_000);
  },
);

test('after an outage of 90 s, a call is rejected or tests the service, and later calls succeed', async () => {
  let isUp = false;
  const { fx, clock } = scripted(() => (isUp ? success() : failure(500)));
  await clock.run(Promise.allSettled(differentCalls(fx, 200)));
  const early = await errorOf(fx.latest());
  expect(early).toMatchObject({ kind: 'server', status: 500, attempts: [] });

  isUp = true;
  await clock.advance(20_000);

  await expect(clock.run(Promise.all(differentCalls(fx, 20)))).resolves.toHaveLength(20);
});

test('calls wait for a 503 with a Retry-After of 80 s', async () => {
  const { fx, clock, times } = scripted([failure(503, { headers: { 'retry-after': '80' } }), success()]);

  await clock.run(Promise.all(differentCalls(fx, 5)));

  expect(times.filter((at) => at > 0 && at < 80_000)).toEqual([]);
});

test('calls reject at once when a 503 asks for more than 90 s', async () => {
  const { fx, clock } = scripted(failure(503, { headers: { 'retry-after': '120' } }));
  const startedAt = clock.now();

  const errors = await clock.run(Promise.all(differentCalls(fx, 30).map(errorOf)));

  expect(errors.every((error) => error instanceof ServerError)).toBe(true);
  expect((errors.at(-1) as Error).cause).toMatchObject({ status: 503 });
  expect(clock.now() - startedAt).toBeLessThan(1_000);
});

test.each([
  ['85', 85_000],
  ['120', 120_000],
  ['300', 300_000],
  ['600', 600_000],
  ['601', undefined],
  ['999', undefined],
  ['61201', undefined],
])('Retry-After: %s is seconds', async (retryAfter, waitMs) => {
  const { fx, clock, times } = scripted([rateLimited(retryAfter), success()]);

  const error = await clock.run(errorOf(fx.latest()).catch(() => undefined));

  expect(times.filter((at) => at < Number(retryAfter) * 1_000)).toEqual([0]);
  if (waitMs !== undefined) expect(times[1]).toBeLessThanOrEqual(waitMs + 1_500);
  else
    expect(error).toMatchObject({
      kind: 'rate_limited',
      reason: 'max_retry_after',
      retryAfterMs: Number(retryAfter) * 1_000,
    });
});

test.each(['1000', '30000', '61200'])(
  'one request decides whether Retry-After: %s is in milliseconds',
  async (value) => {
    const ms = Number(value);
    const closed = (untilMs: number): Reply => {
      return () => (clock.now() - startedAt < untilMs ? rateLimited(value) : success());
    };
    const { fx, clock, times } = scripted(closed(ms));
    const startedAt = clock.now();

    await clock.run(Promise.all(differentCalls(fx, 50)));

    expect(times.filter((at) => at > 0 && at < ms)).toEqual([]);
    expect(times.filter((at) => at >= ms && at < ms + 100).length).toBeGreaterThan(0);
    expect(fx.limits()?.waiting).toBe(0);
  },
);

test.each(['1000', '30000', '61200'])(
  'a refused request shows that Retry-After: %s is in seconds, for good',
  async (value) => {
    const { fx, clock, times } = scripted(rateLimited(value), { maxRetryAfterMs: 90_000_000 });
    const calls = Promise.allSettled(differentCalls(fx, 50));
    const waitMs = 1_000 * Number(value);

    await clock.advance(waitMs - 1);

    const afterFirst = times.filter((at) => at > 0);
    expect(afterFirst).toHaveLength(1);
    expect(afterFirst[0]).toBeLessThanOrEqual(Number(value) + 1_000);
    await fx.close();
    await calls;
  },
);

test('without a queue, Retry-After is always in seconds', async () => {
  const { fx, clock, times } = scripted(rateLimited('30000'), { rateLimit: false });

  const error = await clock.run(errorOf(fx.latest()));

  expect(error).toMatchObject({ reason: 'max_retry_after', retryAfterMs: 30_000_000 });
  expect(times).toEqual([0]);
});

test('perMinute is a cap, also against a service that refuses nothing', async () => {
  const { fx, clock, times } = scripted(success(), { rateLimit: { perMinute: 60 } });

  await clock.run(Promise.all(differentCalls(fx, 500)));

  expect(times).toHaveLength(500);
  expect(mostInAMinute(times)).toBe(60);
});

test.each([
  ...WINDOWS.map((rateWindow) => [rateWindow, 20] as const),
  ['fixed-epoch', 50] as const, // the service grants less, which does not raise the cap
])('perMinute is a cap whatever the service grants (%s, %d)', async (rateWindow, perMinute) => {
  processWarnings();
  const { fx, mock } = service({ rateWindow }, { rateLimit: { perMinute } });

  await Promise.all(differentCalls(fx, 200));

  // A refused request is free.
  const accepted = mock.journal.list().filter(({ status }) => status === 200);
  expect(accepted).toHaveLength(200);
  expect(mostInAMinute(accepted.map(({ at }) => at))).toBeLessThanOrEqual(perMinute);
});

test('asks quota() once when many calls wait, and never for a single one', async () => {
  const asked = (fetch: { readonly requests: readonly { url: string }[] }) =>
    fetch.requests.filter(({ url }) => url.endsWith('/quota')).length;
  const quota = success(quotaRecord({ rate_limit_per_minute: 60 }));
  const single = scripted([rateLimited('5'), rateLimited('5'), success()], { quota });
  for (let call = 0; call < 3; call += 1) await single.clock.run(single.fx.latest());
  const many = scripted(success(), { quota });

  await many.clock.run(Promise.all(differentCalls(many.fx, 50)));

  expect(asked(single.fetch)).toBe(0);
  expect(asked(many.fetch)).toBe(1);
});
