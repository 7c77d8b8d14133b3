import { createMockServer } from '../../src/mock-server/index.ts';
import { memoryInUse, table } from './measure.ts';

const MILLION = 1_000_000;

/** Memory of what a long run piles up. */
export async function memory(): Promise<string> {
  const rows = [
    ['1 million keys, each of its own account', await used(keys)],
    ['1 million requests, the journal keeps 1000', await used(() => requests(1000))],
    ['1 million requests, the journal keeps all', await used(() => requests(MILLION))],
  ];
  return table(
    ['memory', 'MiB'],
    rows.map(([name = '', mebibytes = '']) => [name, mebibytes]),
  );
}

/** What is in use while what `make` gives is held. */
async function used(make: () => Promise<object> | object): Promise<string> {
  const before = memoryInUse();
  const held = await make();
  const mebibytes = (memoryInUse() - before) / 2 ** 20;
  // Held until here.
  return Object.keys(held).length > 0 ? mebibytes.toFixed(0) : '';
}

function keys() {
  const mock = createMockServer({ clock: 'virtual' });
  for (let key = 0; key < MILLION; key += 1) mock.createKey();
  return mock;
}

async function requests(journalSize: number) {
  const mock = createMockServer({ clock: 'virtual', journalSize });
  const { key } = mock.createKey({ plan: 'unlimited' });
  const headers = { authorization: key };
  for (let request = 0; request < MILLION; request += 1) await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers });
  return mock;
}
