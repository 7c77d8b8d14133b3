/**
 * How soon a command is done: `npm run bench:startup`; `--json`, `--rounds 15`, `--node 24` for another Node.js from npm. Starts each in turn, again and again;
 * what else the machine does hits all alike. Ratios are those of the medians.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { installNode } from '../../scripts/install-package.ts';
import { builtMock, CLI } from '../built.ts';
import { median } from '../median.ts';
import { table } from '../table.ts';

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  readonly against?: string;
  /** The ratio that it must not exceed. */
  readonly bar?: number;
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
    node: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const { createMockServer } = await builtMock();
const mock = createMockServer();
const { key } = mock.createKey({ plan: 'unlimited' });
const { url } = await mock.serve();
const node = values.node === undefined ? process.execPath : installNode(values.node);
const nodeVersion = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
const bareFetch = `fetch('${url}/api/v1/quota',{headers:{authorization:'Bearer ${key}'}}).then((r)=>r.text()).then((t)=>process.stdout.write(t))`;
const ROWS: readonly Row[] = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'fxrates --version', command: [node, CLI, '--version'], against: 'node -e 0', bar: 1.3 },
  { name: 'fxrates --help', command: [node, CLI, '--help'], against: 'fxrates --version', bar: 1.3 },
  { name: 'fxrates __complete', command: [node, CLI, '__complete', '--', 'qu'], against: 'node -e 0', bar: 1.3 },
  { name: 'npm --version (peer)', command: ['npm', '--version'], against: 'node -e 0' },
  { name: 'node -e fetch', command: [node, '-e', bareFetch] },
  { name: 'fxrates quota', command: [node, CLI, 'quota', '--json'], against: 'node -e fetch', bar: 1.3 },
  { name: 'fxrates latest', command: [node, CLI, 'latest'], against: 'node -e fetch' },
];

const times = new Map<string, number[]>(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const { name, command } of ROWS) {
    const ms = await timeMs(command);
    if (round > 0) times.get(name)?.push(ms); // the first round fills the file cache
  }
}
await mock.close();
const medianOf = (name: string) => median(times.get(name) ?? []);
const rows = ROWS.map(({ name, against, bar }) => {
  const ratio = against === undefined ? undefined : medianOf(name) / medianOf(against);
  return { name, ms: medianOf(name), against, ratio, bar };
});
const facts = { node: nodeVersion, rounds };
process.stdout.write(values.json ? `${JSON.stringify({ ...facts, rows }, undefined, 2)}\n` : asText());

async function timeMs([program = '', ...args]: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const env = { ...process.env, FXRATES_BASE_URL: url, FXRATES_API_KEY: key };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}`);
  return performance.now() - startedAt;
}

function asText(): string {
  const cells = rows.map(({ name, ms, against, ratio, bar }) => [
    name,
    ms.toFixed(0),
    ratio === undefined ? '' : `${ratio.toFixed(2)} × ${against}`,
    String(bar ?? ''),
  ]);
  return `${table(['', 'ms', 'ratio', 'bar'], cells)}\n\nNode ${nodeVersion}, medians of ${rounds} alternating runs\n`;
}
