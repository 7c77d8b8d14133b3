import { afterEach, beforeEach, expect, test } from 'vitest';
import type { QuotaEvent, RequestEvent } from '../../../src/client/index.ts';
import { runScript } from '../../helpers/child-program.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../../helpers/test-client.ts';

const warnings: Error[] = [];
const note = (warning: Error) => warnings.push(warning);

beforeEach(() => {
  warnings.length = 0;
  process.on('warning', note);
});

afterEach(() => process.off('warning', note));

test('reports each attempt at its end', async () => {
  const events: RequestEvent[] = [];
  const { fx, clock } = testClient(
    [
      async () => {
        await clock.sleep(120);
        return failure(503, { code: 'down' });
      },
      success(),
    ],
    { onRequest: (event) => events.push(event) },
  );

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
  const { fx, clock } = testClient('never', {
    onRequest: (event) => events.push(event),
    maxRetries: 0,
    timeoutMs: 500,
  });

  await clock.run(errorOf(fx.latest()));
  await clock.run(errorOf(fx.latest({}, { deadlineMs: 100 })));
  await quiet();

  expect(events).toMatchObject([
    { status: undefined, code: 'timeout', durationMs: 500 },
    { status: undefined, code: 'aborted', durationMs: 100 },
  ]);
});

test('reports each response of quota()', async () => {
  const events: QuotaEvent[] = [];
  const { fx, clock } = testClient(failure(402), {
    quota: success(quotaRecord()),
    onQuota: (event) => events.push(event),
  });

  await fx.quota();
  await clock.run(errorOf(fx.latest()));

  const same = { key: 'fx_live_…cdef', quota: quotaRecord(), limits: expect.objectContaining({ waiting: 0 }) };
  expect(events).toEqual([
    { ...same, reason: 'call' },
    { ...same, reason: 'refusal' },
  ]);
});

test('reports why the client itself called quota()', async () => {
  const reasons: QuotaEvent['reason'][] = [];
  const options = { quota: success(quotaRecord()), onQuota: ({ reason }: QuotaEvent) => reasons.push(reason) };
  const guarded = testClient(success(), { ...options, quotaGuard: { reserve: 10 } });
  const limited = testClient([...Array(3).fill(rateLimited('30')), success()], options);

  await guarded.clock.run(guarded.fx.latest());
  await limited.clock.run(Promise.all(differentCalls(limited.fx, 3)));

  expect(reasons).toEqual(['refresh', 'limit']);
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
    [...['debug', 'info', 'logger', 'onLow', 'onProgress'], ...['onQuota', 'onRequest', 'onRetry', 'onWait']].map(
      (name) => `Error: ${name}`,
    ),
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

test('logs waits and retries at level info, each attempt at level debug, and none of them by default', async () => {
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
  ]);
});

test('without a logger, logLevel logs to the console, one short line per event', async () => {
  const { stdout, stderr } = await runScript(`
    import { FxRates } from './src/client/index.ts';
    const fetch = async () => new Response('{"success":true,"data":{}}');
    const apiKey = 'not-of-the-documented-form';
    const fx = new FxRates({ baseUrl: 'https://fx.test', fetch, logLevel: 'debug', apiKey });
    await fx.latest({ base: 'EUR' });
  `);

  expect(stdout).toMatch(/^fxrates: GET \/api\/v1\/latest\?base=EUR with …form: 200 in \d+ ms\n$/);
  expect(stderr).toMatch(/^fxrates: The key …form does not have the documented form .*\n$/);
});
