/**
 * Measures what a call costs: fxrates compared with bare `undici.request` and other clients. All of them use the same
 * server and payload (170 rates).
 * `npm ci --prefix bench && npm run bench:client`; `--json`, `--record`, `--only fxrates,ky`, `--calls 3000`, `--rounds 9`.
 *
 * The contenders run in turn, round after round, in one process; the server has its own. A ratio compares medians.
 * CPU time per call is more reliable than calls per second where other programs share the machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from '../median.ts';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { type Call, CONTENDERS } from './contenders.ts';

const CONCURRENCIES = [1, 16];
const API_KEY = `fx_live_${'0123456789abcdef'.repeat(3)}`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    calls: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '9' },
    record: { type: 'boolean', default: false },
  },
});
const only = values.only?.split(',');
const contenders = Object.entries(CONTENDERS).filter(([id], place) => place === 0 || (only?.includes(id) ?? true));
if (only === undefined && !existsSync(new URL('../node_modules', import.meta.url))) {
  process.stderr.write('The peers are not installed. Run: npm ci --prefix bench\n');
  process.exit(1);
}

const server = fork(fileURLToPath(new URL('rates-server.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
const [origin] = (await once(server, 'message')) as [string];
const calls = new Map<string, Call>();
const headers = { authorization: `Bearer ${API_KEY}`, accept: 'application/json' };
for (const [, { title, createCaller }] of contenders) {
  calls.set(title, await createCaller({ origin, apiKey: API_KEY, headers }));
}
const load = loadavg()[0];
const results: { concurrency: number; rows: Measured[] }[] = [];
for (const concurrency of CONCURRENCIES) {
  const rows = await measureInTurns(calls, {
    concurrency,
    calls: Number(values.calls),
    rounds: Number(values.rounds),
  });
  results.push({ concurrency, rows });
}
server.disconnect();
const facts = { date: new Date().toISOString(), node: process.version, loadAtStart: load, loadAtEnd: loadavg()[0] };
process.stdout.write(values.json ? `${JSON.stringify({ ...facts, results }, undefined, 2)}\n` : asText());
reportChanges({ bench: 'client', node: process.version, figures: ratios(), isRecorded: values.record });
process.exit();

function ratios(): Record<string, number> {
  const ofRow = (concurrency: number, { name, throughput, cpu }: Measured) => [
    [`${name}, ${concurrency} at once: throughput / bare`, throughput],
    [`${name}, ${concurrency} at once: CPU / bare`, cpu],
  ];
  return Object.fromEntries(results.flatMap(({ concurrency, rows }) => rows.flatMap((row) => ofRow(concurrency, row))));
}

function asText(): string {
  const tables = results.map(({ concurrency, rows }) => `### ${concurrency} at once\n\n${tableOf(rows)}`);
  const footer = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return `${tables.join('\n\n')}\n\n${footer.join(', ')}\n`;
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
  const turns = new Map<string, Turn[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of contenders) {
      const turn = await takeTurn(call, concurrency, calls);
      if (round > 0) turns.set(name, [...(turns.get(name) ?? []), turn]);
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
