import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from '../src/heap.ts';

interface Entry {
  readonly key: number;
  readonly isRemoved: boolean;
}

const entries = fc.array(fc.record({ key: fc.nat({ max: 50 }), isRemoved: fc.boolean() }));

test('pops in order what was pushed and not removed from the middle', () => {
  fc.assert(
    fc.property(entries, (pushed) => {
      const heap = new Heap<Entry>((a, b) => a.key < b.key);
      const nodes = pushed.map((entry) => heap.push(entry));
      for (const node of nodes.filter(({ entry }) => entry.isRemoved)) expect(heap.remove(node)).toBe(true);

      const kept = pushed.filter(({ isRemoved }) => !isRemoved).map(({ key }) => key);
      expect(heap.size).toBe(kept.length);
      expect(kept.map(() => heap.pop()?.key)).toEqual(kept.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test('an entry that has left cannot be removed', () => {
  const heap = new Heap<Entry>((a, b) => a.key < b.key);
  const node = heap.push({ key: 1, isRemoved: false });
  heap.push({ key: 2, isRemoved: false });
  heap.pop();

  expect(heap.remove(node)).toBe(false);
  expect(heap.size).toBe(1);
});

test('an entry more costs as many comparisons as the heap has levels', () => {
  let comparisons = 0;
  const heap = new Heap<{ readonly key: number }>((a, b) => {
    comparisons += 1;
    return a.key < b.key;
  });
  const all = Array.from({ length: 10_000 }, (_, place) => ({ key: (place * 7_919) % 10_007 }));
  const nodes = all.map((entry) => heap.push(entry));
  for (const node of nodes) heap.remove(node);

  const levels = Math.log2(all.length);
  expect(comparisons).toBeLessThan(3 * levels * all.length);
});
