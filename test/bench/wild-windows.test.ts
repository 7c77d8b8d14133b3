import { expect, test } from 'vitest';
import { createWindow, type Window } from '../../bench/limits/wild/windows.ts';

/** Half past a full minute. */
const START = 1_700_000_010_000;

/** Accepts as many requests at `now` as the window allows, at most `most`. */
function accepted(window: Window, now: number, most = 1_000): number {
  let count = 0;
  while (count < most && window.waitMs(now) <= 0) {
    window.accept(now);
    count += 1;
  }
  return count;
}

test('a fixed window of the minute opens with the next minute', () => {
  const window = createWindow({ kind: 'fixed-minute', limit: 3 });

  expect(accepted(window, START)).toBe(3);
  expect(window.waitMs(START + 1_000)).toBe(29_000);
  expect(accepted(window, START + 30_000)).toBe(3);
});

test('a fixed window from the first hit opens a window later', () => {
  const window = createWindow({ kind: 'fixed-first-hit', limit: 3 });
  window.accept(START);

  expect(accepted(window, START + 20_000)).toBe(2);
  expect(window.waitMs(START + 20_000)).toBe(40_000);
  expect(accepted(window, START + 60_000)).toBe(3);
  expect(window.waitMs(START + 60_000)).toBe(60_000);
});

test('a sliding log keeps all requests of the window when the limit grows', () => {
  const window = createWindow({ kind: 'sliding-log', limit: 50 });
  for (let minute = 0; minute < 4; minute += 1) {
    accepted(window, START + minute * 60_000, 10);
    accepted(window, START + minute * 60_000 + 1_000);
  }
  window.setLimit(150, START);

  expect(accepted(window, START + 185_000)).toBe(100);
  expect(window.waitMs(START + 185_000)).toBe(55_000);
});

test('a sliding counter weighs the previous window', () => {
  const window = createWindow({ kind: 'sliding-counter', limit: 10 });
  const nextMinute = START + 30_000;
  expect(accepted(window, START)).toBe(10);

  expect(window.waitMs(START)).toBe(30_001); // 10 × weight < 10 right after the minute
  expect(accepted(window, nextMinute + 15_000)).toBe(3); // floor(10 × 0.75) = 7
  expect(window.waitMs(nextMinute + 15_000)).toBe(3_001); // 10 × weight < 7 after 30 % of the minute
  expect(accepted(window, nextMinute + 18_001)).toBe(1);
});

test('a sliding counter forgets a window that has passed', () => {
  const window = createWindow({ kind: 'sliding-counter', limit: 10 });
  accepted(window, START);

  expect(accepted(window, START + 120_000)).toBe(10);
});

test('a bucket of 5 at 30 per minute refills one token in 2 s, and has at most 5', () => {
  const window = createWindow({ kind: 'bucket', limit: 30, burst: 5 });

  expect(accepted(window, START)).toBe(5);
  expect(window.waitMs(START + 500)).toBe(1_500);
  expect(accepted(window, START + 2_000)).toBe(1);
  expect(accepted(window, START + 600_000)).toBe(5);
});

test('a bucket refills at the new rate after a change of its limit', () => {
  const window = createWindow({ kind: 'bucket', limit: 60, burst: 1 });
  accepted(window, START);
  window.setLimit(600, START);

  expect(window.waitMs(START)).toBe(100);
});
