// npx tsx bench/startup/main.ts [rounds] — after `npm run build`. Starts each command in turn, again and again, and
// prints the medians and the ratios of DESIGN §6. What else the machine does hits all rows alike.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createMockServer } from '../../src/mock-server/index.ts';

const rounds = Number(process.argv[2] ?? 15);
const bundle = fileURLToPath(new URL('../../dist/cli/fxrates.js', import.meta.url));
const mock = createMockServer();
const { key } = mock.createKey({ plan: 'unlimited' });
const { url } = await mock.serve();
const bareFetch = `fetch('${url}/api/v1/quota',{headers:{authorization:'Bearer ${key}'}}).then((r)=>r.text()).then((t)=>process.stdout.write(t))`;

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  readonly against?: string;
  readonly bar?: number;
}

const node = process.execPath;
const ROWS: readonly Row[] = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'fxrates --version', command: [node, bundle, '--version'], against: 'node -e 0', bar: 1.3 },
  { name: 'fxrates --help', command: [node, bundle, '--help'], against: 'node -e 0' },
  { name: 'npm --version (peer)', command: ['npm', '--version'], against: 'node -e 0' },
  { name: 'node -e fetch', command: [node, '-e', bareFetch] },
  { name: 'fxrates quota', command: [node, bundle, 'quota', '--json'], against: 'node -e fetch', bar: 1.3 },
  { name: 'fxrates latest', command: [node, bundle, 'latest'], against: 'node -e fetch' },
];

async function timeMs([program = '', ...args]: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const env = { ...process.env, FXRATES_BASE_URL: url, FXRATES_API_KEY: key };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}`);
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const times = new Map<string, number[]>(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const { name, command } of ROWS) {
    const ms = await timeMs(command);
    if (round > 0) times.get(name)?.push(ms); // the first round fills the file cache
  }
}
const medianOf = (name: string) => median(times.get(name) ?? []);
process.stdout.write(`Node.js ${process.versions.node}, medians of ${rounds} alternating runs\n`);
for (const { name, against, bar } of ROWS) {
  const ratio = against === undefined ? '' : `${(medianOf(name) / medianOf(against)).toFixed(2)} × ${against}`;
  const limit = bar === undefined ? '' : `   (bar: ${bar})`;
  process.stdout.write(`${name.padEnd(22)}${medianOf(name).toFixed(0).padStart(5)} ms   ${ratio}${limit}\n`);
}
await mock.close();
