import { expect, test } from 'vitest';
import { inTurn, withRun } from '../../bench/report.ts';

const EARLIER = [{ date: '2026-11-30', changed: [], commit: 'one', figures: { a: 1, b: 2 } }];

test('a run with the default options replaces the whole record', () => {
  const run = { date: '2026-12-01', changed: [], commit: 'two', figures: { b: 3 } };

  expect(withRun(EARLIER, run)).toEqual([run]);
});

test.each([
  ['some figures', { b: 3 }, [{ ...EARLIER[0], figures: { a: 1 } }]],
  ['all figures', { a: 4, b: 3 }, []],
  ['new figures', { c: 3 }, EARLIER],
])('a run with other options replaces only what it measured: %s', (_, figures, kept) => {
  const run = { date: '2026-12-01', changed: ['only'], commit: 'two', figures };

  expect(withRun(EARLIER, run)).toEqual([...kept, run]);
});

test('every second round starts from the other end', () => {
  expect([0, 1, 2].map((round) => inTurn(new Set(['a', 'b', 'c']), round).join(''))).toEqual(['abc', 'cba', 'abc']);
});
