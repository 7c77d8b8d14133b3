import { expect, test } from 'vitest';
import type { FxRatesOptions, RateLimitError } from '../../../src/client/index.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { failure, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../../helpers/test-client.ts';

test('with a free slot, there is no reason to wait', async () => {
  const { fx, clock } = testClient(success());
  await fx.latest();

  expect(fx.limits()).toEqual({
    gate: 'open',
    service: 'up',
    waiting: 0,
    inFlight: 0,
    maxConcurrent: 16,
    perMinute: undefined,
    window: 'unknown',
    nextSlotAt: new Date(clock.now()),
    reason: undefined,
  });
});

test('after a refusal calls wait for Retry-After', async () => {
  const { fx, clock } = testClient([...Array(3).fill(rateLimited('30')), success()]);
  const calls = Promise.all(differentCalls(fx, 3));
  await clock.advance(1000);

  // The three calls, and the client's own question for the limit per minute.
  expect(fx.limits()).toMatchObject({ reason: 'retry_after', waiting: 4, nextSlotAt: new Date(clock.now() + 29_000) });

  await clock.run(calls);
});

test('with a used-up window, calls wait for the next slot', async () => {
  const { fx, clock } = testClient(success(), { rateLimit: { perMinute: 2 } });
  const calls = Promise.all(differentCalls(fx, 5));
  await clock.advance(60_000);

  expect(fx.limits()).toMatchObject({ reason: 'window', waiting: 1, nextSlotAt: new Date(clock.now() + 60_000) });

  await clock.run(calls);
});

test('with maxConcurrent requests in flight, calls wait for a response', async () => {
  const { fx, fetch } = testClient('never', { rateLimit: { maxConcurrent: 2, perMinute: 30 } });
  const controller = new AbortController();
  const start = (calls: number) =>
    differentCalls(fx, calls, { signal: controller.signal }).map((call) => errorOf(call));
  const calls = start(2);
  await quiet();
  expect(fx.limits()).toMatchObject({ reason: 'in_flight', inFlight: 2, waiting: 0 });
  calls.push(...start(5));
  await quiet();

  expect(fx.limits()).toMatchObject({ reason: 'in_flight', inFlight: 2, waiting: 3 });
  expect(fetch.requests).toHaveLength(2);

  controller.abort();
  await Promise.all(calls);
});

test('while the service is down, calls wait for it', async () => {
  const lines: string[] = [];
  const logger = { warn() {}, info: (line: string) => lines.push(line) };
  const replies = [failure(503, { headers: { 'retry-after': '30' } }), success()];
  const { fx, clock } = testClient(replies, { maxRetries: 0, logger, logLevel: 'info' });
  await clock.run(errorOf(fx.latest()));

  expect(fx.limits()).toMatchObject({ reason: 'service', service: { downUntil: expect.any(Date) } });

  await clock.run(fx.latest());
  expect(lines).toEqual(['1 call of fx_live_…cdef waits 30000 ms: the service is down']);
});

const TRIED = 'Retry-After 30000 is read in milliseconds, because of its value and the responses so far';
const ways: [string, FxRatesOptions][] = [
  ['with a queue', {}],
  ['without one', { rateLimit: false }],
];

test('a Retry-After too long for seconds is tried as milliseconds, with one warning', async () => {
  const script = [rateLimited('30000'), success(), rateLimited('5000'), success(), rateLimited('9000'), success()];
  const { fx, clock, warnings } = testClient(script);
  const startedAt = clock.now();

  await clock.run(fx.latest({ call: 1 }));
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(30_000);
  expect(clock.now() - startedAt).toBeLessThanOrEqual(31_000);
  await clock.run(fx.latest({ call: 2 }));
  await clock.advance(60_000);
  await clock.run(fx.latest({ call: 3 }));

  expect(warnings).toEqual([`Key fx_live_…cdef: ${TRIED}; if you know the unit, set retryAfterUnit`]);
});

test('a Retry-After refused again after the trial is in seconds, with a warning', async () => {
  const clock = new FakeClock();
  const { fx, warnings } = testClient([closedFor(3_000_000, { clock, unitMs: 1000 })], { clock });

  const error = await clock.run(errorOf(fx.latest()));

  expect(error).toMatchObject({ reason: 'max_retry_after' });
  expect((error as RateLimitError).retryAfterMs).toBeGreaterThan(2_990_000);
  expect(String(error)).toMatch(/is read in seconds, because of its value and the responses so far; .*retryAfterUnit/);
  expect(warnings.map((text) => /read in (\w+)/.exec(text)?.[1])).toEqual(['milliseconds', 'seconds']);
});

/** A service that refuses for so long, and says how much of that is left. */
function closedFor(ms: number, { clock, unitMs }: { readonly clock: FakeClock; readonly unitMs: number }): Reply {
  const endsAt = clock.now() + ms;
  return () => (clock.now() < endsAt ? rateLimited(String(Math.ceil((endsAt - clock.now()) / unitMs))) : success());
}

test('two clients of a key warn once in total; the error of a rejected call says why, too', async () => {
  const clock = new FakeClock();
  const { fx, fetch, warnings } = testClient([closedFor(30_000, { clock, unitMs: 1 })], { clock });
  const other = testClient([], { clock, fetch });
  const patient = [...differentCalls(fx, 10), ...differentCalls(other.fx, 10)];
  await clock.advance(1_000);

  const hasty = await errorOf(fx.latest({ hasty: true }, { deadlineMs: 5_000 }));
  await clock.run(Promise.all(patient));

  expect(hasty).toMatchObject({ reason: 'deadline', status: undefined, message: expect.stringContaining(TRIED) });
  expect(fetch.requests.length).toBeGreaterThan(21);
  expect([...warnings, ...other.warnings]).toHaveLength(1);
});

test.each<[string, FxRatesOptions, string | undefined, number | undefined]>([
  ['whole seconds', {}, '20', 20_000],
  ['a set unit', { retryAfterUnit: 'milliseconds' }, '30000', 30_000],
  ['seconds, without a queue,', { rateLimit: false }, '5000', 5_000_000],
  ['a decimal', {}, '20.5', 20_500],
  ['no header', {}, undefined, 1_000],
  ['no header, without a queue,', { rateLimit: false }, undefined, undefined],
])('does not warn of %s', async (_, options, retryAfter, retryAfterMs) => {
  const { fx, warnings } = testClient([rateLimited(retryAfter)], options);

  const error = (await errorOf(fx.latest({}, { onLimit: 'throw' }))) as RateLimitError;

  expect(error.retryAfterMs).toBe(retryAfterMs);
  expect(error.message).toMatch(/and onLimit is 'throw'$/);
  expect(warnings).toEqual([]);
});

test.each<[string, FxRatesOptions, readonly Reply[]]>([
  ['the unit that the program sets', { retryAfterUnit: 'milliseconds' }, [success()]],
  ['that unit, without a queue,', { retryAfterUnit: 'milliseconds', rateLimit: false }, [success()]],
  ['a confirmed unit', {}, [rateLimited('30000'), success()]],
])('%s is also that of a 503', async (_, options, first) => {
  const unavailable = failure(503, { headers: { 'retry-after': '5000' } });
  const { fx, clock } = testClient([...first, unavailable, success()], options);
  await clock.run(fx.latest({ call: 1 }));
  const startedAt = clock.now();

  await clock.run(fx.latest({ call: 2 }));

  expect(clock.now() - startedAt).toBe(5000);
});

test.each(ways)('%s, a unit on trial is not that of a 503', async (_, options) => {
  const unavailable = failure(503, { headers: { 'retry-after': '60' } });
  const { fx, clock } = testClient([rateLimited('30000'), unavailable, success()], { deadlineMs: false, ...options });
  await errorOf(fx.latest({ call: 1 }, { onLimit: 'throw' }));
  const startedAt = clock.now();

  await clock.run(fx.latest({ call: 2 }));

  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(60_000);
});

test.each(ways)('%s, an invalid Retry-After causes one warning per key, with its beginning', async (...way) => {
  const [, options] = way;
  for (const [text, shown] of [
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
  ]) {
    const { fx, clock, warnings } = testClient([rateLimited(text), rateLimited('later'), success()], options);

    await clock.run(fx.latest());

    expect(warnings).toEqual([
      `Key fx_live_…cdef: Retry-After '${shown}' is neither a number nor an HTTP date; ignored`,
    ]);
  }
});
