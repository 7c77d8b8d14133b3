import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/mock-server/index.ts';
import { minuteChart } from '../../../src/mock-server/panel/browser/journal-entries.ts';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0, 500);

function entry(secondsAgo: number, status: number, used: number, keyId = 'key_1'): JournalEntry {
  return { at: NOW - secondsAgo * 1000, status, keyId, rate: { limit: 30, used, fullAt: NOW } } as JournalEntry;
}

/** Newest first, as the panel has them. */
const burst = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(1, 200, to - index));

test('a burst up to the limit stays at the limit, and only refused requests are above it', () => {
  const { columns, summary } = minuteChart([entry(0, 429, 30), entry(0, 429, 30), ...burst(1, 30)], NOW, '');
  const [times, all, used, limit] = columns;

  expect(times).toHaveLength(120);
  expect(times.at(-1)).toBe(Math.floor(NOW / 1000));
  expect(used.slice(-3)).toEqual([0, 30, 30]);
  expect(all.slice(-3)).toEqual([0, 30, 32]);
  expect(new Set(limit)).toEqual(new Set([30]));
  expect(summary).toBe(
    'In the last two minutes, 30 requests of key_1 were served and 2 not; the limit is 30 per minute.',
  );
});

test('shows the last two minutes of the chosen key, or of the key that was used last', () => {
  const entries = [entry(0, 200, 1, 'key_2'), entry(119, 200, 4), entry(120, 200, 3)];

  expect(minuteChart(entries, NOW, '').columns[2].filter((used) => used > 0)).toEqual([1]);
  const { columns, keyId } = minuteChart(entries, NOW, 'key_1');
  expect([keyId, columns[2][0], columns[2].filter((used) => used > 0)]).toEqual(['key_1', 4, [4]]);
});

test('shows no limit before the first request with a key', () => {
  const { columns, keyId, summary } = minuteChart([{ at: NOW, status: 401 } as JournalEntry], NOW, '');

  expect([keyId, summary]).toEqual([undefined, 'No request with a key yet.']);
  expect(columns[1].every((count) => count === 0)).toBe(true);
  expect(columns[3].every((limit) => limit === null)).toBe(true);
});

test('a broken connection is not served, and refused requests that count stay at the limit', () => {
  const { columns, summary } = minuteChart([entry(0, 0, 31), entry(0, 200, 30)], NOW, '');

  expect([columns[1].at(-1), columns[2].at(-1)]).toEqual([31, 30]);
  expect(summary).toContain('1 requests of key_1 were served and 1 not');
});
