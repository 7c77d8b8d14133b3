import { expect, test } from 'vitest';
import { AcceptedLog, WINDOW_MS } from '../../../src/client/limits/limit-state.ts';

function logOf(...times: number[]): AcceptedLog {
  const log = new AcceptedLog();
  for (const at of times) log.add(at);
  return log;
}

test('a request expires one minute after its response', () => {
  const log = logOf(1_000, 2_000);

  log.expire(60_999);
  expect([log.size, log.expiresAt(0), log.expiresAt(1)]).toEqual([2, 61_000, 62_000]);
  log.expire(61_000);

  expect([log.size, log.expiresAt(0), log.expiresAt(1)]).toEqual([1, 62_000, undefined]);
});

test('forgets the oldest requests on demand, at most all', () => {
  const log = logOf(1, 2, 3);

  log.expire(3, 2);
  expect(log.expiresAt(0)).toBe(3 + WINDOW_MS);
  log.expire(3, 5);

  expect(log.size).toBe(0);
});

test('keeps its order even if the clock goes back', () => {
  expect(logOf(5, 3, 7).toJSON()).toBe('5,0,2');
});

test('is saved as the differences of its times', () => {
  const log = logOf(1_000_000, 1_000_005, 1_000_030);

  expect(log.toJSON()).toBe('1000000,5,25');
  expect(new AcceptedLog(log.toJSON()).toJSON()).toBe(log.toJSON());
  expect(new AcceptedLog(new AcceptedLog().toJSON()).size).toBe(0);
});

test('a copy has every nth request, and changes alone', () => {
  const log = logOf(1, 2, 3, 4, 5);
  const half = log.copy(2);
  half.add(6);

  expect([half.size, log.copy().size, log.size]).toEqual([4, 5, 5]);
});
