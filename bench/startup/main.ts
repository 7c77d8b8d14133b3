/**
 * Measures the CPU time of commands, on all threads: `npm run bench:startup`; `--json`, `--record`, `--rounds 30`. The
 * commands run in turn, so that other load on the machine affects all of them alike. Ratios compare medians. The first round
 * fills the caches, such as the compile cache of the command line on Node.js 22 and later, and is not counted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { builtMock, CLI, CLIENT_MODULE } from '../built.ts';
import { inTurn, median, readOptions, report, table } from '../report.ts';

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  /** Names of the commands to compare it with. Default: none. */
  readonly against?: readonly string[];
  /** The largest ratio to the first of them. */
  readonly bar?: number;
}

const options = readOptions({ rounds: 30 });
const { rounds } = options;
const { createMockServer } = await builtMock();
const mock = createMockServer();
const { key } = mock.createKey({ plan: 'unlimited' });
const { url } = await mock.serve();
const node = process.execPath;
const target = `'${url}/api/v1/quota',{headers:{authorization:'Bearer ${key}'}}`;
const bareFetch = `fetch(${target}).then((r)=>r.text()).then((t)=>process.stdout.write(t))`;
const bareGet = `require('node:http').get(${target},(r)=>r.pipe(process.stdout))`;
const client = `import { FxRates } from '${CLIENT_MODULE}'; const fx = new FxRates();`;
const script = (code: string) => [node, '--input-type=module', '-e', code];
const ROWS: readonly Row[] = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'fxrates --version', command: [node, CLI, '--version'], against: ['node -e 0'], bar: 1.3 },
  { name: 'fxrates --help', command: [node, CLI, '--help'], against: ['node -e 0'], bar: 2 },
  { name: 'fxrates __complete', command: [node, CLI, '__complete', '--', 'qu'], against: ['node -e 0'] },
  { name: 'node -e fetch', command: [node, '-e', bareFetch] },
  { name: 'node -e http.get', command: [node, '-e', bareGet] },
  {
    name: 'fxrates quota',
    command: [node, CLI, 'quota', '--json'],
    against: ['node -e fetch', 'node -e http.get'],
    bar: 1.5,
  },
  { name: 'new FxRates()', command: script(client), against: ['node -e 0'] },
  { name: 'the first call', command: script(`${client} await fx.latest()`), against: ['node -e fetch'] },
];

const times = new Map<string, number[]>(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round <= rounds; round += 1) {
  for (const { name, command } of inTurn(ROWS, round)) {
    const cpuMs = await cpuMsOf(command);
    if (round > 0) times.get(name)?.push(cpuMs);
  }
}
await mock.close();
const rows = ROWS.map(measured);
const figures = Object.fromEntries(
  rows.flatMap(({ name, ratios }) => ratios.map(({ of, ratio }) => [`${name} / ${of}`, ratio])),
);
report('startup', { text: asText(), json: { rows }, figures }, options);

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

/** The median of a command, and its ratios to those of others. */
function measured(row: Row) {
  const ms = median(times.get(row.name) ?? []);
  const ratios = (row.against ?? []).map((of) => ({ of, ratio: ms / median(times.get(of) ?? []) }));
  return { ...row, ms, ratios };
}

function asText(): string {
  const ratiosOf = (row: (typeof rows)[number]) => row.ratios.map(({ of, ratio }) => `${ratio.toFixed(2)} of ${of}`);
  const cells = rows.map((row) => [row.name, row.ms.toFixed(0), ratiosOf(row).join(', '), `${row.bar ?? ''}`]);
  return table(['', 'ms of the processor', 'ratio', 'bar'], cells);
}
