import { expect, test } from 'vitest';
import { changesText } from '../../bench/report.ts';

test('figures that differ by more than a tenth are listed, also from and to zero', () => {
  const before = { same: 1, slower: 1, faster: 2, zero: 0, fromZero: 0 };
  const now = { same: 1.09, slower: 1.111, faster: 1.5, zero: 0, fromZero: 3 };

  expect(changesText(before, now)).toBe(
    [
      '2 of 5 figures are within 10 %.',
      '',
      '|  | was | is |',
      '| --- | --: | --: |',
      '| slower | 1 | 1.11 |',
      '| faster | 2 | 1.5 |',
      '| fromZero | 0 | 3 |',
    ].join('\n'),
  );
});

test('without changes there is no table', () => {
  expect(changesText({ a: 1, missing: 5 }, { a: 1, added: 2 })).toBe('1 of 1 figures are within 10 %.');
});
