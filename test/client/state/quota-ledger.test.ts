import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '../../../src/client/call/call.ts';
import type { QuotaData } from '../../../src/client/index.ts';
import { QuotaLedger } from '../../../src/client/state/quota-ledger.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { exhaustedQuota, quotaRecord } from '../../helpers/service-replies.ts';
import { aCall, responseWith } from '../../helpers/test-client.ts';

function spend(quota: QuotaLedger, call = aCall()): void {
  quota.sent(call, responseWith({}));
}

/** The quota of a key of which 258 of 1,000 requests are left, by a record that has just arrived. */
function setUp({ now = '2026-01-21T14:20:00.000Z', ...changes }: Partial<QuotaData> & { readonly now?: string } = {}) {
  const clock = new FakeClock(Date.parse(now));
  const quota = new QuotaLedger(clock);
  quota.sawRecord(quotaRecord(changes), 0);
  return { clock, quota };
}

test('a record ends with its period', async () => {
  const { clock, quota } = setUp({ now: '2026-01-31T23:59:59.000Z' });

  await clock.advance(999);
  expect(quota.estimate()).toBeDefined();
  await clock.advance(1);

  expect(quota.estimate()).toBeUndefined();
  expect(quota.isUpToDate(60_000)).toBe(false);
});

test.each(['2026-02-01T00:00:00.000Z', '2026-02-01T00:10:00.000Z'])(
  'a record is valid even if its period is over by the local clock (%s)',
  async (now) => {
    const { clock, quota } = setUp({ now });

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
      const reserved: Call[] = [];
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

test('stops no calls any more when the clock is set back by an hour', () => {
  const { clock, quota } = setUp();
  quota.stop(exhaustedQuota());
  expect(quota.usedUp).toEqual(exhaustedQuota());

  clock.set(-3_600_000);

  expect(quota.usedUp).toBeUndefined();
});
