import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type QueuedCall, RequestQueue } from '../../../src/client/limits/request-queue.ts';

const NEVER = Number.POSITIVE_INFINITY;
const PRIORITIES = ['high', 'normal', 'low'] as const;

function queued(ticket: number, given: Partial<QueuedCall> = {}): QueuedCall {
  return { ticket, priority: 'normal', failures: 0, waits: true, due: { deadlineAt: NEVER }, ...given };
}

test('shifts the highest priority first, then the lowest ticket, whatever was removed', () => {
  const priority = fc.constantFrom(...PRIORITIES);
  const calls = fc.array(fc.record({ priority, leaves: fc.boolean() }));
  fc.assert(
    fc.property(calls, (given) => {
      const queue = new RequestQueue<QueuedCall>();
      const all = given.map(({ leaves, ...rest }, place) => ({ ...queued(place, rest), leaves }));
      for (const one of all.toReversed()) queue.add(one);
      for (const one of all) if (one.leaves) queue.remove(one);

      const stayed = all.filter(({ leaves }) => !leaves);
      const [high = [], normal = [], low = []] = PRIORITIES.map((one) =>
        stayed.filter((call) => call.priority === one),
      );
      const sorted = [...high, ...normal, ...low];
      expect(queue.size).toBe(stayed.length);
      expect(PRIORITIES.map((one) => queue.countAhead(one))).toEqual([
        high.length,
        high.length + normal.length,
        stayed.length,
      ]);
      expect(PRIORITIES.map((one) => queue.countAhead(one, true))).toEqual([
        0,
        high.length,
        high.length + normal.length,
      ]);
      expect(stayed.map(() => queue.shift())).toEqual(sorted);
      expect(queue.shift()).toBeUndefined();
    }),
  );
});

test('reads a passed deadline again, because it can be later now', () => {
  const queue = new RequestQueue<QueuedCall>();
  const due = { deadlineAt: 100 };
  const shared = queued(1, { due });
  queue.add(shared);
  due.deadlineAt = 500;

  expect(queue.shiftDueBefore(500)).toBeUndefined();
  expect(queue.earliestDeadline).toBe(500);
  expect(queue.shiftDueBefore(501)).toBe(shared);
});

test('a removed call leaves nothing: no place, no deadline, no policy', () => {
  const queue = new RequestQueue<QueuedCall>();
  const gone = queued(1, { priority: 'high', waits: false, due: { deadlineAt: 300 } });
  queue.add(gone);
  queue.add(queued(2, { due: { deadlineAt: 900 } }));

  queue.remove(gone);
  queue.remove(gone); // without an effect

  expect(queue).toMatchObject({ size: 1, earliestDeadline: 900 });
  expect(queue.countAhead('high')).toBe(0);
  expect(queue.shiftNotWaiting()).toBeUndefined();
  expect(queue.shiftDueBefore(900)).toBeUndefined();
});
