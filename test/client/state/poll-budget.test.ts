import { expect, test } from 'vitest';
import { PollBudget } from '../../../src/client/state/poll-budget.ts';

const HOUR = 3_600_000;
const poll = { requests: 1, fixedMs: undefined };

/** A budget with one poll, which has made a request in each hour in which others made so many. */
function budgetAfter(others: readonly number[]) {
  const budget = new PollBudget();
  budget.start(poll);
  let remaining = 100_000;
  budget.sawRemaining(remaining, 0);
  others.forEach((count, hour) => {
    budget.sent();
    remaining -= count + 1;
    budget.sawRemaining(remaining, (hour + 1) * HOUR);
  });
  return { budget, remaining };
}

const hours = (count: number, others = 0) => Array.from({ length: count }, () => others);
const each = (count: number, others: number) => hours(count, others).map((byOthers) => [1, byOthers] as const);
const inOneOf = (period: number, others: number) =>
  Array.from({ length: 336 }, (_, hour) => (hour % period === 0 ? others : 0));

test.each([
  ['no count yet', [], 1_000],
  ['nothing by others', hours(10), 1_000],
  ['two counts, which can both be of one job', [300, 300], 1_000],
  ['a job in two of many hours', [...hours(5), 300, 300, ...hours(5)], 1_000],
  ['four requests in each hour', hours(10, 4), 600],
  [
    'a hundred requests once a day, of two weeks without the two largest',
    inOneOf(24, 100),
    1_000 - 100 * (1_200 / 334),
  ],
  ['only the last two weeks count', [...hours(20, 9), ...hours(336, 4)], 600],
  ['more by others than is left: a tenth', hours(10, 20), 100],
])('requests left for the polls of 1,000 in 100 hours, after %s', (_, others, expected) => {
  const { budget } = budgetAfter(others);

  expect((100 * HOUR) / budget.spreadMs({ requests: 1_000, leftMs: 100 * HOUR })).toBeCloseTo(expected, 0);
});

test.each([
  ['a new month or a larger plan', 50_000, 11 * HOUR],
  ['a clock that was set back', -500, 5 * HOUR],
  ['a record before the end of the hour', -500, 10.5 * HOUR],
] as const)('%s adds no count', (_, more, atMs) => {
  const { budget, remaining } = budgetAfter(hours(10, 4));
  const month = { requests: 1_000, leftMs: 100 * HOUR };
  const before = budget.spreadMs(month);

  budget.sawRemaining(remaining + more, atMs);

  expect(budget.spreadMs(month)).toBe(before);
  if (more < 0) return;
  budget.sent();
  budget.sawRemaining(remaining + more - 5, atMs + HOUR); // counts from there
  expect(budget.spreadMs(month)).toBe(before);
});

test.each<[string, number, (readonly [afterHours: number, byOthers: number])[], number]>([
  ['a machine sleeps for 15 hours a day', 10_000, [...each(10, 4), [15, 4], ...each(10, 4), [15, 4]], 80 / 48],
  ['a machine slept for a month', 10_000, [...each(10, 4), [720, 4], ...each(10, 2)], 2],
  ['a month was used up after ten hours', 40, [...each(10, 4), ...each(20, 0)], 4],
  ['a clock was set back a year', 10_000, [...each(10, 4), [-8_760, 1], ...each(30, 2)], 92 / 38],
])('if %s, so much per hour is left for others', (_, first, records, expected) => {
  const budget = new PollBudget();
  budget.start(poll);
  let [remaining, at] = [first, 0];
  budget.sawRemaining(remaining, at);
  for (const [afterHours, byOthers] of records) {
    remaining -= byOthers;
    at += afterHours * HOUR;
    budget.sawRemaining(remaining, at);
  }

  const forPolls = (100 * HOUR) / budget.spreadMs({ requests: 1_000, leftMs: 100 * HOUR });
  expect((1_000 - forPolls) / 100).toBeCloseTo(expected, 2);
});
