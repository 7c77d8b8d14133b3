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
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { type Call, CONTENDERS } from './contenders.ts';
import { type Measured, measureInTurns } from './measure.ts';

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
