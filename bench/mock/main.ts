/**
 * Measures the mock server, compared with a bare node:http server, Prism and Mockoon:
 * `npm ci --prefix bench && npm run bench:mock`; `--json`, `--record`, `--only throughput,start-up`, `--no-peers`.
 *
 * A ratio compares servers of one run, which are measured in turn. Each server has its own process.
 */
import { requirePeers } from '../peers.ts';
import { chosen, readOptions, report, table } from '../report.ts';
import { type Figures, startUp, throughput } from './parts.ts';

const PARTS = { throughput, 'start-up': startUp };

const options = readOptions({ only: '', peers: true });
if (options.peers) requirePeers();
const measured = new Map<string, Figures>();
for (const name of chosen(options.only, Object.keys(PARTS) as (keyof typeof PARTS)[])) {
  measured.set(name, await PARTS[name]({ withPeers: options.peers }));
}
const text = Array.from(measured.values(), asText).join('\n\n');
const figures = Object.fromEntries([...measured].flatMap(([name, ofPart]) => ratiosOf(name, ofPart)));
report('mock', { text, json: Object.fromEntries(measured), figures }, options);

/** The columns that do not depend on the machine: ratios, whose heads have a slash. */
function ratiosOf(part: string, { heads, rows }: Figures): [string, number][] {
  const kept = heads.flatMap((head, place) => (head.startsWith('/ ') ? [{ head, place }] : []));
  return rows.flatMap((row) =>
    kept.map(({ head, place }): [string, number] => [`${part}: ${row[0]}, ${head}`, Number(row[place])]),
  );
}

function asText({ heads, rows, method }: Figures): string {
  const cells = rows.map(([name, ...figures]) => [
    name,
    ...figures.map((figure) => figure.toFixed(Math.abs(figure) < 10 ? 2 : 0)),
  ]);
  return `${table(heads, cells)}\n\n${method}`;
}
