import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/mock-server/index.ts';
import { perSecond } from '../../../src/mock-server/panel/browser/journal-entries.ts';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0, 500);

function entry(secondsAgo: number, status: number): JournalEntry {
  const rate = { limit: 300, used: 1, fullAt: NOW };
  return { at: NOW - secondsAgo * 1000, status, rate } as JournalEntry;
}

test('counts the last two minutes second by second, refused ones among all', () => {
  const { columns, summary } = perSecond(
    [entry(0, 429), entry(0, 200), entry(1, 200), entry(119, 200), entry(120, 200)],
    NOW,
  );
  const [times, all, served, limit] = columns;

  expect(times).toHaveLength(120);
  expect(times.at(-1)).toBe(Math.floor(NOW / 1000));
  expect(all.slice(-3)).toEqual([0, 1, 2]);
  expect(served.slice(-3)).toEqual([0, 1, 1]);
  expect(all[0]).toBe(1);
  expect(new Set(limit)).toEqual(new Set([5]));
  expect(summary).toBe('In the last two minutes, 3 requests were served and 1 refused; the limit is 300 per minute.');
});

test('shows no limit before the first counted request, and no later requests', () => {
  const { columns, summary } = perSecond([{ at: NOW + 5000, status: 200 } as JournalEntry], NOW);
  expect(columns[1].every((count) => count === 0)).toBe(true);
  expect(columns[3].every((pace) => pace === null)).toBe(true);
  expect(summary).toContain('the limit is not known yet');
});

test('counts a broken connection as refused, not as served', () => {
  const { columns, summary } = perSecond([entry(0, 0), entry(0, 200)], NOW);

  expect([columns[1].at(-1), columns[2].at(-1)]).toEqual([2, 1]);
  expect(summary).toContain('1 requests were served and 1 refused');
});
