import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Pool } from 'undici';
import { buildMock } from './built-mock.ts';
import { callsPerSecond, median, table } from './measure.ts';

const ROUNDS = 7;
const LOAD = { calls: 8000, callers: 16 };

/** Requests per second over HTTP: the mock beside a bare node:http server with the same payload, in turns. */
export async function throughput(): Promise<string> {
  const module = await buildMock();
  await using mock = await start('mock-process.mjs', [module, '0']);
  await using crowded = await start('mock-process.mjs', [module, '100']);
  const payload = await mock.ask();
  await using bare = await start('bare-server.mjs', [], payload);
  const contenders = { 'bare node:http': bare, 'mock.serve()': mock, 'mock.serve(), with 100 spaces': crowded };
  const speeds = new Map(Object.keys(contenders).map((name): [string, number[]] => [name, []]));

  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, { ask }] of Object.entries(contenders)) {
      const speed = await callsPerSecond(ask, LOAD);
      // The first round warms up.
      if (round >= 0) speeds.get(name)?.push(speed);
    }
  }
  const base = median(speeds.get('bare node:http') ?? []);
  const rows = Array.from(speeds, ([name, values]) => [
    name,
    median(values).toFixed(0),
    (median(values) / base).toFixed(2),
  ]);
  return table(['over HTTP, 16 at once', 'requests/s', '/ bare'], rows);
}

interface Payload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

async function start(program: string, args: readonly string[], payload?: Payload) {
  const child = fork(join(import.meta.dirname, program), args, { execArgv: [] });
  if (payload !== undefined) {
    await once(child, 'message');
    child.send(payload);
  }
  const [{ url, keys = ['none'] }] = (await once(child, 'message')) as [{ url: string; keys?: string[] }];
  const pool = new Pool(url, { connections: 16 });
  let call = 0;
  const ask = async (): Promise<Payload> => {
    call += 1;
    const headers = { authorization: `Bearer ${keys[call % keys.length]}` };
    const response = await pool.request({ path: '/api/v1/latest?base=EUR', method: 'GET', headers });
    const body = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${program} answered ${response.statusCode}: ${body}`);
    return { body, headers: response.headers as Record<string, string> };
  };
  const end = async () => {
    await pool.close();
    child.disconnect();
  };
  return { ask, [Symbol.asyncDispose]: end };
}
