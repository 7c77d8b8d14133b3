import fc from 'fast-check';
import { expect, test } from 'vitest';
import { behaviourMatrix, pairwiseRows } from '../../../src/mock-server/behaviour/behaviour-matrix.ts';
import { SWITCH_NAMES, switches } from '../../../src/mock-server/behaviour/switches.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';

test('each returns the defaults, then every other value alone', () => {
  const cases = behaviourMatrix(['retryAfterUnit', 'quotaExhausted']);

  expect(cases).toEqual([
    { title: 'defaults', behaviour: { retryAfterUnit: 'seconds', quotaExhausted: '429 quota_exceeded' } },
    {
      title: 'retryAfterUnit: milliseconds',
      behaviour: { retryAfterUnit: 'milliseconds', quotaExhausted: '429 quota_exceeded' },
    },
    {
      title: 'quotaExhausted: 402 quota_exceeded',
      behaviour: { retryAfterUnit: 'seconds', quotaExhausted: '402 quota_exceeded' },
    },
    {
      title: 'quotaExhausted: 403 quota_exceeded',
      behaviour: { retryAfterUnit: 'seconds', quotaExhausted: '403 quota_exceeded' },
    },
  ]);
});

test('without names, covers every value of every undocumented switch', () => {
  const undocumented = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');
  const others = undocumented.flatMap((name): readonly unknown[] => switches[name].alternatives);

  const cases = behaviourMatrix();

  expect(cases).toHaveLength(1 + others.length);
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
});

test.each(behaviourMatrix(undefined, { strategy: 'pairwise' }))('a mock accepts the case $title', ({ behaviour }) => {
  const mock = createMockServer({ behaviour, onAssumption: 'error' });

  expect(mock.behaviour.values).toMatchObject(behaviour);
  expect(mock.behaviour.describe().every(({ accepted }) => accepted)).toBe(true);
});

test('pairwise over all switches stays small, and is the same each time', () => {
  const cases = behaviourMatrix(undefined, { strategy: 'pairwise' });

  expect(cases.length).toBeLessThan(45);
  expect(behaviourMatrix(undefined, { strategy: 'pairwise' })).toEqual(cases);
});

test('pairwise rows contain every pair of values', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 0, maxLength: 9 }), (sizes) => {
      const rows = pairwiseRows(sizes);

      const met = new Set(
        rows.flatMap((row) => row.flatMap((a, i) => row.slice(0, i).map((b, j) => `${i}=${a} ${j}=${b}`))),
      );
      const pairs = sizes.flatMap((left, i) => sizes.slice(0, i).map((right) => left * right));
      expect(met.size).toBe(pairs.reduce((sum, count) => sum + count, 0));
      const isWithin = (row: readonly number[]) => row.every((value, index) => value >= 0 && value < sizes[index]!);
      expect(rows.every((row) => row.length === sizes.length && isWithin(row))).toBe(true);
    }),
  );
});

test.each([
  [[], 1],
  [[4], 4],
  [[5, 2, 3], 15],
  [[2, 2, 2, 2], 6],
  [[3, 3, 3, 3], 12],
  [Array(10).fill(2), 10],
])('%j has at most %i pairwise rows', (sizes, most) => {
  expect(pairwiseRows(sizes).length).toBeLessThanOrEqual(most);
});

test.each([
  [() => behaviourMatrix(['rateWindows' as never]), 'names is "rateWindows"; expected one of rateWindow,'],
  [() => behaviourMatrix(['revocationDelayMs']), 'names is "revocationDelayMs"'],
  [() => behaviourMatrix([], { strategy: 'all' as never }), "strategy is \"all\"; expected 'each' or 'pairwise'."],
])('%s is refused', (act, message) => {
  expect(act).toThrow(message);
});

test('a name given twice counts once', () => {
  expect(behaviourMatrix(['planChange', 'planChange'])).toEqual(behaviourMatrix(['planChange']));
});
