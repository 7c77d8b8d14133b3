import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forecastQuota, type QuotaForecast } from '../../../src/cli/commands/forecast.ts';
import type { QuotaData } from '../../../src/client/index.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

const DAY_MS = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();
const at = (text: string) => Date.parse(text);

/** A forecast that must exist. */
function forecast(quota: QuotaData, now: number | string): QuotaForecast {
  const result = forecastQuota(quota, typeof now === 'string' ? at(now) : now);
  if (result === undefined) throw new Error('no forecast');
  return result;
}

const USED_UP = { remaining: 0, safePerDay: 0, safeIntervalMs: undefined };
/** Without a numeric limit only the use is projected. */
const UNLIMITED = { remaining: undefined, exhaustsAt: undefined, safePerDay: undefined, safeIntervalMs: undefined };
const LASTS = { exhaustsAt: undefined, confidence: 'ok' };
const MAY_LAST = { exhaustsAt: undefined, confidence: 'low' };
const NOW = '2026-01-21T14:20:00.000Z';
const HALFWAY = '2026-01-16T12:00:00.000Z';

test.each<[string, Partial<QuotaData>, now: string, expected: object]>([
  [
    'used faster than the period passes',
    {},
    NOW,
    {
      remaining: 258,
      periodStart: new Date('2026-01-01T00:00:00.000Z'),
      resetsAt: new Date('2026-02-01T00:00:00.000Z'),
      elapsed: expect.closeTo(0.6644, 4),
      perDay: expect.closeTo(36.02, 2),
      usedAtReset: 1117,
      exhaustsAt: new Date('2026-01-28T18:13:02.749Z'),
      safePerDay: expect.closeTo(24.8, 2),
      safeIntervalMs: 3_483_721,
      confidence: 'ok',
    },
  ],
  ['used more slowly', { monthly_used: 400 }, NOW, { ...LASTS, remaining: 600, usedAtReset: 602 }],
  ['with a negative usage (a credit)', { monthly_used: -10 }, NOW, { ...MAY_LAST, remaining: 1010, usedAtReset: -15 }],
  ['unused', { monthly_used: 0 }, NOW, { ...MAY_LAST, remaining: 1000, usedAtReset: 0 }],
  [
    'at the start of its period, which has no average,',
    { monthly_used: 0 },
    '2026-01-01T00:00:00.000Z',
    {
      ...{ elapsed: 0, perDay: undefined, usedAtReset: undefined, exhaustsAt: undefined, confidence: 'low' },
      ...{ remaining: 1000, safePerDay: expect.closeTo(1000 / 31, 6), safeIntervalMs: 2_678_400 },
    },
  ],
  [
    'after a burst in the first second',
    { monthly_used: 30 },
    '2026-01-01T00:00:01.000Z',
    { usedAtReset: 30 * 2_678_400, exhaustsAt: new Date('2026-01-01T00:00:33.333Z'), confidence: 'low' },
  ],
  ['in its last second', {}, '2026-01-31T23:59:59.000Z', { ...LASTS, usedAtReset: 742, safeIntervalMs: 4 }],
  ['in its last millisecond', { monthly_limit: 1_000_000 }, '2026-01-31T23:59:59.999Z', { safeIntervalMs: 1 }],
  ['that would run out exactly at its reset', { monthly_used: 500 }, HALFWAY, { exhaustsAt: undefined }],
  [
    'that would run out a little before its reset',
    { monthly_used: 501 },
    HALFWAY,
    { exhaustsAt: new Date('2026-01-31T22:30:53.892Z') },
  ],
  ['that is used up', { monthly_used: 1000 }, HALFWAY, { ...USED_UP, exhaustsAt: new Date(HALFWAY) }],
  ['that is more than used up', { monthly_used: 5000 }, HALFWAY, { ...USED_UP, exhaustsAt: new Date(HALFWAY) }],
  [
    'with the limit null',
    { monthly_used: 99_000, monthly_limit: null },
    HALFWAY,
    { ...UNLIMITED, usedAtReset: 198_000, confidence: 'ok' },
  ],
  ['with a limit in words', { monthly_used: 99_000, monthly_limit: 'unlimited' }, HALFWAY, UNLIMITED],
  [
    'of a period longer than a month, which starts now,',
    { resets_at: '2026-03-31T00:00:00.000Z' },
    NOW,
    {
      ...{ elapsed: 0, perDay: undefined, exhaustsAt: undefined, confidence: 'low' },
      ...{ periodStart: new Date(NOW), safePerDay: expect.closeTo(258 / 68.4, 1) },
    },
  ],
  ['within a day', { monthly_used: 500 }, '2026-01-01T23:59:59.999Z', { confidence: 'low' }],
  ['after a day', { monthly_used: 500 }, '2026-01-02T00:00:00.000Z', { confidence: 'ok' }],
  ['below twenty requests', { monthly_used: 19 }, '2026-01-20T00:00:00.000Z', { confidence: 'low' }],
  ['from twenty requests on', { monthly_used: 20 }, '2026-01-20T00:00:00.000Z', { confidence: 'ok' }],
])('the forecast of a quota %s', (_, changes, now, expected) => {
  expect(forecastQuota(quotaRecord(changes), at(now))).toMatchObject(expected);
});

test.each([
  ['February', '2026-03-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ['February of a leap year', '2028-03-01T00:00:00.000Z', '2028-02-01T00:00:00.000Z'],
  ['the turn of the year', '2027-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ['a reset in the middle of a day', '2026-07-15T13:45:30.250Z', '2026-06-15T13:45:30.250Z'],
  ['a reset on the 28th', '2026-03-28T06:00:00.000Z', '2026-02-28T06:00:00.000Z'],
  ['a reset on the 29th after February', '2026-03-29T06:00:00.000Z', '2026-02-28T06:00:00.000Z'],
  ['a reset on the 29th after a February of 29 days', '2028-03-29T06:00:00.000Z', '2028-02-29T06:00:00.000Z'],
  ['a reset on the 30th after February', '2026-03-30T06:00:00.000Z', '2026-02-28T06:00:00.000Z'],
  ['a reset on the 31st after February', '2026-03-31T23:59:59.999Z', '2026-02-28T23:59:59.999Z'],
  ['a reset on the 31st after a month of 30 days', '2026-05-31T06:00:00.000Z', '2026-04-30T06:00:00.000Z'],
  ['a reset on the 31st after a month of 31 days', '2026-08-31T06:00:00.000Z', '2026-07-31T06:00:00.000Z'],
])('the period begins a calendar month before its reset: %s', (_, resetsAt, start) => {
  const result = forecast(quotaRecord({ resets_at: resetsAt }), at(resetsAt) - 1);

  expect(result.periodStart).toEqual(new Date(start));
  expect(result.elapsed).toBeLessThan(1);
});

test.each<[string, number, Partial<QuotaData>]>([
  ['a reset now', at('2026-02-01T00:00:00.000Z'), {}],
  ['a reset a year ago', at('2027-02-01T00:00:00.000Z'), {}],
  ['an instant that is not a number', Number.NaN, {}],
  ['a reset that is not a time', 0, { resets_at: 'soon' }],
])('with %s, there is no forecast', (_, now, changes) => {
  expect(forecastQuota(quotaRecord(changes), now)).toBeUndefined();
});

/** A valid quota record, and a time in its period. */
const course = fc
  .record({
    limit: fc.integer({ min: 0, max: 1_000_000 }),
    used: fc.integer({ min: 0, max: 1_200_000 }),
    resetsAt: fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }),
    beforeMs: fc.double({ min: 1, max: 40 * DAY_MS, noNaN: true }),
  })
  .map(({ limit, used, resetsAt, beforeMs }) => ({
    quota: quotaRecord({ monthly_limit: limit, monthly_used: used, resets_at: iso(resetsAt) }),
    now: resetsAt - beforeMs,
    resetsAt,
  }));

test('a quota runs out between now and its reset, or not at all', () => {
  fc.assert(
    fc.property(course, ({ quota, now, resetsAt }) => {
      const { exhaustsAt, remaining, periodStart, elapsed } = forecast(quota, now);

      expect(elapsed).toBeGreaterThanOrEqual(0);
      expect(elapsed).toBeLessThan(1);
      expect(Number(periodStart)).toBeLessThanOrEqual(now);
      if (remaining === 0) expect(Number(exhaustsAt)).toBe(Math.floor(now));
      if (exhaustsAt !== undefined) {
        expect(Number(exhaustsAt)).toBeGreaterThanOrEqual(Math.floor(now));
        expect(Number(exhaustsAt)).toBeLessThan(resetsAt);
      }
    }),
  );
});

test('calls at the safe interval do not use up the quota before the reset', () => {
  fc.assert(
    fc.property(course, ({ quota, now, resetsAt }) => {
      const { safeIntervalMs, remaining } = forecast(quota, now);
      if (safeIntervalMs === undefined) return;
      const requests = Math.ceil((resetsAt - now) / safeIntervalMs); // now, and once each interval before the reset

      expect(Number.isInteger(safeIntervalMs) && safeIntervalMs >= 1).toBe(true);
      expect(requests).toBeLessThanOrEqual(remaining ?? Number.POSITIVE_INFINITY);
    }),
  );
});
