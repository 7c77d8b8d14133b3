import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from '../../../src/client/limits/heap.ts';

interface Entry {
  readonly key: number;
  readonly isRemoved: boolean;
}

const entries = fc.array(fc.record({ key: fc.nat({ max: 50 }), isRemoved: fc.boolean() }));

test('pops in order what was pushed and not removed from the middle', () => {
  fc.assert(
    fc.property(entries, (pushed) => {
      const heap = new Heap<Entry>((a, b) => a.key < b.key);
      for (const entry of pushed) heap.push(entry);
      for (const entry of pushed.filter(({ isRemoved }) => isRemoved)) expect(heap.remove(entry)).toBe(true);

      const kept = pushed.filter(({ isRemoved }) => !isRemoved).map(({ key }) => key);
      expect(heap.size).toBe(kept.length);
      expect(kept.map(() => heap.pop()?.key)).toEqual(kept.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test('an entry that is not there cannot be removed', () => {
  const heap = new Heap<Entry>((a, b) => a.key < b.key);

  expect(heap.remove({ key: 1, isRemoved: true })).toBe(false);
});
