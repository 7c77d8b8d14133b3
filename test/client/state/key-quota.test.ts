import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ApiResponse, Call, type KeyedCall } from '../../../src/client/call/call.ts';
import { operationEndpoint } from '../../../src/client/call/endpoint.ts';
import {
  NetworkError,
  type QuotaData,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
} from '../../../src/client/index.ts';
import { ApiKey } from '../../../src/client/key/api-key.ts';
import { resolveCall, resolveOptions } from '../../../src/client/options/resolve-options.ts';
import { KeyQuota } from '../../../src/client/state/key-quota.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { SteadyTime } from '../../../src/client/time/clock.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { API_KEY, exhaustedQuota, quotaRecord } from '../../helpers/service-replies.ts';

const { settings } = resolveCall({}, resolveOptions({}));

/** A call of `latest`. */
function aCall(signal = new Cancellation(), deadlineAt = Number.POSITIVE_INFINITY): KeyedCall {
  const call = new Call({ endpoint: operationEndpoint('latest'), settings, signal, deadlineAt, quotaReason: 'call' });
  return Object.assign(call, { key: ApiKey.from(API_KEY) });
}

function responseWith(data: unknown): ApiResponse {
  return { status: 200, headers: [], rawBody: '{}', data };
}

function quotaOf(clock: FakeClock): KeyQuota {
  return new KeyQuota(clock, new SteadyTime(clock));
}

function spend(quota: KeyQuota, call = aCall()): void {
  quota.sent(call, responseWith({}));
}

/** The quota of a key of which 258 of 1,000 requests are left, by a record that has just arrived. */
function setUp(changes = {}) {
  const clock = new FakeClock();
  const quota = quotaOf(clock);
  quota.sawRecord(quotaRecord(changes), 0);
  return { clock, quota };
}

test('a record ends with its period', async () => {
  const clock = new FakeClock(Date.parse('2026-01-31T23:59:59.000Z'));
  const quota = quotaOf(clock);
  quota.sawRecord(quotaRecord(), 0);

  await clock.advance(999);
  expect(quota.estimate()).toBeDefined();
  await clock.advance(1);

  expect(quota.estimate()).toBeUndefined();
  expect(quota.isUpToDate(60_000)).toBe(false);
});

test.each(['2026-02-01T00:00:00.000Z', '2026-02-01T00:10:00.000Z'])(
  'a record is valid even if its period is over by the local clock (%s)',
  async (now) => {
    const clock = new FakeClock(Date.parse(now));
    const quota = quotaOf(clock);

    quota.sawRecord(quotaRecord(), 0);
    await clock.advance(60_000);

    expect(quota.estimate()?.remaining).toBe(258);
    expect(quota.isUpToDate(60_000)).toBe(true);
    expect(quota.isUpToDate(59_999)).toBe(false);
  },
);

test('the estimate never exceeds the quota of the service, in any order of events', () => {
  // The service counts a request somewhere between its sending and its response; a record is true at a moment between
  // the question and its response.
  const steps = fc.array(fc.constantFrom('send', 'count', 'response', 'ask', 'record', 'tell'), {
    minLength: 40,
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (happenings) => {
      const { quota } = setUp({ monthly_used: 0 });
      const service = { sent: 0, counted: 0, responded: 0 };
      const reserved: KeyedCall[] = [];
      const question = { spentBefore: -1, used: -1 };
      const act: Record<string, () => void> = {
        send: () => {
          service.sent += 1;
          reserved.push(aCall());
          quota.reserve(reserved[reserved.length - 1]!);
        },
        count: () => {
          if (service.counted < service.sent) service.counted += 1;
        },
        response: () => {
          if (service.responded === service.counted) return;
          service.responded += 1;
          const call = reserved.shift() ?? aCall();
          spend(quota, call);
          quota.release(call);
        },
        ask: () => {
          if (question.spentBefore < 0) question.spentBefore = quota.spent;
        },
        record: () => {
          if (question.spentBefore >= 0 && question.used < 0) question.used = service.counted;
        },
        tell: () => {
          if (question.used < 0) return;
          quota.sawRecord(quotaRecord({ monthly_used: question.used }), question.spentBefore);
          Object.assign(question, { spentBefore: -1, used: -1 });
        },
      };
      for (const step of happenings) {
        act[step]?.();

        expect(quota.available()).toBeLessThanOrEqual(1000 - service.counted);
      }
    }),
  );
});

const refusal = () => new RateLimitError('no', { status: 429, code: 'quota_exceeded', reason: 'policy' });

/** A quota whose own calls of `quota()` are counted and end with `records` in order. */
function asking(...records: (QuotaData | Error)[]) {
  const clock = new FakeClock();
  const quota = quotaOf(clock);
  const asked: KeyedCall[] = [];
  const send = async (call: KeyedCall) => {
    asked.push(call);
    const record = records.shift();
    if (record === undefined || record instanceof Error) throw record ?? new Error('asked too often');
    quota.sawRecord(record, quota.spent);
    return responseWith(record);
  };
  const refuse = (call = aCall()) => quota.explain(refusal(), call, send);
  return { clock, quota, asked, send, refuse };
}

test('stops no calls any more when the clock is set back by an hour', async () => {
  const { clock, quota, refuse } = asking(exhaustedQuota());
  await refuse();

  clock.set(-3_600_000);

  expect(() => quota.requireLeft(aCall())).not.toThrow();
});

test('simultaneous refusals call quota() once; those of the next second use its record', async () => {
  const { clock, asked, refuse } = asking(quotaRecord({ monthly_used: 990 }), exhaustedQuota());

  const errors = await Promise.all(Array.from({ length: 50 }, () => refuse()));
  await clock.advance(1000);
  errors.push(await refuse());
  expect(new Set(errors.map((error) => (error as Error).name))).toEqual(new Set(['RateLimitError']));
  expect(asked).toHaveLength(1);
  await clock.advance(1);

  expect(await refuse()).toBeInstanceOf(QuotaExhaustedError);
  expect(asked).toHaveLength(2);
});

test('a refusal is unchanged for a second after a failed quota()', async () => {
  const { clock, asked, refuse } = asking(new Error('down'), exhaustedQuota());

  expect(await refuse()).toBeInstanceOf(RateLimitError);
  expect(await refuse()).toBeInstanceOf(RateLimitError);
  await clock.advance(1001);

  expect(await refuse()).toBeInstanceOf(QuotaExhaustedError);
  expect(asked).toHaveLength(2);
});

test.each<[string, QuotaData | Error, readonly number[]]>([
  ['once a minute', quotaRecord(), [0, 0, 59_999, 1]],
  ...[refusal(), new RequestError('no', { status: 404 }), new NetworkError('down', {})].map(
    (error): [string, Error, number[]] => [
      `half as often after a failure: ${error.kind}`,
      error,
      [0, 0, 119_999, 1, 239_999, 1],
    ],
  ),
])('calls quota() for the limit %s', async (_, record, passing) => {
  const { clock, quota, asked, send } = asking(record, record, record);
  const counts: number[] = [];

  for (const ms of passing) {
    await clock.advance(ms);
    quota.learnLimit(aCall(), send);
    await quiet();
    counts.push(asked.length);
  }

  expect(counts).toEqual([1, 1, 1, 2, 2, 3].slice(0, passing.length));
});

test('after a success, quota() is called for the limit as often as before its failures', async () => {
  const failure = new NetworkError('down', {});
  const { clock, quota, asked, send } = asking(...Array<Error>(9).fill(failure), ...Array(10).fill(quotaRecord()));
  const askedIn = async (minutes: number) => {
    const before = asked.length;
    for (let passed = 0; passed < minutes; passed += 1) {
      quota.learnLimit(aCall(), send);
      await clock.advance(60_000);
    }
    return asked.length - before;
  };

  expect(await askedIn(302)).toBe(9); // after 0, 2, 6, 14, 30 and 62 minutes, then every hour
  expect(await askedIn(10)).toBe(10);
});

test('calls quota() once for the limit and for the estimate', async () => {
  const { quota, asked, send } = asking(quotaRecord());

  quota.learnLimit(aCall(), send);
  await quota.refresh(aCall(), 60_000, send);

  expect(asked).toHaveLength(1);
  expect(quota.estimate()?.remaining).toBe(258);
});
