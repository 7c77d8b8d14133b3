import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyReport, type RequestResult, weighRefusal } from '../../../src/client/limits/limit-rules.ts';
import {
  parseHttpDate,
  parseRetryAfter,
  type RetryAfterUnit,
  retryAfterMs,
  type UnitState,
  unitOf,
} from '../../../src/client/limits/retry-after.ts';
import { DEFAULT_LIMITER_SETTINGS, hint, stateWithLimit } from '../../helpers/strict-limiter.ts';

const UNKNOWN_UNIT: UnitState = { evidence: 'assumed', endsAt: 0 };
const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT';

test.each([
  ['30', 30_000],
  // The server has just refused a request: no wait at all says nothing.
  ['0', undefined],
  ['0.0', undefined],
  ['2.5', 2_500],
  ['2.55', 2_550],
  ['1.0005', 1_001],
  ['0.0001', 1],
  [' 7 ', 7_000],
  ['30, 60', 60_000],
  ['30,60', 60_000],
  ['30 , 60', 60_000],
  ['1.5, 1', 1_500],
  ['1, 2.55', 2_550],
  ['Tue, 14 Nov 2023 22:13:50 GMT', 30_000],
  ['Tuesday, 14-Nov-23 22:13:50 GMT', 30_000],
  ['Tue Nov 14 22:13:50 2023', 30_000],
  ['Tuesday, 14-Nov-95 22:13:50 GMT', undefined],
  ['Tuesday, 14-Foo-23 22:13:50 GMT', undefined],
  ['Foo Nov 14 22:13:50 2023', undefined],
  ['1700000030', 30_000],
  ['1700000030000', 30_000],
  ['1700000029999.5', 30_000],
  // In the past, by the server's own clock.
  ['Tue, 14 Nov 2023 22:13:19 GMT', undefined],
  ['1699999999', undefined],
  // Not yet a Unix time.
  ['1000000000', 1e12],
  // In nanoseconds, and no time of a `Date`.
  ['1700000000000000000', 8_598_300_000_000_000],
  ['9'.repeat(30), 8_598_300_000_000_000],
  // The first Unix time in milliseconds: in 2001.
  ['1000000000000', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['on Tue, 14 Nov 2023 22:13:50 GMT', undefined],
  ['Tue, 14 Nov 2023 22:13:50 GMT-1', undefined],
  ['on Tuesday, 14-Nov-23 22:13:50 GMT', undefined],
  ['Tuesday, 14-Nov-23 22:13:50 GMT-1', undefined],
  ['on Tue Nov 14 22:13:50 2023', undefined],
  ['Tue Nov 14 22:13:50 20231', undefined],
  ['', undefined],
  ['5 s', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['2023-11-14T22:13:50Z', undefined],
  [undefined, undefined],
])('%j is a wait of %j ms when the unit is seconds', (text, waitMs) => {
  expect(retryAfterMs(parseRetryAfter(text, { date: DATE, nowMs: 0 }), 'seconds')).toBe(waitMs);
});

test('only a plain integer has the other unit', () => {
  const milliseconds = (text: string) => retryAfterMs(parseRetryAfter(text, { date: DATE, nowMs: 0 }), 'milliseconds');

  expect(milliseconds('1500')).toBe(1_500);
  expect(milliseconds('1.5')).toBe(1_500);
  expect(milliseconds('Tue, 14 Nov 2023 22:13:21 GMT')).toBe(1_000);
});

const twoDigits = (value: number) => `${value}`.padStart(2, '0');
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

test('reads the same time from each form of an HTTP date', () => {
  const between = { min: new Date('1970-01-01'), max: new Date('2049-12-31T23:59:59Z'), noInvalidDate: true };
  fc.assert(
    fc.property(fc.date(between), (date) => {
      const epochMs = Math.floor(date.getTime() / 1000) * 1000;
      const imfFixdate = date.toUTCString();
      const [, day = '', month = '', year = '', time = ''] = imfFixdate.split(' ');
      const rfc850 = `${WEEKDAYS[date.getUTCDay()]}, ${day}-${month}-${twoDigits(date.getUTCFullYear() % 100)} ${time} GMT`;
      const asctime = `${imfFixdate.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;

      expect([imfFixdate, rfc850, asctime].map(parseHttpDate)).toEqual([epochMs, epochMs, epochMs]);
    }),
  );
});

test('a date in a response without `Date` is compared with the local clock', () => {
  const nowMs = Date.parse(DATE) + 20_000;

  for (const date of [undefined, 'yesterday']) {
    expect(parseRetryAfter('Tue, 14 Nov 2023 22:13:50 GMT', { date, nowMs })).toEqual({ form: 'wait', ms: 10_000 });
  }
});

/** The unit after the response to a request. */
function respond(unit: UnitState, report: RequestResult & { readonly kind: 'accepted' | 'refused' }): UnitState {
  return applyReport({ ...stateWithLimit(60), unit }, report, DEFAULT_LIMITER_SETTINGS).unit;
}

function accept(unit: UnitState, sentAt: number): UnitState {
  return respond(unit, { kind: 'accepted', now: sentAt, sentAt });
}

/** Refusals in order: the value, and when its request was sent and when the response came. */
function refuse(values: readonly (readonly [value: number | string, at: number])[], before = UNKNOWN_UNIT): UnitState {
  const refused = { kind: 'refused' } as const;
  return values.reduce(
    (unit, [value, at]) => respond(unit, { ...refused, retryAfter: hint(String(value)), sentAt: at, now: at }),
    before,
  );
}

function unitAfter(state: UnitState, value: number, option: 'auto' | RetryAfterUnit = 'auto'): RetryAfterUnit {
  return unitOf(state, option, hint(String(value)));
}

test.each([
  [999, 'assumed', 'seconds'],
  [1_000, 'on-trial', 'milliseconds'],
  [61_200, 'on-trial', 'milliseconds'],
  [61_201, 'assumed', 'seconds'], // longer than a minute in both units
])('the first refusal with %i: its unit is %s, %s', (value, evidence, unit) => {
  const state = refuse([[value, 0]]);

  expect([state.evidence, unitAfter(state, value)]).toEqual([evidence, unit]);
});

test('a value below 1,000 is read as seconds during the trial of a larger one', () => {
  const state = refuse([[30_000, 0]]);

  expect(unitAfter(state, 31)).toBe('seconds');
  expect(unitAfter(state, 29_000)).toBe('milliseconds');
});

test('a request accepted after the tried wait confirms milliseconds permanently', () => {
  const tried = refuse([[20_000, 0]]);

  expect(accept(tried, 19_999)).toBe(tried);
  const confirmed = accept(tried, 20_000);
  expect(confirmed.evidence).toBe('confirmed');

  const later = refuse(
    [
      [300, 30_000],
      [299, 40_000],
      [5, 50_000],
    ],
    confirmed,
  );
  expect(later.evidence).toBe('confirmed');
  expect(unitAfter(later, 5)).toBe('milliseconds');
});

test.each(['2996', '3000', '5', '2.5', undefined])('a refusal after the trial (%s) refutes milliseconds', (value) => {
  const tried = refuse([[3_000, 600_000]]);

  const refuted = weighRefusal(tried, { retryAfter: hint(value), sentAt: 603_000, now: 603_100 });

  expect(refuted.evidence).toBe('refuted');
  const later = accept(refuse([[5_000, 900_000]], refuted), 990_000);
  expect(later.evidence).toBe('refuted');
  expect(unitAfter(later, 5_000)).toBe('seconds');
});

test('a refusal of a request sent before the end of the tried wait proves nothing', () => {
  const early = [50, 1_000, 2_999].map((at) => [3_000, at] as const);

  const state = refuse([[3_000, 0], ...early]);

  expect(state).toEqual({ evidence: 'on-trial', endsAt: 3_000 });
});

test.each(['seconds', 'milliseconds'] as const)('a unit set to %s is not doubted, and its waits prove none', (unit) => {
  const state = accept(refuse([[3_000, 0]]), 400_000);
  const settings = { ...DEFAULT_LIMITER_SETTINGS, retryAfterUnit: unit };
  const refusal = { kind: 'refused', retryAfter: hint('3000'), sentAt: 0, now: 0 } as const;

  expect(unitAfter(state, 4_000, unit)).toBe(unit);
  expect(applyReport(stateWithLimit(60), refusal, settings).unit).toEqual(UNKNOWN_UNIT);
});

test('a decimal or a date is no evidence', () => {
  expect(
    refuse([
      ['1200.5', 0],
      ['Tue, 14 Nov 2023 22:13:50 GMT', 5_000],
    ]),
  ).toBe(UNKNOWN_UNIT);
});
