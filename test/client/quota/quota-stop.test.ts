import { expect, test } from 'vitest';
import { QuotaExhaustedError } from '../../../src/client/index.ts';
import { QuotaStop } from '../../../src/client/quota/quota-stop.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { exhaustedQuota, quotaRecord } from '../../helpers/service-replies.ts';

test('stops nothing before a refusal', () => {
  const stop = new QuotaStop(new FakeClock());

  stop.sawQuota(exhaustedQuota());

  expect(() => stop.check()).not.toThrow();
});

test('holds for a minute after a refusal, then lets calls find out', async () => {
  const clock = new FakeClock();
  const stop = new QuotaStop(clock);

  stop.refused(exhaustedQuota());

  expect(() => stop.check()).toThrow(QuotaExhaustedError);
  expect(() => stop.check()).toThrow('used up: 1000 of 1000 requests, resets at 2026-02-01T00:00:00.000Z; not sent');
  await clock.advance(59_999);
  expect(() => stop.check()).toThrow(QuotaExhaustedError);
  await clock.advance(1);
  expect(() => stop.check()).not.toThrow();
});

test('ends with the quota period', async () => {
  const clock = new FakeClock(Date.parse('2026-01-31T23:59:50.000Z'));
  const stop = new QuotaStop(clock);
  stop.refused(exhaustedQuota());

  await clock.advance(10_000);

  expect(() => stop.check()).not.toThrow();
});

test('ends when the service tells of requests left', () => {
  const stop = new QuotaStop(new FakeClock());
  stop.refused(exhaustedQuota());

  stop.sawQuota(quotaRecord({ plan: 'developer', monthly_limit: 100_000 }));

  expect(() => stop.check()).not.toThrow();
});

test('does not hold for an hour when the clock is set back by one', () => {
  const clock = new FakeClock();
  const stop = new QuotaStop(clock);
  stop.refused(exhaustedQuota());

  clock.set(-3_600_000);

  expect(() => stop.check()).not.toThrow();
});
