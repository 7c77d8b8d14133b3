import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter, type RetryAfterUnit } from '../../../src/client/limits/retry-after.ts';
import {
  UNKNOWN_UNIT,
  type UnitState,
  unitOf,
  weighAcceptance,
  weighRefusal,
} from '../../../src/client/limits/retry-after-unit.ts';

/** Refusals in order: the value, and when its request was sent and answered. */
function refuse(values: readonly (readonly [value: number | string, at: number])[], before = UNKNOWN_UNIT): UnitState {
  return values.reduce(
    (state, [value, at]) => weighRefusal(state, parseRetryAfter(String(value)), { sentAt: at, now: at }),
    before,
  );
}

function unitAfter(state: UnitState, value: number, option: 'auto' | RetryAfterUnit = 'auto'): RetryAfterUnit {
  return unitOf(state, value, option);
}

test.each([1, 45, 61, 75])('%i is read as seconds', (value) => {
  const state = refuse([[value, 0]]);

  expect(state.evidence).toBe('assumed');
  expect(unitAfter(state, value)).toBe('seconds');
});

test.each([76, 120, 30_000, 61_200])(
  '%i, too long to be the seconds of a limit per minute, is tried as milliseconds',
  (value) => {
    const state = refuse([[value, 0]]);

    expect(state.evidence).toBe('on-trial');
    expect(unitAfter(state, value)).toBe('milliseconds');
  },
);

test.each([61_201, 86_400])('%i is a longer quota in either unit: it stays seconds', (value) => {
  const state = refuse([[value, 0]]);

  expect(state.evidence).toBe('assumed');
  expect(unitAfter(state, value)).toBe('seconds');
});

test('values up to 75 are never evidence, however much they differ', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 75 }), fc.nat({ max: 100_000 }))), (values) => {
      const state = refuse(values);

      expect(state).toBe(UNKNOWN_UNIT);
      for (const [value] of values) expect(unitAfter(state, value)).toBe('seconds');
    }),
  );
});

test('a value up to 75 is read as seconds while a larger one is on trial', () => {
  const state = refuse([[30_000, 0]]);

  expect(unitAfter(state, 31)).toBe('seconds');
  expect(unitAfter(state, 29_000)).toBe('milliseconds');
});

test('a request accepted after the tried wait confirms milliseconds for good', () => {
  const tried = refuse([[20_000, 0]]);

  expect(weighAcceptance(tried, 19_999)).toBe(tried);
  const confirmed = weighAcceptance(tried, 20_000);
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

test('a countdown in seconds refutes milliseconds for good', () => {
  const tried = refuse([[3_000, 0]]);

  const refuted = refuse([[2_996, 3_500]], tried);

  expect(refuted.evidence).toBe('refuted');
  const later = weighAcceptance(refuse([[5_000, 900_000]], refuted), 990_000);
  expect(later.evidence).toBe('refuted');
  expect(unitAfter(later, 5_000)).toBe('seconds');
});

test('a countdown over less than 2.5 s proves nothing: rounding alone looks like it', () => {
  expect(
    refuse([
      [1_000, 0],
      [999, 2_400],
    ]).evidence,
  ).toBe('on-trial');
});

test('a value that never changes is refuted at the second refusal after the trial', () => {
  const once = refuse([
    [3_600, 0],
    [3_600, 3_600],
  ]);
  const twice = refuse([[3_600, 7_200]], once);

  expect(once.evidence).toBe('on-trial');
  expect(twice.evidence).toBe('refuted');
  expect(unitAfter(twice, 3_600)).toBe('seconds');
});

test('values that vary are refuted at the eighth refusal: others can have taken the slot', () => {
  let at = 0;
  let state = refuse([[30_000, at]]);
  const evidence: string[] = [];
  for (let refusal = 0; refusal < 8; refusal += 1) {
    const value = 20_000 + 3_000 * (refusal % 2);
    at += 40_000;
    state = refuse([[value, at]], state);
    evidence.push(state.evidence);
  }

  expect(evidence).toEqual([...Array.from({ length: 7 }, () => 'on-trial'), 'refuted']);
});

test('refusals of requests sent before the tried wait ended prove nothing', () => {
  const early = [50, 100, 150, 200, 250].map((at) => [300, at] as const);

  const state = refuse([[300, 0], ...early]);

  expect(state.trial).toMatchObject({ refusedAt: 0, endsAt: 300, refusals: 0 });
});

test.each(['seconds', 'milliseconds'] as const)('a unit set to %s is never doubted', (unit) => {
  const state = weighAcceptance(refuse([[300, 0]]), 400_000);

  expect(unitAfter(state, 400, unit)).toBe(unit);
});

test('a decimal or a date is no evidence', () => {
  expect(
    refuse([
      ['1200.5', 0],
      ['Tue, 14 Nov 2023 22:13:50 GMT', 5_000],
    ]),
  ).toBe(UNKNOWN_UNIT);
});
