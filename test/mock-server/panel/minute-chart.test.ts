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
  const { seconds, limit, summary } = minuteChart([entry(0, 429, 30), entry(0, 429, 30), ...burst(1, 30)], NOW, '');

  const now = Math.floor(NOW / 1000);
  expect(seconds).toHaveLength(120);
  expect(seconds.slice(-3)).toEqual([
    { at: now - 2, used: 0, all: 0 },
    { at: now - 1, used: 30, all: 30 },
    { at: now, used: 30, all: 32 },
  ]);
  expect(limit).toBe(30);
  expect(summary).toBe(
    'In the last two minutes, 30 requests of key_1 were served and 2 not; the limit is 30 per minute.',
  );
});

test('shows the last two minutes of the chosen key, or of the key that was used last', () => {
  const entries = [entry(0, 200, 1, 'key_2'), entry(119, 200, 4), entry(120, 200, 3)];

  const usedIn = ({ seconds }: ReturnType<typeof minuteChart>) => seconds.map(({ used }) => used);
  expect(usedIn(minuteChart(entries, NOW, '')).filter((used) => used > 0)).toEqual([1]);
  const chart = minuteChart(entries, NOW, 'key_1');
  expect([chart.keyId, usedIn(chart)[0], usedIn(chart).filter((used) => used > 0)]).toEqual(['key_1', 4, [4]]);
});

test('shows no limit before the first request with a key', () => {
  const { seconds, keyId, limit, summary } = minuteChart([{ at: NOW, status: 401 } as JournalEntry], NOW, '');

  expect([keyId, limit, summary]).toEqual([undefined, undefined, 'No request with a key yet.']);
  expect(seconds.every(({ all }) => all === 0)).toBe(true);
});

test('a broken connection is not served, and refused requests that count stay at the limit', () => {
  const { seconds, summary } = minuteChart([entry(0, 0, 31), entry(0, 200, 30)], NOW, '');

  expect(seconds.at(-1)).toMatchObject({ used: 30, all: 31 });
  expect(summary).toContain('1 requests of key_1 were served and 1 not');
});
