import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExhausted, QuotaLedger, remainingOf } from '../../../src/client/quota/quota-ledger.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

/** A ledger that has just been told that 258 of 1,000 requests are left. */
function setUp(changes = {}) {
  const clock = new FakeClock();
  const ledger = new QuotaLedger(clock);
  ledger.sawQuota(quotaRecord(changes), 0);
  return { clock, ledger };
}

test('has no estimate before the first record', () => {
  const ledger = new QuotaLedger(new FakeClock());
  ledger.spend();

  expect(ledger.estimate()).toBeUndefined();
  expect(ledger.available()).toBeUndefined();
  expect(ledger.isUpToDate(Number.POSITIVE_INFINITY)).toBe(false);
});

test('counts the requests since the record', () => {
  const { clock, ledger } = setUp();

  ledger.spend();
  ledger.spend();

  expect(ledger.estimate()).toEqual({
    quota: quotaRecord(),
    asOf: new Date(clock.now()),
    usedSince: 2,
    remaining: 256,
  });
});

test('counts the requests sent while the record was requested', () => {
  const { ledger } = setUp();
  ledger.spend();
  const spentBefore = ledger.spent;

  ledger.spend();
  ledger.sawQuota(quotaRecord({ monthly_used: 743 }), spentBefore);

  expect(ledger.estimate()).toMatchObject({ usedSince: 1, remaining: 256 });
});

test('reserved requests are neither available nor used', () => {
  const { ledger } = setUp();
  const [first, second] = [{}, {}];

  ledger.reserveRequest(first);
  ledger.reserveRequest(second);
  expect(ledger.available()).toBe(256);
  expect(ledger.estimate()).toMatchObject({ usedSince: 0, remaining: 258 });
  ledger.releaseRequest(first);
  ledger.releaseRequest(first);

  expect(ledger.available()).toBe(257);
});

test('the remaining requests are never negative', () => {
  const { ledger } = setUp({ monthly_used: 999 });
  ledger.spend();
  ledger.spend();
  ledger.reserveRequest({});

  expect(ledger.estimate()?.remaining).toBe(0);
  expect(ledger.available()).toBe(0);
});

test('without a numeric limit, the remaining requests are undefined', () => {
  const { ledger } = setUp({ monthly_limit: null });

  expect(ledger.estimate()).toMatchObject({ remaining: undefined, usedSince: 0 });
  expect(ledger.available()).toBeUndefined();
});

test('a record ends with its period', async () => {
  const clock = new FakeClock(Date.parse('2026-01-31T23:59:59.000Z'));
  const ledger = new QuotaLedger(clock);
  ledger.sawQuota(quotaRecord(), 0);

  await clock.advance(999);
  expect(ledger.estimate()).toBeDefined();
  await clock.advance(1);

  expect(ledger.estimate()).toBeUndefined();
  expect(ledger.isUpToDate(60_000)).toBe(false);
});

test.each(['2026-02-01T00:00:00.000Z', '2026-02-01T00:10:00.000Z'])(
  'a record is valid even if its period is over by the local clock (%s)',
  async (now) => {
    const clock = new FakeClock(Date.parse(now));
    const ledger = new QuotaLedger(clock);

    ledger.sawQuota(quotaRecord(), 0);
    await clock.advance(60_000);

    expect(ledger.estimate()?.remaining).toBe(258);
    expect(ledger.isUpToDate(60_000)).toBe(true);
    expect(ledger.isUpToDate(59_999)).toBe(false);
  },
);

test('is up to date while its record is young enough, also if the clock is set back', async () => {
  const { clock, ledger } = setUp();

  expect(ledger.isUpToDate(0)).toBe(true);
  await clock.advance(300_000);
  expect(ledger.isUpToDate(300_000)).toBe(true);
  await clock.advance(1);
  expect(ledger.isUpToDate(300_000)).toBe(false);
  clock.set(-3_600_000);

  expect(ledger.isUpToDate(300_000)).toBe(false);
});

test('after a failed quota(), it is up to date for a minute', async () => {
  const clock = new FakeClock();
  const ledger = new QuotaLedger(clock);

  ledger.fetchFailed();
  await clock.advance(60_000);
  expect(ledger.isUpToDate(0)).toBe(true);
  await clock.advance(1);

  expect(ledger.isUpToDate(0)).toBe(false);
});

test('the estimate never exceeds the quota of the service, in any order of events', () => {
  // The service counts a request somewhere between its sending and its response; a record is true at a moment between
  // the question and its response.
  const steps = fc.array(fc.constantFrom('send', 'count', 'response', 'ask', 'record', 'tell'), {
    minLength: 40,
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (happenings) => {
      const { ledger } = setUp({ monthly_used: 0 });
      const service = { sent: 0, counted: 0, responded: 0 };
      const question = { spentBefore: -1, used: -1 };
      const act: Record<string, () => void> = {
        send: () => {
          service.sent += 1;
          ledger.reserveRequest(service.sent as unknown as object);
        },
        count: () => {
          if (service.counted < service.sent) service.counted += 1;
        },
        response: () => {
          if (service.responded === service.counted) return;
          service.responded += 1;
          ledger.releaseRequest(service.responded as unknown as object);
          ledger.spend();
        },
        ask: () => {
          if (question.spentBefore < 0) question.spentBefore = ledger.spent;
        },
        record: () => {
          if (question.spentBefore >= 0 && question.used < 0) question.used = service.counted;
        },
        tell: () => {
          if (question.used < 0) return;
          ledger.sawQuota(quotaRecord({ monthly_used: question.used }), question.spentBefore);
          Object.assign(question, { spentBefore: -1, used: -1 });
        },
      };
      for (const step of happenings) {
        act[step]?.();

        expect(ledger.available()).toBeLessThanOrEqual(1000 - service.counted);
      }
    }),
  );
});

test.each([
  [1000, 0, 1000],
  [1000, 742, 258],
  [1000, 1000, 0],
  [1000, 1001, 0],
  ['1000', 999, 1],
  [0, 0, 0],
  [null, 5, undefined],
  [undefined, 5, undefined],
  ['unlimited', 5, undefined],
  ['', 5, undefined],
  ['1e3', 5, undefined],
  [-1, 5, undefined],
] as const)('of a limit of %j with %i used, %j is left', (limit, used, left) => {
  const { monthly_limit: _, ...rest } = quotaRecord({ monthly_used: used });
  const quota = limit === undefined ? rest : { ...rest, monthly_limit: limit };

  expect(remainingOf(quota)).toBe(left);
  expect(isExhausted(quota)).toBe(left === 0);
});

test.each([0, '0'])('a limit of %j is none for the plan called unlimited', (limit) => {
  const quota = quotaRecord({ plan: 'unlimited', monthly_limit: limit, monthly_used: 5 });

  expect(remainingOf(quota)).toBeUndefined();
  expect(isExhausted(quota)).toBe(false);
});

test('a plan without a numeric limit is never exhausted, and remaining requests are never negative', () => {
  const limits = fc.oneof(fc.integer(), fc.string(), fc.constant(null));
  fc.assert(
    fc.property(limits, fc.nat(), (limit, used) => {
      const left = remainingOf(quotaRecord({ monthly_limit: limit, monthly_used: used }));

      expect(left === undefined || left >= 0).toBe(true);
    }),
  );
});
