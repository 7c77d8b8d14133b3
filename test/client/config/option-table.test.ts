import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../../src/client/config/option-table.ts';

/** The same, as slow and as simple as can be: a list by last use. */
class SimpleStore {
  #entries: [string, string][] = [];

  get(key: string): string | undefined {
    const found = this.#entries.find(([other]) => other === key);
    if (found !== undefined) this.#entries = [...this.#entries.filter((entry) => entry !== found), found];
    return found?.[1];
  }

  set(key: string, value: string): void {
    this.#entries = [...this.#entries.filter(([other]) => other !== key), [key, value]];
    while (this.#entries.flat().join('').length > CAPACITY) this.#entries.shift();
  }
}

const CAPACITY = 30;

type Action = readonly [name: 'get' | 'set', key: string, value: string];

/** The results of all actions, then the value of each key. */
function trace(store: MemoryStore | SimpleStore, actions: readonly Action[]): unknown[] {
  const given = actions.map(([name, key, value]) => (name === 'get' ? store.get(key) : store.set(key, value)));
  return [...given, ...KEYS.map((key) => store.get(key))];
}

const KEYS = [...'abcdef'];

test('contains the most recently used entries that fit', () => {
  const action = fc.tuple(fc.constantFrom('get', 'set'), fc.constantFrom(...KEYS), fc.string({ maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
      expect(trace(new MemoryStore(CAPACITY), actions)).toEqual(trace(new SimpleStore(), actions));
    }),
  );
});
