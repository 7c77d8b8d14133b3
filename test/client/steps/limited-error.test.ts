import { expect, test } from 'vitest';
import { NetworkError, ServerError } from '../../../src/client/index.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { failure, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../../helpers/test-client.ts';

test('a 429 without Retry-After that the call may not wait for has no retryAt', async () => {
  const { fx } = testClient(rateLimited(), { onLimit: 'throw' });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({ reason: 'policy', retryAfterMs: undefined, retryAt: undefined });
  expect(String(error)).toContain("is reached; the wait is unknown, and onLimit is 'throw'");
});

test('while the service is down, a call with a short deadline rejects with the last 5xx, without a request', async () => {
  const down = failure(503, { code: 'maintenance', headers: { 'retry-after': '30', 'x-request-id': 'r1' } });
  const { fx, fetch } = testClient(down, { maxRetries: 0 });
  const failed = await errorOf(fx.latest({ call: 1 }));

  const error = await errorOf(fx.latest({ call: 2 }, { deadlineMs: 10_000 }));

  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status: 503, code: 'maintenance', requestId: 'r1', attempts: [], cause: failed });
  expect((error as Error).message).toBe(
    'The service is down (503); the next attempt is in 30 s, which is too late for the deadline of the call (deadlineMs)',
  );
  expect(fetch.requests).toHaveLength(1);
});

test.each([
  [{ onLimit: 'throw' }, '30', "in 30 s, and onLimit is 'throw'"],
  [{ deadlineMs: false, maxRetryAfterMs: 5_000 }, '6', 'in 6 s, which is longer than maxRetryAfterMs'],
] as const)(
  'while the service is down, the error of a call with %j says why it does not wait',
  async (options, retryAfter, why) => {
    const down = failure(503, { headers: { 'retry-after': retryAfter } });
    const { fx } = testClient(down, { maxRetries: 0, ...options });
    await errorOf(fx.latest({ call: 1 }));

    const error = await errorOf(fx.latest({ call: 2 }));

    expect((error as Error).message).toBe(`The service is down (503); the next attempt is ${why}`);
  },
);

test('a waiting call whose response would be after its deadline names the deadline, not maxRetryAfterMs', async () => {
  const slowly = (reply: Reply) => async (): Promise<Reply> => {
    await clock.sleep(2_000);
    return reply;
  };
  const { fx, clock } = testClient([slowly(success()), slowly(failure(500))], { maxRetries: 0 });
  await clock.run(fx.latest());
  await clock.run(Promise.allSettled(differentCalls(fx, 3))); // the service is down

  const calls = differentCalls(fx, 2, { deadlineMs: 1_000 }).map((call) => errorOf(call));
  const error = (await clock.run(Promise.race(calls))) as Error;

  expect(error.message).toBe(
    'The service is down (500); the next attempt is in 0.4 s, which is too late for the deadline of the call (deadlineMs)',
  );
});

test.each([
  ['a code', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 'ECONNRESET'],
  ['no code', new Error('gone'), 'no response'],
])('while no response arrives (%s), a call with a short deadline rejects with NetworkError', async (_, reply, why) => {
  const { fx, fetch, clock } = testClient(reply, { maxRetries: 0 });
  for (let n = 0; n < 3; n += 1) await errorOf(fx.latest({ n }));

  const error = await errorOf(fx.latest({ late: true }, { deadlineMs: 100 }));

  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({ status: undefined, attempts: [], cause: { kind: 'network' } });
  expect((error as Error).message).toMatch(
    new RegExp(
      `^The service is down \\(${why}\\); the next attempt is in 0\\.\\d s, which is too late for the deadline `,
    ),
  );
  expect(fetch.requests).toHaveLength(3);
  expect(await clock.left()).toBe(0);
});

test.each([
  ["onLimit: 'throw'", { onLimit: 'throw' }],
  ['a deadline before the next attempt', { deadlineMs: 10_000 }],
] as const)('while the service is down, a call with %s rejects at once, without retries', async (_, options) => {
  const retries: unknown[] = [];
  const down = failure(503, { headers: { 'retry-after': '30' } });
  const { fx, clock } = testClient(down, { onRetry: (event) => retries.push(event) });
  await errorOf(fx.latest({ call: 1 }, { maxRetries: 0 }));
  const before = clock.now();

  const error = await errorOf(fx.latest({ call: 2 }, options));

  expect(error).toMatchObject({ kind: 'server', status: 503, attempts: [] });
  expect([retries.length, clock.now() - before]).toEqual([0, 0]);
});

test('the error of a call that would be late by its round trip names the deadline', async () => {
  const down = failure(503, { headers: { 'retry-after': '30' } });
  const { fx } = testClient(down, { maxRetries: 0 });
  await errorOf(fx.latest({ call: 1 }));

  const error = await errorOf(fx.latest({ call: 2 }, { deadlineMs: 29_999 }));

  expect((error as Error).message).toContain('which is too late for the deadline of the call');
});
