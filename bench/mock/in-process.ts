import { buildMock } from './built-mock.ts';
import { callsPerSecond, median, table } from './measure.ts';

const ROUNDS = 7;

/** Calls per second of `mock.fetch`, which needs no socket. */
export async function inProcess(): Promise<string> {
  // Checked against the source by its type.
  const { createMockServer } = (await import(await buildMock())) as typeof import('../../src/mock-server/index.ts');
  const plain = createMockServer({ clock: 'virtual' });
  const faulty = createMockServer({ clock: 'virtual' });
  faulty.faults.add({ kind: 'status', status: 503, probability: 0.01 });
  const rows = [];
  for (const [name, mock] of [['mock.fetch', plain] as const, ['mock.fetch, with a fault', faulty] as const]) {
    const keys = Array.from({ length: 100 }, () => mock.createKey({ plan: 'unlimited' }).key);
    let call = 0;
    const ask = async () => {
      call += 1;
      const headers = { authorization: keys[call % keys.length] ?? '' };
      return (await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers })).text();
    };
    const speeds: number[] = [];
    for (let round = -1; round < ROUNDS; round += 1) {
      const speed = await callsPerSecond(ask, { calls: 10_000, callers: 1 });
      if (round >= 0) speeds.push(speed);
    }
    rows.push([name, median(speeds).toFixed(0)]);
  }
  return table(['in process, one after the other', 'calls/s'], rows);
}
