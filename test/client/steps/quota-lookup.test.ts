import { expect, test, vi } from 'vitest';
import type { Call, Refusal } from '../../../src/client/call/call.ts';
import { NetworkError, type QuotaData, RateLimitError, RequestError } from '../../../src/client/index.ts';
import type { RateLimiter } from '../../../src/client/limits/rate-limiter.ts';
import { QuotaLedger } from '../../../src/client/state/quota-ledger.ts';
import { explainFailure, lookUpLimit, refreshQuota } from '../../../src/client/steps/quota-lookup.ts';
import { SharedWork } from '../../../src/client/time/abort.ts';
import { SteadyTime } from '../../../src/client/time/clock.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { exhaustedQuota, quotaRecord } from '../../helpers/service-replies.ts';
import { aCall, responseWith } from '../../helpers/test-client.ts';

const REFUSAL: Refusal = {
  ...{ kind: 'rate_limited', said: ' (HTTP 429, quota_exceeded)', status: 429, code: 'quota_exceeded' },
  ...{ headers: new Headers(), bodyExcerpt: '', retryAfter: undefined },
};

/** A quota whose own calls of `quota()` are counted and end with `records` in order. */
function asking(...records: (QuotaData | Error)[]) {
  const clock = new FakeClock();
  const quota = new QuotaLedger(clock);
  const lookups = { asking: new SharedWork<QuotaData>(), explaining: new SharedWork<QuotaData | undefined>() };
  const stop = (record: QuotaData) => quota.stop(record);
  const time = new SteadyTime(clock);
  const state = { quota, lookups, time, stop, limiter: undefined, retryAfterUnit: 'seconds' } as const;
  const asked: Call[] = [];
  const send = async (call: Call) => {
    asked.push(call);
    const record = records.shift();
    if (record === undefined || record instanceof Error) throw record ?? new Error('asked too often');
    quota.sawRecord(record, quota.spent);
    return responseWith(record);
  };
  const lookup = () => ({ call: aCall(), state, send });
  const refuse = () => explainFailure(REFUSAL, lookup());
  return { clock, quota, state, asked, lookup, refuse };
}

test('simultaneous refusals call quota() once; those of the next second use its record', async () => {
  const { clock, asked, refuse } = asking(quotaRecord({ monthly_used: 990 }), exhaustedQuota());

  const errors = await Promise.all(Array.from({ length: 50 }, () => refuse()));
  await clock.advance(1000);
  errors.push(await refuse());
  expect(new Set(errors)).toEqual(new Set([REFUSAL]));
  expect(asked).toHaveLength(1);
  await clock.advance(1);

  expect(await refuse()).toMatchObject({ error: { kind: 'quota_exhausted' } });
  expect(asked).toHaveLength(2);
});

test('a call whose quota() was refused for another call, also of another copy of the package, asks again', async () => {
  vi.resetModules();
  const copy = await import('../../../src/client/errors/errors.ts');
  for (const Refused of [RateLimitError, copy.RateLimitError]) {
    const { asked, lookup } = asking(new Refused('refused', { reason: 'policy' }), quotaRecord());
    const context = { events: { warnOnce() {} }, settings: {} } as never;

    await Promise.all([refreshQuota(context, lookup(), 0), refreshQuota(context, lookup(), 0)]);

    expect(asked).toHaveLength(2);
  }
});

test('a refusal is unchanged for a second after a failed quota()', async () => {
  const { clock, asked, refuse } = asking(new Error('down'), exhaustedQuota());

  expect(await refuse()).toBe(REFUSAL);
  expect(await refuse()).toBe(REFUSAL);
  await clock.advance(1001);

  expect(await refuse()).toMatchObject({ error: { kind: 'quota_exhausted' } });
  expect(asked).toHaveLength(2);
});

const FAILURES = [
  new RateLimitError('no', { reason: 'policy' }),
  new RequestError('no', { status: 404 }),
  new NetworkError('down', {}),
];

test('calls quota() for the limit once a minute', async () => {
  const { clock, asked, lookup } = asking(quotaRecord(), quotaRecord());
  const counts: number[] = [];

  for (const ms of [0, 0, 59_999, 1]) {
    await clock.advance(ms);
    lookUpLimit(lookup());
    await quiet();
    counts.push(asked.length);
  }

  expect(counts).toEqual([1, 1, 1, 2]);
});

test('calls quota() for the limit half as often after each that fails or shows nothing new', async () => {
  const grown = quotaRecord({ rate_limit_per_minute: 300 });
  const known = Array(6).fill(quotaRecord());
  const { clock, asked, lookup } = asking(...FAILURES, ...FAILURES, ...known, grown, grown);
  const minutes: number[] = [];

  for (let minute = 0; asked.length < 14; minute += 1) {
    const before = asked.length;
    lookUpLimit(lookup());
    await clock.advance(60_000);
    if (asked.length > before) minutes.push(minute);
  }

  const intervals = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
  expect(intervals).toEqual([2, 4, 8, 10, 10, 10, 1, 2, 4, 8, 10, 10, 1]);
});

test.each([true, false])(
  'an abort ends the quota() for the limit, unless others want it: %s',
  async (isLimitWanted) => {
    const { state } = asking();
    const call = aCall();
    const cancelled: unknown[] = [];
    const send = (own: Call) => {
      own.signal.listen(() => cancelled.push(own));
      return new Promise<never>(() => undefined);
    };
    lookUpLimit({ call, state: { ...state, limiter: { isLimitWanted } as RateLimiter }, send });

    call.signal.cancel(new Error('aborted'));
    await quiet();

    expect(cancelled).toHaveLength(isLimitWanted ? 0 : 1);
  },
);
