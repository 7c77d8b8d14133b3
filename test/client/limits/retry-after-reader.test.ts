import { expect, test } from 'vitest';
import { RetryAfterReader } from '../../../src/client/limits/retry-after-reader.ts';

function refusal(retryAfter: string, sentAt: number, now = sentAt) {
  return { retryAfter, date: undefined, sentAt, now };
}

test.each(['1', '45', '61'])('%s is read as seconds', (retryAfter) => {
  const reading = new RetryAfterReader().refused(refusal(retryAfter, 0));

  expect(reading).toEqual({
    ...{ waitMs: Number(retryAfter) * 1000, unit: 'seconds', evidence: 'assumed', isRevision: false },
  });
});

test.each(['62', '120', '30000', '61200'])(
  '%s, which no limit per minute can mean in seconds, is tried as milliseconds',
  (retryAfter) => {
    const reading = new RetryAfterReader().refused(refusal(retryAfter, 0));

    expect(reading).toMatchObject({ waitMs: Number(retryAfter), unit: 'milliseconds', evidence: 'on-trial' });
  },
);

test('86400 is a longer quota in either unit: it stays seconds', () => {
  const reading = new RetryAfterReader().refused(refusal('86400', 0));

  expect(reading).toMatchObject({ waitMs: 86_400_000, unit: 'seconds', evidence: 'assumed' });
});

test('a call served after the tried wait confirms milliseconds for good', () => {
  const reader = new RetryAfterReader();
  reader.refused(refusal('20000', 0));

  reader.accepted(19_999);
  expect(reader.refused(refusal('5', 19_999))).toMatchObject({ unit: 'seconds', evidence: 'on-trial' });

  reader.accepted(20_000);
  expect(reader.refused(refusal('5', 30_000))).toMatchObject({
    waitMs: 5,
    unit: 'milliseconds',
    evidence: 'confirmed',
  });
});

test('two refusals that count down in seconds refute milliseconds for good', () => {
  const reader = new RetryAfterReader();

  expect(reader.refused(refusal('300', 0))).toMatchObject({ waitMs: 300, evidence: 'on-trial' });
  expect(reader.refused(refusal('300', 300))).toMatchObject({ waitMs: 300, evidence: 'on-trial' });
  expect(reader.refused(refusal('299', 600))).toMatchObject({ waitMs: 299_000, unit: 'seconds', evidence: 'refuted' });
  expect(reader.refused(refusal('5000', 900_000))).toMatchObject({ waitMs: 5_000_000, unit: 'seconds' });
});

test('refusals of requests sent before the tried wait ended prove nothing', () => {
  const reader = new RetryAfterReader();
  for (const now of [0, 50, 100, 150]) reader.refused(refusal('300', 0, now));

  expect(reader.refused(refusal('300', 0, 200))).toMatchObject({ unit: 'milliseconds', evidence: 'on-trial' });
});

test('three different waits in one moment are milliseconds, and revise what was read before', () => {
  const reader = new RetryAfterReader();

  expect(reader.refused(refusal('37', 0, 100))).toMatchObject({ waitMs: 37_000, isRevision: false });
  expect(reader.refused(refusal('12', 0, 120))).toMatchObject({ waitMs: 12_000, isRevision: false });
  expect(reader.refused(refusal('55', 0, 130))).toMatchObject({ waitMs: 55, evidence: 'confirmed', isRevision: true });
  expect(reader.refused(refusal('9', 0, 140))).toMatchObject({ waitMs: 9, isRevision: false });
});

test('two waits in one moment may be those of two limits', () => {
  const reader = new RetryAfterReader();
  for (const retryAfter of ['1', '40', '1', '39', '40']) {
    expect(reader.refused(refusal(retryAfter, 0, 100))).toMatchObject({ unit: 'seconds', evidence: 'assumed' });
  }
});

test.each(['seconds', 'milliseconds'] as const)('a unit set to %s is never doubted', (unit) => {
  const reader = new RetryAfterReader(unit);
  reader.refused(refusal('300', 0));
  reader.accepted(400_000);

  expect(reader.refused(refusal('400', 500_000))).toMatchObject({ unit, evidence: 'set' });
});

test('decimals and dates need no unit, and no header is no wait', () => {
  const reader = new RetryAfterReader('milliseconds');

  expect(reader.refused(refusal('1.5', 0)).waitMs).toBe(1_500);
  expect(reader.refused({ ...refusal('', 0), retryAfter: undefined }).waitMs).toBeUndefined();
});
