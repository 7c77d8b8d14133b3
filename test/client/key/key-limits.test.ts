import { expect, test } from 'vitest';
import type { RequestEvent, RetryEvent, WaitEvent } from '../../../src/client/index.ts';
import { RetryAfterUnitTracker } from '../../../src/client/key/key-limits.ts';
import { quiet } from '../../helpers/fake-clock.ts';
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
  const { fx } = testClient('never', { rateLimit: { maxConcurrent: 2, perMinute: 30 } });
  const controller = new AbortController();
  const calls = differentCalls(fx, 5, { signal: controller.signal }).map((call) => errorOf(call));
  await quiet();

  expect(fx.limits()).toMatchObject({ reason: 'in_flight', inFlight: 2, waiting: 3 });

  controller.abort();
  await Promise.all(calls);
});

test('while the service is down, calls wait for it', async () => {
  const { fx, clock } = testClient(failure(503), { maxRetries: 0 });
  for (let call = 0; call < 20; call += 1) await clock.run(errorOf(fx.latest({ call })));

  expect(fx.limits()).toMatchObject({ reason: 'service', service: { downUntil: expect.any(Date) } });
});

test.each([
  [60, 'x'.repeat(60)],
  [61, `${'x'.repeat(60)}…`],
])('a warning of an invalid Retry-After with %i characters shows at most 60', (length, shown) => {
  const warnings: string[] = [];
  const tracker = new RetryAfterUnitTracker('fx_live_…cdef');
  const reading = { waitMs: undefined, unit: 'seconds', evidence: 'assumed' } as const;

  tracker.saw(
    reading,
    { form: 'invalid', text: 'x'.repeat(length) },
    { warnOnce: (message) => warnings.push(message) },
  );

  expect(warnings).toEqual([`Key fx_live_…cdef: Retry-After '${shown}' is neither a number nor an HTTP date; ignored`]);
});

test('a hundred callers of a shared request cause one event per retry, wait and attempt', async () => {
  const told: Record<string, (RequestEvent | RetryEvent | WaitEvent)[]> = { request: [], retry: [], wait: [] };
  const { fx, clock } = testClient([failure(503), rateLimited('20'), success()], {
    onRequest: (event) => told['request']?.push(event),
    onRetry: (event) => told['retry']?.push(event),
    onWait: (event) => told['wait']?.push(event),
  });

  await clock.run(Promise.all(Array.from({ length: 100 }, () => fx.latest())));

  expect(told['request']).toMatchObject([
    { attempt: 1, reason: 'first' },
    { attempt: 2, reason: 'retry' },
    { attempt: 3, reason: 'rate_limited', waitedMs: 20_000 },
  ]);
  expect(told['retry']).toHaveLength(1);
  expect(told['wait']).toMatchObject([{ reason: 'retry_after', waiting: 1, limits: { waiting: 1 } }]);
});
