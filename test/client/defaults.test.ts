import { afterEach, expect, test, vi } from 'vitest';
import { NetworkError, ServerError } from '../../src/client/index.ts';
import { processState } from '../../src/process-state.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { clientOnMock } from '../helpers/mock-with-key.ts';
import { failure, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../helpers/test-client.ts';

/** What a client does without options. Everything is seen from outside: its requests, results, warnings and times. */

const WINDOWS = ['fixed-epoch', 'fixed-first-request', 'sliding-log', 'sliding-counter', 'token-bucket'] as const;

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
  const { fx } = clientOnMock();
  await Promise.all(differentCalls(fx, 40));
  expect(warnings()).toEqual([]);

  await Promise.all(differentCalls(clientOnMock().fx, 100));
  await Promise.all(differentCalls(clientOnMock().fx, 200));

  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toEqual([
    expect.stringMatching(
      /^\d+ calls of key fx_live_…\w{4} wait for its limit of 30 per minute; the last will be sent in about 3 minutes; in a request handler, set deadlineMs or onLimit: 'throw'$/,
    ),
    { type: 'FxRatesWarning', code: 'FXRATES_LONG_WAIT' },
  ]);
});

test.each([
  ['61', '61 s'],
  ['120', '2 minutes'],
  ['130', '2 minutes'],
])('the warning about a call that waits for %s s names only known limits, and %s', async (retryAfter, time) => {
  const { fx, clock, warnings } = testClient([rateLimited(retryAfter), success()]);

  await clock.run(fx.latest());

  expect(warnings).toEqual([
    expect.stringMatching(
      new RegExp(`^1 call of key fx_live_…\\w{4} waits for its limit; it will be sent in about ${time}; `),
    ),
  ]);
});

test('the warning has what the service said in its last refusal, if that had another code', async () => {
  const fairUse = failure(429, { code: 'fair_use', message: 'Used up.', headers: { 'retry-after': '300' } });
  const { fx, clock, warnings } = testClient([fairUse, success(quotaRecord({ monthly_limit: null })), success()]);

  await clock.run(fx.latest());

  expect(warnings).toEqual([
    expect.stringContaining(
      'in about 5 minutes; the last refusal of the service: Used up. (HTTP 429, fair_use); in a request handler, set',
    ),
  ]);
});

test('the logger of a client receives the warning about long waits; batches cause none', async () => {
  const warnings = processWarnings();
  const logged: string[] = [];
  const { fx } = clientOnMock({ client: { logger: { warn: (message) => logged.push(message) } } });

  for await (const { error } of fx.batch(Array.from({ length: 100 }, (_, n) => ({ n })))) expect(error).toBeUndefined();
  expect(logged).toEqual([]);
  await Promise.all(differentCalls(fx, 100));

  expect(logged).toEqual([expect.stringContaining('the last will be sent in about')]);
  expect(warnings()).toEqual([]);
});

test.each([
  ...WINDOWS.map((rateWindow) => ({ rateWindow, calls: 100 })),
  ...WINDOWS.slice(0, inLongRuns(undefined, 1)).map((rateWindow) => ({ rateWindow, calls: 1_000 })),
])('$calls calls at once all succeed with the defaults ($rateWindow)', async ({ rateWindow, calls }) => {
  processWarnings();
  const { fx } = clientOnMock({ behaviour: { rateWindow } });

  const results = await Promise.allSettled(differentCalls(fx, calls));

  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
});

test.each([
  ['responses', failure(500, { code: 'broken' }), ServerError],
  ['refused connections', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), NetworkError],
] as const)(
  'calls reject with the last failure once the service has been down for 90 s (%s)',
  async (_, reply, kind) => {
    const { fx, clock } = testClient(reply);
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
