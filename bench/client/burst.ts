import type { FxRatesOptions } from '../../src/client/index.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { builtClient } from '../built.ts';
import { type Call, peerCaller } from '../peers.ts';
import { inTurn, median, table } from '../report.ts';

/** Milliseconds until calls that start at once have their responses. */
type Burst = (calls: number) => Promise<number>;

const CALLS = [1, 8, 16, 30, 100];
const LATENCIES_MS = [20, 100, 500];
const ROUNDS = 15;
const BY_HAND = 'undici Pool';

interface Cell {
  readonly latencyMs: number;
  readonly calls: number;
  /** Median milliseconds by contender. */
  readonly ms: ReadonlyMap<string, number>;
}

/**
 * N calls at once, below the limit, so that nothing has to delay them: fxrates with a limit that it is told, asks for or does
 * not know, beside an undici Pool of 16 connections, alone and behind two queues. Warm connections; medians.
 */
export async function measureBursts(origin: string) {
  const cells: Cell[] = [];
  for (const latencyMs of LATENCIES_MS) {
    const bursts = await contendersOf(`${origin}/${latencyMs}`);
    for (const burst of bursts.values()) await burst(16); // connects
    for (const calls of CALLS) cells.push({ latencyMs, calls, ms: await mediansOf(bursts, calls) });
    process.stderr.write(`${latencyMs} ms\n`);
  }
  return {
    text: asText(cells),
    json: { cells: cells.map(({ ms, ...cell }) => ({ ...cell, ms: Object.fromEntries(ms) })) },
    figures: ratios(cells),
  };
}

async function contendersOf(origin: string): Promise<Map<string, Burst>> {
  const target = { origin, apiKey: API_KEY };
  return new Map([
    [BY_HAND, burstOf(await peerCaller('undici Pool')(target))],
    ['p-queue', burstOf(await peerCaller('p-queue')(target))],
    ['bottleneck', burstOf(await peerCaller('bottleneck, 16 at once')(target))],
    ['fxrates, told', await ours(origin, { rateLimit: { perMinute: 300 } })],
    ['fxrates, asked', await ours(origin)],
    ['fxrates, unknown', await ours(`${origin}/no-quota`)],
  ]);
}

/** With a new client for each burst, which knows nothing of the limit. Its connections are warm. */
async function ours(baseUrl: string, options: FxRatesOptions = {}): Promise<Burst> {
  const { FxRates } = await builtClient();
  return async (calls) => {
    const fx = new FxRates({ baseUrl, apiKey: API_KEY, ...options });
    const ms = await burstOf((n) => fx.latest({ n }))(calls);
    await fx.close();
    return ms;
  };
}

function burstOf(call: Call): Burst {
  return async (calls) => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: calls }, (_, n) => call(n)));
    return performance.now() - startedAt;
  };
}

/** In turn, so that the load of the machine is the same for all. */
async function mediansOf(bursts: ReadonlyMap<string, Burst>, calls: number) {
  const times = new Map([...bursts.keys()].map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, burst] of inTurn(bursts, round)) times.get(name)?.push(await burst(calls));
  }
  return new Map([...times].map(([name, all]) => [name, median(all)]));
}

function asText(cells: readonly Cell[]): string {
  const names = [...(cells[0]?.ms.keys() ?? [])];
  const rows = cells.map(({ latencyMs, calls, ms }) => [
    ...[`${calls} calls, ${latencyMs} ms`, (ms.get(BY_HAND) ?? 0).toFixed(0)],
    ...names.slice(1).map((name) => ratioOf(ms, name).toFixed(2)),
  ]);
  return table(['', `${BY_HAND}, ms`, ...names.slice(1).map((name) => `${name} / pool`)], rows);
}

function ratios(cells: readonly Cell[]): Record<string, number> {
  const ofCell = ({ latencyMs, calls, ms }: Cell) =>
    [...ms.keys()].slice(1).map((name) => [`${name}: ${calls} calls, ${latencyMs} ms`, ratioOf(ms, name)]);
  return Object.fromEntries(cells.flatMap(ofCell));
}

function ratioOf(ms: ReadonlyMap<string, number>, name: string): number {
  return (ms.get(name) ?? Number.NaN) / (ms.get(BY_HAND) ?? Number.NaN);
}
