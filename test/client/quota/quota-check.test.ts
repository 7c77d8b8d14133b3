import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/client/cancellation.ts';
import { SteadyTime } from '../../../src/client/clock.ts';
import {
  NetworkError,
  type QuotaData,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
} from '../../../src/client/index.ts';
import { ExhaustedLatch, LimitLookup, QuotaCheck } from '../../../src/client/quota/quota-check.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { exhaustedQuota, quotaRecord } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

test('stops no call before a refusal', () => {
  const stop = new ExhaustedLatch(new FakeClock());

  stop.sawQuota(exhaustedQuota());

  expect(() => stop.check()).not.toThrow();
});

test('stops calls for a minute after a refusal', async () => {
  const clock = new FakeClock();
  const stop = new ExhaustedLatch(clock);

  stop.refused(exhaustedQuota());

  const error = await errorOf(() => stop.check());
  expect(error).toMatchObject({ kind: 'quota_exhausted', local: true, quota: exhaustedQuota() });
  expect(() => stop.check()).toThrow('used up: 1000 of 1000 requests, resets at 2026-02-01T00:00:00.000Z; not sent');
  await clock.advance(59_999);
  expect(() => stop.check()).toThrow(QuotaExhaustedError);
  await clock.advance(1);
  expect(() => stop.check()).not.toThrow();
});

test('ends with the quota period', async () => {
  const clock = new FakeClock(Date.parse('2026-01-31T23:59:50.000Z'));
  const stop = new ExhaustedLatch(clock);
  stop.refused(exhaustedQuota());

  await clock.advance(10_000);

  expect(() => stop.check()).not.toThrow();
});

test('ends when a record has requests left', () => {
  const stop = new ExhaustedLatch(new FakeClock());
  stop.refused(exhaustedQuota());

  stop.sawQuota(quotaRecord({ plan: 'developer', monthly_limit: 100_000 }));

  expect(() => stop.check()).not.toThrow();
});

test('does not end when a record has no requests left', () => {
  const stop = new ExhaustedLatch(new FakeClock());
  stop.refused(exhaustedQuota());

  stop.sawQuota(exhaustedQuota());

  expect(() => stop.check()).toThrow(QuotaExhaustedError);
});

test('ends when the service refuses the key itself', () => {
  const stop = new ExhaustedLatch(new FakeClock());
  stop.refused(exhaustedQuota());

  stop.keyRefused();

  expect(() => stop.check()).not.toThrow();
});

test('does not stop calls for an hour if the clock is set back by an hour', () => {
  const clock = new FakeClock();
  const stop = new ExhaustedLatch(clock);
  stop.refused(exhaustedQuota());

  clock.set(-3_600_000);

  expect(() => stop.check()).not.toThrow();
});

/** A check whose calls are counted and return `responses` in order. */
function setUp(...responses: (QuotaData | Error)[]) {
  const clock = new FakeClock();
  const check = new QuotaCheck(clock);
  let asked = 0;
  const load = async () => {
    asked += 1;
    const response = responses.shift();
    if (response === undefined || response instanceof Error) throw response ?? new Error('asked too often');
    return response;
  };
  const signal = new Cancellation();
  return { clock, ask: () => check.check(load, signal), asked: () => asked };
}

test('simultaneous refusals call quota() once', async () => {
  const quota = quotaRecord();
  const { ask, asked } = setUp(quota);

  const responses = await Promise.all(Array.from({ length: 50 }, ask));

  expect(new Set(responses)).toEqual(new Set([quota]));
  expect(asked()).toBe(1);
});

test('a refusal within the next second uses the same record, a later one calls quota() again', async () => {
  const { clock, ask, asked } = setUp(quotaRecord(), quotaRecord({ monthly_used: 1000 }));
  await ask();

  await clock.advance(1000);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 742 });
  await clock.advance(1);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 1000 });

  expect(asked()).toBe(2);
});

test('after a failed quota(), the record is undefined for a second', async () => {
  const { clock, ask, asked } = setUp(new Error('down'), quotaRecord());

  await expect(ask()).resolves.toBeUndefined();
  await expect(ask()).resolves.toBeUndefined();
  await clock.advance(1001);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 742 });

  expect(asked()).toBe(2);
});

test('the abort of the last call cancels quota(), and the next refusal calls it again', async () => {
  const check = new QuotaCheck(new FakeClock());
  const questions: Cancellation[] = [];
  const hang = (question: Cancellation) => {
    questions.push(question);
    return new Promise<never>(() => undefined);
  };
  const [first, second] = [new Cancellation(), new Cancellation()];
  const responses = [check.check(hang, first), check.check(hang, second)];

  first.cancel('enough');
  expect(questions[0]?.aborted).toBe(false);
  second.cancel('enough');
  await expect(Promise.allSettled(responses)).resolves.toMatchObject([{ reason: 'enough' }, { reason: 'enough' }]);

  expect(questions[0]?.aborted).toBe(true);
  await expect(check.check(async () => quotaRecord(), new Cancellation())).resolves.toEqual(quotaRecord());
});

test('an aborted quota() is not a record: the next refusal calls it again', async () => {
  const check = new QuotaCheck(new FakeClock());
  const caller = new Cancellation();
  const cancelled = (question: Cancellation) =>
    new Promise<never>((_, reject) => question.addEventListener('abort', () => reject(new Error('cancelled'))));
  const response = check.check(cancelled, caller);

  caller.cancel('enough');
  await expect(response).rejects.toBe('enough');
  await quiet();

  await expect(check.check(async () => quotaRecord(), new Cancellation())).resolves.toEqual(quotaRecord());
});

test('a record from before the clock was set back is not fresh', async () => {
  const { clock, ask, asked } = setUp(quotaRecord(), quotaRecord());
  await ask();

  clock.set(-3_600_000);
  await ask();

  expect(asked()).toBe(2);
});

/** A look-up whose calls of `quota()` are counted and end as `outcome` says. */
function setUpLookup(outcome: () => Promise<unknown>) {
  const clock = new FakeClock();
  const lookup = new LimitLookup(new SteadyTime(clock));
  let asked = 0;
  const fetch = () => {
    asked += 1;
    return outcome();
  };
  return { clock, lookup, fetch, asked: () => asked };
}

test('calls quota() for the limit once a minute', async () => {
  const { clock, lookup, fetch, asked } = setUpLookup(async () => quotaRecord());
  const counts: number[] = [];

  for (const ms of [0, 0, 59_999, 1]) {
    await clock.advance(ms);
    lookup.start(fetch);
    counts.push(asked());
  }

  expect(counts).toEqual([1, 1, 1, 2]);
});

test('calls quota() for the limit half as often each time that the rate limit refuses it', async () => {
  const { clock, lookup, fetch, asked } = setUpLookup(() =>
    Promise.reject(new RateLimitError('no', { status: 429, reason: 'policy' })),
  );
  const counts: number[] = [];

  for (const ms of [0, 119_999, 1, 239_999, 1]) {
    await clock.advance(ms);
    lookup.start(fetch);
    await quiet();
    counts.push(asked());
  }

  expect(counts).toEqual([1, 1, 2, 2, 3]);
});

const withStatus = (status: number) => new RequestError('no', { status });

test.each([
  ['400', withStatus(400), 1],
  ['404', withStatus(404), 1],
  ['499', withStatus(499), 1],
  ['429', withStatus(429), 2],
  ['500', withStatus(500), 2],
  ['302', withStatus(302), 2],
  ['no response', new NetworkError('down', {}), 2],
  ['an error of a middleware', Object.assign(new Error('a bug'), { status: 404 }), 2],
])('after %s, quota() is not called again if the service refused it', async (_, error, times) => {
  const { clock, lookup, fetch, asked } = setUpLookup(() => Promise.reject(error));

  lookup.start(fetch);
  await clock.advance(60_000);
  lookup.start(fetch);

  expect(asked()).toBe(times);
});
