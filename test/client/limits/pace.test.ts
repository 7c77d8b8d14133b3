import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../src/client/limits/accepted-log.ts';
import { Pace } from '../../../src/client/limits/pace.ts';

function logOf(...answers: number[]): AcceptedLog {
  const log = new AcceptedLog(60_000);
  for (const answeredAt of answers) log.add(answeredAt - 50, answeredAt);
  return log;
}

test('there is none until it is learned', () => {
  const pace = new Pace();

  expect(pace.isKnown).toBe(false);
  expect(pace.freeSlots(logOf(1, 2, 3), 99, 3)).toBe(Number.POSITIVE_INFINITY);
});

test('as many calls per second as the last second had accepted when one was refused', () => {
  const pace = new Pace();

  pace.learn(logOf(100, 1_500, 1_600, 1_700), 2_000);

  expect(pace.isKnown).toBe(true);
  const log = logOf(2_500, 2_600);
  expect(pace.freeSlots(log, 0, 3_000)).toBe(1);
  expect(pace.freeSlots(log, 1, 3_000)).toBe(0);
  expect(pace.nextSlotAt(log, 3_000)).toBe(3_500);
  expect(pace.freeSlots(log, 1, 3_501)).toBe(1);
});

test('it only gets smaller, and never zero', () => {
  const pace = new Pace();
  pace.learn(logOf(1_500, 1_600), 2_000);

  pace.learn(logOf(2_500, 2_600, 2_700), 3_000);
  expect(pace.freeSlots(logOf(), 0, 3_000)).toBe(2);

  pace.learn(logOf(), 9_000);
  expect(pace.freeSlots(logOf(), 0, 9_000)).toBe(1);
});
