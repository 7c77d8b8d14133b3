import { builtMock } from '../built.ts';
import { memoryInUse } from '../memory-in-use.ts';
import type { Figures } from './figures.ts';

const MILLION = 1_000_000;

/** Memory of keys and journal entries after a long run. */
export async function memory(): Promise<Figures> {
  const { createMockServer } = await builtMock();

  const keys = () => {
    const mock = createMockServer({ clock: 'virtual' });
    for (let key = 0; key < MILLION; key += 1) mock.createKey();
    return mock;
  };
  const requests = async (journalSize: number) => {
    const mock = createMockServer({ clock: 'virtual', journalSize });
    const { key } = mock.createKey({ plan: 'unlimited' });
    const headers = { authorization: key };
    for (let request = 0; request < MILLION; request += 1)
      await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers });
    return mock;
  };

  return {
    heads: ['memory', 'MiB'],
    rows: [
      ['1 million keys, each of its own account', await mebibytesOf(keys)],
      ['1 million requests, the journal keeps 1000', await mebibytesOf(() => requests(1000))],
      ['1 million requests, the journal keeps all', await mebibytesOf(() => requests(MILLION))],
    ],
    notes: ['What is in use after a collection, beside what was in use before.'],
  };
}

/** Memory in use while the result of `make` is referenced. */
async function mebibytesOf(make: () => Promise<object> | object): Promise<number> {
  const before = memoryInUse();
  const held = await make();
  const mebibytes = (memoryInUse() - before) / 2 ** 20;
  // This reference prevents collection until here.
  return Object.keys(held).length > 0 ? mebibytes : Number.NaN;
}
