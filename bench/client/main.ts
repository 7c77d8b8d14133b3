/**
 * Measures what a call costs: fxrates compared with bare `undici.request` and other clients. All of them use the same
 * server and payload (170 rates).
 * `npm ci --prefix bench && npm run bench:client`; `--json`, `--record`, `--only fxrates,ky`, `--calls 3000`, `--rounds 9`.
 *
 * The contenders run in turn, round after round, in one process; the server has its own. A ratio compares medians.
 * CPU time per call is more reliable than calls per second where other programs share the machine.
 * `--burst` measures the time of calls that start at once instead (burst.ts).
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FxRatesOptions } from '../../src/client/index.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { builtClient } from '../built.ts';
import { type Call, type CreateCaller, peerCaller, requirePeers, type Target } from '../peers.ts';
import { chosen, inTurn, median, readOptions, report, table } from '../report.ts';
import { measureBursts } from './burst.ts';

/** A limit that is never reached: the bench measures the work per call. */
const rateLimit = { perMinute: 100_000_000 };

const PEERS = ['ky', 'axios', 'got'];

/** By their names for `--only`. All other contenders are compared with the first one. */
const CONTENDERS: Readonly<Record<string, { readonly title: string; readonly createCaller: CreateCaller }>> = {
  'undici-request': { title: 'undici.request + JSON.parse', createCaller: callUndici },
  fxrates: { title: 'fxrates', createCaller: ours({ rateLimit }) },
  'fxrates-unlimited': { title: 'fxrates, no limiter', createCaller: ours({ rateLimit: false }) },
  'fxrates-cached': {
    title: 'fxrates, from its cache',
    createCaller: ours({ cache: { maxAgeMs: 3_600_000 } }, 'always the same'),
  },
  ...Object.fromEntries(['fetch', ...PEERS].map((name) => [name, { title: name, createCaller: peerCaller(name) }])),
};

const CONCURRENCIES = [1, 16];

const options = readOptions({ only: '', calls: 3_000, rounds: 9, burst: false });
const names = chosen(options.only, Object.keys(CONTENDERS));
const contenders = Object.entries(CONTENDERS).filter(([name], place) => place === 0 || names.includes(name));
if (names.some((name) => PEERS.includes(name))) requirePeers();

const server = fork(fileURLToPath(new URL('rates-server.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
const [origin] = (await once(server, 'message')) as [string];
await useClientFirst(origin);
if (options.burst) {
  requirePeers();
  const bursts = await measureBursts(origin);
  server.disconnect();
  report('burst', bursts, options);
  process.exit();
}
const calls = new Map<string, Call>();
for (const [, { title, createCaller }] of contenders) calls.set(title, await createCaller({ origin, apiKey: API_KEY }));
const results: { concurrency: number; rows: Measured[] }[] = [];
for (const concurrency of CONCURRENCIES) {
  results.push({ concurrency, rows: await measureInTurns(calls, { ...options, concurrency }) });
}
server.disconnect();
report('client', { text: asText(), json: { results }, figures: ratios() }, options);
process.exit();

function ours(options: FxRatesOptions, parameter?: string): CreateCaller {
  return async ({ origin, apiKey }) => {
    const { FxRates } = await builtClient();
    const fx = new FxRates({ baseUrl: origin, apiKey, ...options });
    return (n) => fx.latest({ n: parameter ?? n });
  };
}

/**
 * The first use of undici in this process, as in a program without it: the client then sends through its own Agent. If another
 * module imported undici first, the client would use the Agent that this makes the global dispatcher.
 */
async function useClientFirst(baseUrl: string): Promise<void> {
  const { FxRates } = await builtClient();
  const fx = new FxRates({ baseUrl, apiKey: API_KEY });
  await fx.latest();
  await fx.close();
}

async function callUndici({ origin, apiKey }: Target): Promise<Call> {
  const { Agent, getGlobalDispatcher, request } = await import('undici');
  if (getGlobalDispatcher() instanceof Agent)
    throw new Error('undici was imported before the first call of the client');
  const dispatcher = new Agent(); // the global dispatcher is that of Node's fetch, of another version
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  return async (n) => {
    const { body } = await request(`${origin}/api/v1/latest?n=${n}`, { headers, dispatcher });
    return JSON.parse(await body.text());
  };
}

function ratios(): Record<string, number> {
  const ofRow = (concurrency: number, { name, throughput, cpu }: Measured) => [
    [`${name}, ${concurrency} at once: throughput / bare`, throughput],
    [`${name}, ${concurrency} at once: CPU / bare`, cpu],
  ];
  return Object.fromEntries(results.flatMap(({ concurrency, rows }) => rows.flatMap((row) => ofRow(concurrency, row))));
}

function asText(): string {
  return results.map(({ concurrency, rows }) => `### ${concurrency} at once\n\n${tableOf(rows)}`).join('\n\n');
}

function tableOf(rows: readonly Measured[]): string {
  const cells = rows.map(({ name, callsPerSecond, cpuMicroseconds, throughput, cpu }) => [
    ...[name, callsPerSecond.toFixed(0), cpuMicroseconds.toFixed(0), throughput.toFixed(2), cpu.toFixed(2)],
  ]);
  return table(['', 'calls/s', 'CPU µs per call', 'throughput / bare', 'CPU / bare'], cells);
}

interface MeasureOptions {
  readonly concurrency: number;
  /** Calls in one turn. */
  readonly calls: number;
  readonly rounds: number;
}

/** Medians over all rounds. */
interface Measured {
  readonly name: string;
  readonly callsPerSecond: number;
  readonly cpuMicroseconds: number;
  /** Relative to the first contender; higher is better. */
  readonly throughput: number;
  /** Relative to the first contender; lower is better. */
  readonly cpu: number;
}

interface Turn {
  readonly callsPerSecond: number;
  readonly cpuMicroseconds: number;
}

/** Runs the contenders in turn. The first round is a warm-up and is not counted. */
async function measureInTurns(
  contenders: ReadonlyMap<string, Call>,
  { concurrency, calls, rounds }: MeasureOptions,
): Promise<Measured[]> {
  const turns = new Map([...contenders.keys()].map((name): [string, Turn[]] => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of inTurn(contenders, round)) {
      const turn = await takeTurn(call, concurrency, calls);
      if (round > 0) turns.get(name)?.push(turn);
    }
  }
  const medians = [...turns].map(([name, all]) => ({
    name,
    callsPerSecond: median(all.map(({ callsPerSecond }) => callsPerSecond)),
    cpuMicroseconds: median(all.map(({ cpuMicroseconds }) => cpuMicroseconds)),
  }));
  const [first] = medians;
  return medians.map((row) => ({
    ...row,
    throughput: row.callsPerSecond / (first?.callsPerSecond ?? 1),
    cpu: row.cpuMicroseconds / (first?.cpuMicroseconds ?? 1),
  }));
}

async function takeTurn(call: Call, concurrency: number, calls: number): Promise<Turn> {
  let n = 0;
  const worker = async () => {
    while (n < calls) await call(n++);
  };
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { callsPerSecond: calls / seconds, cpuMicroseconds: (user + system) / calls };
}
