/**
 * Runs benchmarks several times on several versions of Node.js, and prints the median and the range of each figure:
 * `npm run bench:nodes`; `--only client,startup`, `--nodes 20,24`, `--runs 5`, `--json`.
 *
 * Other versions come from npm. The runs of the versions alternate, so that other load on the machine affects all alike.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { installNode } from '../scripts/install-package.ts';
import { chosen, median, type NamedFigures, parseOptions, table } from './report.ts';

/** The arguments of each benchmark, with fxrates alone. */
const BENCHES = {
  startup: ['bench/startup/main.ts', '--rounds', '5'],
  client: ['bench/client/main.ts', '--only', 'fxrates,fxrates-unlimited,fxrates-cached', '--rounds', '5'],
  mock: ['bench/mock/main.ts', '--only', 'throughput', '--no-peers'],
  queue: ['bench/queue/main.ts', '--calls', '20000'],
  limits: ['bench/limits/main.ts', '--only', 'fxrates,fxrates-told', '--runs', '1'],
  chaos: ['bench/chaos/main.ts', '--calls', '20000'],
  prism: ['bench/contract/prism.ts'],
  peers: ['bench/contract/peers.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Bench = keyof typeof BENCHES;

const options = parseOptions({ only: '', nodes: '20,22,24,26', runs: 3, json: false });
const { runs } = options;
const benches = chosen(options.only, Object.keys(BENCHES) as Bench[]);
const nodes = options.nodes.split(',').map((wanted) => ({ wanted, path: installNode(wanted) }));

/** The figures of each run, by benchmark and version of Node.js. */
const results = benches.map((bench) => ({ bench, byNode: measure(bench) }));
const date = new Date().toISOString().slice(0, 10);
process.stdout.write(options.json ? `${JSON.stringify({ date, runs, results }, undefined, 2)}\n` : asText());

function measure(bench: Bench): { readonly node: string; readonly figures: readonly NamedFigures[] }[] {
  const byNode = nodes.map(({ wanted, path }) => ({ node: wanted, path, figures: [] as NamedFigures[] }));
  for (let run = 1; run <= runs; run += 1) {
    for (const { node, path, figures } of byNode) {
      figures.push(figuresOf(bench, path));
      process.stderr.write(`${bench}, Node ${node}, run ${run} of ${runs}\n`);
    }
  }
  return byNode.map(({ node, figures }) => ({ node, figures }));
}

function figuresOf(bench: Bench, node: string): NamedFigures {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-bench-'));
  const file = join(folder, 'figures.json');
  try {
    const args = ['--import', 'tsx', ...BENCHES[bench]];
    const { status, stderr } = spawnSync(node, args, {
      // Commands of npm packages run on the first Node.js of the path.
      env: { ...process.env, FXRATES_BENCH_FIGURES: file, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` },
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (status !== 0) throw new Error(`${bench} failed on ${node}: ${stderr}`);
    return JSON.parse(readFileSync(file, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function asText(): string {
  const texts = results.map(({ bench, byNode }) => {
    const names = Object.keys(byNode[0]?.figures[0] ?? {});
    const rows = names.map((name) => [name, ...byNode.map(({ figures }) => spread(figures.map((run) => run[name])))]);
    return `### ${bench}\n\n${table(['', ...nodes.map(({ wanted }) => `Node ${wanted}`)], rows)}`;
  });
  return `${texts.join('\n\n')}\n\n${date}, medians of ${runs} runs and their range\n`;
}

/** Such as `0.74 (0.70–0.78)`. */
function spread(figures: readonly (number | undefined)[]): string {
  const known = figures.filter((figure) => figure !== undefined);
  const [middle, least, most] = [median(known), Math.min(...known), Math.max(...known)].map(short);
  return least === most ? `${middle}` : `${middle} (${least}–${most})`;
}

function short(figure: number): string {
  return figure.toFixed(Math.abs(figure) < 100 ? 2 : 0);
}
