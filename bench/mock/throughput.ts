import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildMock } from './built-mock.ts';
import { median, table } from './measure.ts';
import { rawLoad } from './raw-load.ts';

const ROUNDS = 9;
const LOAD = { calls: 16_000, connections: 16 };

/** Requests per second over HTTP: the mock beside a bare node:http server with the same payload, in turns. */
export async function throughput(): Promise<string> {
  const module = await buildMock();
  await using mock = await start('mock-process.mjs', [module, '0']);
  await using crowded = await start('mock-process.mjs', [module, '100']);
  await using bare = await start('bare-server.mjs', [], await payloadOf(mock));
  const contenders = { 'bare node:http': bare, 'mock.serve()': mock, 'mock.serve(), with 100 spaces': crowded };
  const speeds = new Map(Object.keys(contenders).map((name): [string, number[]] => [name, []]));

  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, { url, keys }] of Object.entries(contenders)) {
      const speed = await rawLoad(url, { ...LOAD, keys });
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
  return table(['over HTTP, 16 connections', 'requests/s', '/ bare'], rows);
}

interface Payload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

async function payloadOf({ url, keys }: { readonly url: string; readonly keys: readonly string[] }): Promise<Payload> {
  const response = await fetch(`${url}/api/v1/latest?base=EUR`, { headers: { authorization: keys[0] ?? '' } });
  const { connection: _, 'keep-alive': __, ...headers } = Object.fromEntries(response.headers);
  return { body: await response.text(), headers };
}

async function start(program: string, args: readonly string[], payload?: Payload) {
  const child = fork(join(import.meta.dirname, program), args, { execArgv: [] });
  if (payload !== undefined) {
    await once(child, 'message');
    child.send(payload);
  }
  const [{ url, keys = ['none'] }] = (await once(child, 'message')) as [{ url: string; keys?: string[] }];
  return { url, keys, [Symbol.asyncDispose]: async () => child.disconnect() };
}
