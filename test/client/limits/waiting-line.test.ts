import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Waiter, WaitingLine } from '../../../src/client/limits/waiting-line.ts';

const NEVER = Number.POSITIVE_INFINITY;

function waiter(ticket: number, given: Partial<Waiter> = {}): Waiter {
  return { ticket, isHigh: false, isImpatient: false, deadlineAt: () => NEVER, ...given };
}

test('high priority first, then in the order of the tickets, whoever comes and goes', () => {
  const waiters = fc.array(fc.record({ isHigh: fc.boolean(), leaves: fc.boolean() }));
  fc.assert(
    fc.property(waiters, (given) => {
      const line = new WaitingLine<Waiter>();
      const all = given.map(({ isHigh, leaves }, place) => ({ ...waiter(place, { isHigh }), leaves }));
      for (const one of all.toReversed()) line.join(one);
      for (const one of all) if (one.leaves) line.leave(one);

      const stayed = all.filter(({ leaves }) => !leaves);
      const high = stayed.filter(({ isHigh }) => isHigh);
      const low = stayed.filter(({ isHigh }) => !isHigh);
      expect({ size: line.size, high: line.high, low: line.low }).toEqual({
        size: stayed.length,
        high: high.length,
        low: low.length,
      });
      expect(stayed.map(() => line.next())).toEqual([...high, ...low]);
      expect(line.next()).toBeUndefined();
    }),
  );
});

test('a call that comes back with its old ticket stands before those that came later', () => {
  const line = new WaitingLine<Waiter>();
  const [first, second] = [waiter(1), waiter(2)];
  line.join(first);
  line.join(second);
  line.next();

  line.join(first);

  expect(line.next()).toBe(first);
});

test('whose deadline is before a time leaves, the earliest first', () => {
  const line = new WaitingLine<Waiter>();
  const [late, soon, none] = [waiter(1, { deadlineAt: () => 900 }), waiter(2, { deadlineAt: () => 300 }), waiter(3)];
  for (const one of [late, soon, none]) line.join(one);

  expect(line.earliestDeadline).toBe(300);
  expect(line.nextDueBefore(300)).toBeUndefined();
  expect(line.nextDueBefore(301)).toBe(soon);
  expect(line.nextDueBefore(10_000)).toBe(late);
  expect(line.nextDueBefore(NEVER)).toBeUndefined();
  expect(line.earliestDeadline).toBe(NEVER);
  expect(line.size).toBe(1);
});

test('a deadline that has grown is asked again when it has come', () => {
  const line = new WaitingLine<Waiter>();
  let deadlineAt = 100;
  const shared = waiter(1, { deadlineAt: () => deadlineAt });
  line.join(shared);
  deadlineAt = 500;

  expect(line.nextDueBefore(200)).toBeUndefined();
  expect(line.earliestDeadline).toBe(500);
  expect(line.nextDueBefore(501)).toBe(shared);
});

test('the impatient can be sent away', () => {
  const line = new WaitingLine<Waiter>();
  const impatient = waiter(2, { isImpatient: true });
  for (const one of [waiter(1), impatient, waiter(3)]) line.join(one);

  expect(line.nextImpatient()).toBe(impatient);
  expect(line.nextImpatient()).toBeUndefined();
  expect(line.size).toBe(2);
});
