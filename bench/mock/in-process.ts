import type { MockServer } from '../../src/mock-server/index.ts';
import { builtMock } from '../built.ts';
import { median } from '../median.ts';
import { callsPerSecond } from './calls-per-second.ts';
import type { Figures } from './figures.ts';
import { mockResponse } from './programs.ts';
import { LATEST } from './recorded-response.ts';

const ROUNDS = 9;
const CALLS = 5_000;
/** Each key allows 1000 requests per minute, and the virtual time stands still. */
const KEYS = 200;
const QUOTA = '/api/v1/quota';

/** Calls per second of `mock.fetch`, which needs no socket. */
export async function inProcess(): Promise<Figures> {
  const { createMockServer } = await builtMock();
  const plain = createMockServer({ clock: 'virtual' });
  const faulty = createMockServer({ clock: 'virtual' });
  faulty.faults.add({ kind: 'status', status: 503, probability: 0.01 });
  const { body, headers } = await mockResponse();
  const calls = new Map([
    ['a bare new Response', async () => (await new Response(body, { headers })).text()],
    ['mock.fetch, latest', caller(plain, LATEST)],
    ['mock.fetch, latest, one fault in a hundred', caller(faulty, LATEST)],
    ['mock.fetch, quota', caller(plain, QUOTA)],
  ]);
  const speeds = new Map([...calls.keys()].map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, call] of calls) {
      const speed = await callsPerSecond(call, CALLS);
      // The first round is a warm-up.
      if (round >= 0) speeds.get(name)?.push(speed);
    }
  }
  const rows = Array.from(speeds, ([name, values]) => [name, median(values), 1e6 / median(values)] as const);
  return { heads: ['in process', 'calls/s', 'µs per call'], rows, notes: [METHOD] };
}

const METHOD =
  'One caller, one call after the other: the request, the decision, the journal, and the text of the response; ' +
  `medians of ${ROUNDS} alternating turns of ${CALLS} calls.`;

function caller(mock: MockServer, target: string): () => Promise<string> {
  const keys = Array.from({ length: KEYS }, () => mock.createKey({ plan: 'unlimited' }).key);
  const url = mock.baseUrl + target;
  let call = 0;
  return async () => {
    call += 1;
    const headers = { authorization: `Bearer ${keys[call % KEYS]}` };
    return (await mock.fetch(url, { headers })).text();
  };
}
