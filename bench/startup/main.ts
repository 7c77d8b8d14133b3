/**
 * Measures the duration and the CPU time of commands: `npm run bench:startup`; `--json`, `--record`, `--rounds 30`. The
 * commands run in turn, so that other load on the machine affects all of them alike. Ratios compare medians.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { builtMock, CLI } from '../built.ts';
import { median } from '../median.ts';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';

interface Times {
  readonly wallMs: number;
  /** User and system time of the process, on all threads. */
  readonly cpuMs: number;
}

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  readonly against?: string;
  /** The largest ratio of the CPU times. */
  readonly bar?: number;
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '30' },
    record: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const { createMockServer } = await builtMock();
const mock = createMockServer();
const { key } = mock.createKey({ plan: 'unlimited' });
const { url } = await mock.serve();
const { execPath: node, version } = process;
const bareFetch = `fetch('${url}/api/v1/quota',{headers:{authorization:'Bearer ${key}'}}).then((r)=>r.text()).then((t)=>process.stdout.write(t))`;
const ROWS: readonly Row[] = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'fxrates --version', command: [node, CLI, '--version'], against: 'node -e 0', bar: 1.3 },
  { name: 'fxrates --help', command: [node, CLI, '--help'], against: 'node -e 0', bar: 2 },
  { name: 'fxrates __complete', command: [node, CLI, '__complete', '--', 'qu'], against: 'node -e 0' },
  { name: 'npm --version (peer)', command: ['npm', '--version'], against: 'node -e 0' },
  { name: 'node -e fetch', command: [node, '-e', bareFetch] },
  { name: 'fxrates quota', command: [node, CLI, 'quota', '--json'], against: 'node -e fetch', bar: 1.5 },
  { name: 'fxrates latest', command: [node, CLI, 'latest'], against: 'node -e fetch' },
];

const times = new Map<string, Times[]>(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const { name, command } of ROWS) {
    const measured = await timesOf(command);
    if (round > 0) times.get(name)?.push(measured); // the first round fills the caches
  }
}
await mock.close();
const rows = ROWS.map((row) => ({ ...row, wall: figure(row, 'wallMs'), cpu: figure(row, 'cpuMs') }));
const facts = { node: version, rounds };
process.stdout.write(values.json ? `${JSON.stringify({ ...facts, rows }, undefined, 2)}\n` : asText());
reportChanges({ bench: 'startup', node: version, figures: ratios(), isRecorded: values.record });

/** bash measures the CPU time, because Node.js cannot for a single child process. */
async function timesOf(command: readonly string[]): Promise<Times> {
  const env = { ...process.env, FXRATES_BASE_URL: url, FXRATES_API_KEY: key, TIMEFORMAT: '%U %S' };
  const args = ['-c', 'time "$@"', 'bash', ...command];
  const startedAt = performance.now();
  const child = spawn('bash', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  const [[code], text] = await Promise.all([once(child, 'exit'), readText(child.stderr)]);
  const wallMs = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}`);
  const [user = 0, system = 0] = text.trim().split(' ').map(Number); // the command itself writes nothing to stderr
  return { wallMs, cpuMs: (user + system) * 1000 };
}

/** Median and quartiles of one time, and its ratio to another command's. */
function figure({ name, against }: Row, of: keyof Times) {
  const valuesOf = (row: string) => (times.get(row) ?? []).map((measured) => measured[of]);
  const sorted = valuesOf(name).toSorted((one, other) => one - other);
  const quartile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  const ms = median(sorted);
  const ratio = against === undefined ? undefined : ms / median(valuesOf(against));
  return { ms, from: quartile(0.25), to: quartile(0.75), ratio };
}

function ratios(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, against, cpu }) => (cpu.ratio === undefined ? [] : [[`${name} / ${against}`, cpu.ratio]])),
  );
}

function asText(): string {
  const cells = rows.map(({ name, wall, cpu, against = '', bar }) => [
    name,
    ...[wall, cpu].flatMap(({ ms, from, to, ratio }) => [
      `${ms.toFixed(0)} (${from.toFixed(0)}–${to.toFixed(0)})`,
      ratio?.toFixed(2) ?? '',
    ]),
    against,
    String(bar ?? ''),
  ]);
  const heads = ['', 'ms', 'ratio', 'ms of the processor', 'ratio', 'against', 'bar'];
  return `${table(heads, cells)}\n\nNode ${version}, medians (and quartiles) of ${rounds} alternating runs\n`;
}
