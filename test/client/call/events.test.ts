import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type CallEvent,
  FxRates,
  type FxRatesOptions,
  type QuotaEvent,
  type RequestEvent,
} from '../../../src/client/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { fakeFetch, type Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { BASE_URL, differentCalls, errorOf, type TestClient, testClient } from '../../helpers/test-client.ts';

const warnings: Error[] = [];
const note = (warning: Error) => warnings.push(warning);

beforeEach(() => {
  warnings.length = 0;
  process.on('warning', note);
});

afterEach(() => process.off('warning', note));

test('reports each attempt at its end', async () => {
  const events: RequestEvent[] = [];
  const slow = () => clock.sleep(120).then(() => failure(503, { code: 'down' }));
  const { fx, clock } = testClient([slow, success()], { onRequest: (event) => events.push(event) });

  await clock.run(fx.latest({ base: 'EUR' }));

  const same = {
    operation: 'latest',
    target: '/api/v1/latest?base=EUR',
    callId: expect.any(String),
    key: 'fx_live_…cdef',
    limits: expect.objectContaining({ waiting: 0, inFlight: 1 }),
  };
  expect(events).toEqual([
    { ...same, attempt: 1, reason: 'first', waitedMs: 0, status: 503, code: 'down', durationMs: 120 },
    { ...same, attempt: 2, reason: 'retry', waitedMs: 375, status: 200, code: undefined, durationMs: 0 },
  ]);
});

test('reports an attempt without a response with the kind of its error', async () => {
  const events: RequestEvent[] = [];
  const onRequest = (event: RequestEvent) => events.push(event);
  const { fx, clock } = testClient('never', { onRequest, maxRetries: 0, timeoutMs: 500 });

  await clock.run(errorOf(fx.latest()));
  await clock.run(errorOf(fx.latest({}, { deadlineMs: 100 })));
  await quiet();

  expect(events).toMatchObject([
    { status: undefined, code: 'timeout', durationMs: 500 },
    { status: undefined, code: 'aborted', durationMs: 100 },
  ]);
});

interface Ended {
  readonly events: CallEvent[];
  readonly client: TestClient;
}

function callsOf(replies: Reply | readonly Reply[], options: FxRatesOptions = {}): Ended {
  const events: CallEvent[] = [];
  return { events, client: testClient(replies, { onCall: (event) => events.push(event), ...options }) };
}

const own = { status: 200, code: undefined, waitedMs: 0, reason: 'first' } as const;
const none = { source: undefined, waitedMs: 0, attempts: [] };
const unsent = { ...none, callId: undefined };
const refused = { ...own, status: 401, code: 'some_code' };
const keyless = () => {
  throw new Error('no key');
};

test.each<[string, Reply | readonly Reply[], (fx: FxRates) => Promise<unknown>, Partial<CallEvent>, FxRatesOptions?]>([
  [
    'that succeeds',
    success(),
    (fx) => fx.latest(),
    { operation: 'latest', source: 'network', waitedMs: 0, attempts: [own], error: undefined },
  ],
  [
    'to a path',
    success(),
    (fx) => fx.get('/api/v1/other', { query: { a: 1 } }),
    { operation: '/api/v1/other', source: 'network', attempts: [own] },
  ],
  [
    'that is retried',
    [failure(503, { code: 'down' }), success()],
    (fx) => fx.latest(),
    {
      source: 'network',
      ...{ durationMs: 375, waitedMs: 375 },
      attempts: [
        { ...own, status: 503, code: 'down' },
        { ...own, reason: 'retry', waitedMs: 375 },
      ],
    },
  ],
  [
    'that the service refuses',
    failure(401),
    (fx) => fx.latest(),
    { source: 'network', attempts: [refused], error: { kind: 'authentication' } },
  ],
  [
    'that ends during its first attempt',
    'never',
    (fx) => fx.latest({}, { deadlineMs: 100 }),
    { source: 'network', durationMs: 100, waitedMs: 0, error: { kind: 'timeout' } },
  ],
  [
    'that may not wait for the limit',
    success(),
    (fx) => fx.latest().then(() => fx.latest({}, { onLimit: 'throw' })),
    { ...none, durationMs: 0, error: { kind: 'rate_limited' } },
    { rateLimit: { perMinute: 1 } },
  ],
  [
    'with a wrong option',
    success(),
    (fx) => fx.latest({}, { timeoutMs: -1 }),
    { ...unsent, operation: 'latest', error: { kind: 'config' } },
  ],
  ['with a wrong query', success(), (fx) => fx.latest({ api_key: 'x' }), { ...unsent, error: { kind: 'config' } }],
  ['to a wrong path', success(), (fx) => fx.get('nowhere'), { ...unsent, operation: 'get', error: { kind: 'config' } }],
  [
    'with an aborted signal',
    success(),
    (fx) => fx.latest({}, { signal: AbortSignal.abort() }),
    { ...unsent, error: { kind: 'aborted' } },
  ],
  ['after close()', success(), (fx) => fx.close().then(() => fx.latest()), { ...unsent, error: { kind: 'config' } }],
  ['without a key', success(), (fx) => fx.latest(), { ...none, error: new Error('no key') }, { apiKey: keyless }],
])('reports a call %s', async (_, replies, work, expected, options) => {
  const { events, client } = callsOf(replies, options);

  const result = await client.clock.run(work(client.fx).catch((error: unknown) => error));

  const event = events.at(-1);
  expect(event).toMatchObject(expected);
  expect(event?.error).toBe(expected.error === undefined ? undefined : result);
});

test('reports each caller of a shared request, cached responses and stale ones', async () => {
  const { events, client } = callsOf([success(), success(), rateLimited('99999')], {
    cache: { maxAgeMs: 60_000, staleIfLimitedMs: 3_600_000 },
    quotaGuard: { reserve: 0 },
  });
  const { fx, clock } = client;

  await clock.run(Promise.all([fx.latest(), fx.latest()]));
  await fx.latest();
  await clock.run(clock.sleep(60_000));
  await clock.run(fx.latest());

  expect(events.map(({ source }) => source)).toEqual(['network', 'shared', 'cache', 'stale']);
  expect(events.map(({ attempts }) => attempts.length)).toEqual([1, 1, 0, 1]);
});

test('a caller that joins a call reports at most its own time as waited', async () => {
  const { events, client } = callsOf(success(), { rateLimit: { perMinute: 1 } });
  const { fx, clock } = client;
  await fx.latest({ first: 1 });

  const first = fx.latest();
  await clock.run(clock.sleep(40_000));
  await clock.run(Promise.all([first, fx.latest()]));

  const [, ...waited] = events.map(({ source, durationMs, waitedMs }) => ({ source, durationMs, waitedMs }));
  expect(waited).toEqual([
    { source: 'network', durationMs: 60_000, waitedMs: 60_000 },
    { source: 'shared', durationMs: 20_000, waitedMs: 20_000 },
  ]);
});

test('reports the wait of a call that is aborted in the queue', async () => {
  const { events, client } = callsOf(success(), { rateLimit: { perMinute: 1 } });
  const { fx, clock } = client;
  const controller = new AbortController();
  await fx.latest();

  const waiting = errorOf(fx.latest({}, { signal: controller.signal }));
  await clock.run(clock.sleep(700));
  controller.abort();
  await waiting;

  const waited = { source: undefined, durationMs: 700, waitedMs: 700, error: { kind: 'aborted' } };
  expect(events.at(-1)).toMatchObject(waited);
});

test('the log has the fields of the events, except on the console', async () => {
  const entries: unknown[][] = [];
  const events: unknown[] = [];
  const log = (...entry: unknown[]) => void entries.push(entry);
  const note = (event: unknown) => void events.push(event);
  const options: FxRatesOptions = { onCall: note, onRequest: note, onRetry: note, onWait: note, logLevel: 'debug' };
  const replies = [failure(503), rateLimited('2'), success()];
  const { fx, clock } = testClient(replies, {
    ...options,
    apiKey: 'odd',
    logger: { warn: log, info: log, debug: log },
  });
  const ofConsole: unknown[][] = [];
  const debug = vi.spyOn(console, 'debug').mockImplementation((...entry) => void ofConsole.push(entry));

  await clock.run(fx.latest());
  await testClient(success(), { logger: console, logLevel: 'debug' }).fx.latest();
  debug.mockRestore();

  const [warning, ...others] = entries;
  expect(warning).toEqual([expect.stringContaining('…'), { summary: warning?.[0] }]);
  expect(others.map(([, fields]) => fields)).toEqual(events);
  expect(ofConsole.map(({ length }) => length)).toEqual([1, 1]);
});

test('reports each response of quota(), and why the client called it', async () => {
  const events: QuotaEvent[] = [];
  const options = { quota: success(quotaRecord()), onQuota: (event: QuotaEvent) => events.push(event) };
  const refused = testClient(failure(402), options);
  const guarded = testClient(success(), { ...options, quotaGuard: { reserve: 10 } });
  const limited = testClient([...Array(3).fill(rateLimited('30')), success()], options);

  await refused.fx.quota();
  await refused.clock.run(errorOf(refused.fx.latest()));
  await guarded.clock.run(guarded.fx.latest());
  await limited.clock.run(Promise.all(differentCalls(limited.fx, 3)));

  const shown = { key: 'fx_live_…cdef', quota: quotaRecord(), limits: expect.objectContaining({ service: 'up' }) };
  const reasons = ['call', 'refusal', 'refresh', 'limit'];
  expect(events).toEqual(reasons.map((reason) => ({ ...shown, reason })));
});

test.each([
  [
    'throws',
    (error: Error): unknown => {
      throw error;
    },
  ],
  ['rejects', (error: Error): unknown => Promise.reject(error)],
  [
    'returns a thenable that rejects',
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library
    (error: Error): unknown => ({ then: (_: unknown, no: (e: Error) => void) => no(error) }),
  ],
])('a hook or logger that %s causes one warning and affects neither call nor process', async (_, fail) => {
  const broken = (name: string) => () => fail(new Error(name)) as undefined;
  const { fx, clock } = testClient([failure(503), rateLimited('20'), success({ EUR: 1 })], {
    apiKey: async () => 'not-of-the-documented-form',
    quota: success(quotaRecord()),
    onCall: broken('onCall'),
    onRequest: broken('onRequest'),
    onRetry: broken('onRetry'),
    onWait: broken('onWait'),
    onQuota: broken('onQuota'),
    quotaGuard: { reserve: 1e6, onLow: broken('onLow') },
    logger: { warn: broken('logger'), info: broken('info'), debug: broken('debug') },
    logLevel: 'debug',
  });
  const onProgress = broken('onProgress');

  await fx.quota();
  await expect(clock.run(fx.latest({}, { priority: 'high' }))).resolves.toEqual({ EUR: 1 });
  for await (const { value } of fx.batch([{}], { priority: 'high', onProgress })) expect(value).toEqual({ EUR: 1 });
  await quiet();

  const details = warnings.map((warning) => (warning as { detail?: string }).detail?.split('\n')[0]);
  expect(details.toSorted()).toEqual(
    [
      ...['debug', 'info', 'logger', 'onCall', 'onLow', 'onProgress'],
      ...['onQuota', 'onRequest', 'onRetry', 'onWait'],
    ].map((name) => `Error: ${name}`),
  );
  expect(new Set(warnings.map(({ name }) => name))).toEqual(new Set(['FxRatesWarning']));
});

test('times in events and attempts are whole milliseconds', async () => {
  const seen: number[] = [];
  let chance = 0;
  const { fx, clock } = testClient([failure(503), rateLimited('2'), rateLimited('1.3337'), success()], {
    quota: success(quotaRecord()),
    onRequest: ({ waitedMs, durationMs }) => seen.push(waitedMs, durationMs),
    onRetry: ({ waitMs }) => seen.push(waitMs),
    onWait: ({ waitMs }) => seen.push(waitMs),
  });
  clock.random = () => (chance = (chance + 0.123457) % 1);

  const { meta } = await clock.run(fx.latest().withMeta());

  seen.push(...meta.attempts.map(({ waitedMs }) => waitedMs), meta.durationMs);
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.filter((ms) => !Number.isInteger(ms))).toEqual([]);
});

const logged = async (logLevel?: 'warn' | 'info' | 'debug') => {
  const lines: string[] = [];
  const log = (level: string) => (message: string) => lines.push(`${level}: ${message}`);
  const { fx, clock } = testClient([failure(503, { code: 'down' }), rateLimited('2'), success()], {
    logger: { warn: log('warn'), info: log('info'), debug: log('debug') },
    logLevel,
  });
  await clock.run(fx.latest({ base: 'EUR' }));
  return lines;
};

test('logs waits and retries at level info, attempts at level debug, none by default', async () => {
  const [waits, all] = [await logged('info'), await logged('debug')];

  expect(await logged()).toEqual([]);
  expect(waits).toEqual([
    'info: GET /api/v1/latest?base=EUR failed (503): retry 1 in 375 ms',
    expect.stringMatching(/^info: 1 call of fx_live_…cdef waits \d+ ms: the service refused a request \(429\)$/),
  ]);
  expect(all.filter((line) => line.startsWith('debug'))).toEqual([
    'debug: GET /api/v1/latest?base=EUR with fx_live_…cdef: 503 down in 0 ms',
    'debug: GET /api/v1/latest?base=EUR with fx_live_…cdef: 429 rate_limited in 0 ms, attempt 2 (retry), waited 375 ms',
    expect.stringMatching(/200 in 0 ms, attempt 3 \(rate_limited\), waited \d+ ms$/),
    expect.stringMatching(/^debug: latest: network in (\d+) ms, of which it waited \1 ms$/),
  ]);
});

test('a level that the logger has no function for is not logged, and the program may change its options', async () => {
  const lines: string[] = [];
  const logger = { warn: (line: string) => lines.push(line), info: true, debug: undefined };
  const options = { baseUrl: BASE_URL, apiKey: API_KEY, fetch: fakeFetch(success()), logLevel: 'debug', logger };
  const fx = new FxRates(options as object);
  Object.assign(options, { onCall: () => lines.push('of another client') });

  await fx.latest();

  expect(lines).toEqual([]);
});

test('without a logger, logLevel logs to the console, one short line per event', async () => {
  const lines: unknown[][] = [];
  for (const method of ['debug', 'warn'] as const)
    vi.spyOn(console, method).mockImplementation((...line) => void lines.push([method, ...line]));
  const { fx } = testClient(success(), { logger: undefined, logLevel: 'debug', apiKey: 'not-of-the-documented-form' });

  await fx.latest({ base: 'EUR' });

  expect(lines).toEqual([
    ['warn', expect.stringMatching(/^fxrates: The key …form does not have the documented form /)],
    ['debug', 'fxrates: GET /api/v1/latest?base=EUR with …form: 200 in 0 ms'],
    ['debug', 'fxrates: latest: network in 0 ms'],
  ]);
});
