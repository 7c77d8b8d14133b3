/**
 * Measures the CPU time of commands, on all threads: `npm run bench:startup`; `--json`, `--record`, `--rounds 30`. The
 * commands run in turn, so that other load on the machine affects all of them alike. Ratios compare medians.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { builtMock, CLI, CLIENT_MODULE } from '../built.ts';
import { machine, median, readOptions, report, table } from '../report.ts';

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  readonly against?: string;
  /** The largest ratio of the CPU times. */
  readonly bar?: number;
}

const options = readOptions({ rounds: 30 });
const { rounds } = options;
const { createMockServer } = await builtMock();
const mock = createMockServer();
const { key } = mock.createKey({ plan: 'unlimited' });
const { url } = await mock.serve();
const node = process.execPath;
const bareFetch = `fetch('${url}/api/v1/quota',{headers:{authorization:'Bearer ${key}'}}).then((r)=>r.text()).then((t)=>process.stdout.write(t))`;
const client = `import { FxRates } from '${CLIENT_MODULE}'; const fx = new FxRates();`;
const script = (code: string) => [node, '--input-type=module', '-e', code];
const ROWS: readonly Row[] = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'fxrates --version', command: [node, CLI, '--version'], against: 'node -e 0', bar: 1.3 },
  { name: 'fxrates --help', command: [node, CLI, '--help'], against: 'node -e 0', bar: 2 },
  { name: 'fxrates __complete', command: [node, CLI, '__complete', '--', 'qu'], against: 'node -e 0' },
  { name: 'npm --version (peer)', command: ['npm', '--version'], against: 'node -e 0' },
  { name: 'node -e fetch', command: [node, '-e', bareFetch] },
  { name: 'fxrates quota', command: [node, CLI, 'quota', '--json'], against: 'node -e fetch', bar: 1.5 },
  { name: 'fxrates latest', command: [node, CLI, 'latest'], against: 'node -e fetch' },
  { name: 'new FxRates()', command: script(client), against: 'node -e 0' },
  { name: 'the first call', command: script(`${client} await fx.latest()`), against: 'node -e fetch' },
];

const times = new Map<string, number[]>(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const { name, command } of ROWS) {
    const cpuMs = await cpuMsOf(command);
    if (round > 0) times.get(name)?.push(cpuMs); // the first round fills the caches
  }
}
await mock.close();
const rows = ROWS.map(measured);
const figures = Object.fromEntries(
  rows.flatMap(({ name, against, ratio }) => (ratio === undefined ? [] : [[`${name} / ${against}`, ratio]])),
);
report('startup', { text: asText(), json: { rows }, facts: { ...machine(), rounds }, figures }, options);

/** bash measures the CPU time, because Node.js cannot for a single child process. */
async function cpuMsOf(command: readonly string[]): Promise<number> {
  // A folder without the settings of the developer.
  const own = { FXRATES_CONFIG_DIR: import.meta.dirname, FXRATES_BASE_URL: url, FXRATES_API_KEY: key };
  const env = { ...process.env, ...own, TIMEFORMAT: '%U %S' };
  const child = spawn('bash', ['-c', 'time "$@"', 'bash', ...command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  const [[code], text] = await Promise.all([once(child, 'exit'), readText(child.stderr)]);
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}`);
  const [user = 0, system = 0] = text.trim().split(' ').map(Number); // the command itself writes nothing to stderr
  return (user + system) * 1000;
}

/** Median and quartiles of a command, and the ratio of its median to that of another one. */
function measured(row: Row) {
  const sorted = (times.get(row.name) ?? []).toSorted((one, other) => one - other);
  const quartile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  const ms = median(sorted);
  const ratio = row.against === undefined ? undefined : ms / median(times.get(row.against) ?? []);
  return { ...row, ms, from: quartile(0.25), to: quartile(0.75), ratio };
}

function asText(): string {
  const cells = rows.map(({ name, ms, from, to, ratio, against = '', bar }) => [
    ...[name, `${ms.toFixed(0)} (${from.toFixed(0)}–${to.toFixed(0)})`, ratio?.toFixed(2) ?? ''],
    ...[against, String(bar ?? '')],
  ]);
  return table(['', 'ms of the processor', 'ratio', 'against', 'bar'], cells);
}
