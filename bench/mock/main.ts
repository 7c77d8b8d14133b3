/**
 * Measures the mock server, compared with a bare node:http server, Prism and Mockoon:
 * `npm ci --prefix bench && npm run bench:mock`; `--json`, `--record`, `--only throughput,start-up,memory`, `--no-peers`.
 *
 * A ratio compares servers of one run, which are measured in turn. Each server has its own process, and so has each
 * part: memory and compiled code of one part do not affect the next one.
 */
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { type Figures, memory, startUp, throughput } from './parts.ts';

const PARTS = { throughput, 'start-up': startUp, memory };
type Part = keyof typeof PARTS;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(PARTS).join() },
    peers: { type: 'boolean', default: true },
    part: { type: 'string' }, // the parent starts one process per part, which prints JSON
  },
});

if (values.part === undefined) report(values.only.split(',').map(named));
else process.stdout.write(JSON.stringify(await PARTS[named(values.part)]({ withPeers: values.peers })));

function report(parts: readonly Part[]): void {
  const date = new Date().toISOString();
  const loadAtStart = loadavg()[0];
  const all = parts.map((part): [Part, Figures] => [part, inProcessOfItsOwn(part)]);
  const facts = { date, node: process.version, loadAtStart, loadAtEnd: loadavg()[0] };
  const texts = [...all.map(([, figures]) => asText(figures)), JSON.stringify(facts)];
  const json = { ...facts, ...Object.fromEntries(all) };
  process.stdout.write(`${values.json ? JSON.stringify(json, undefined, 2) : texts.join('\n\n')}\n`);
  const figures = Object.assign({}, ...all.map(([part, ofPart]) => ratiosOf(part, ofPart)));
  reportChanges({ bench: 'mock', node: process.version, figures, isRecorded: values.record });
}

function inProcessOfItsOwn(part: Part): Figures {
  const node = ['--import', 'tsx', '--max-old-space-size=4096', import.meta.filename, '--part', part];
  if (!values.peers) node.push('--no-peers');
  const { status, stdout } = spawnSync(process.execPath, node, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${part} failed.`);
  return JSON.parse(stdout);
}

function named(part: string): Part {
  if (Object.hasOwn(PARTS, part)) return part as Part;
  throw new Error(`${part} is none of ${Object.keys(PARTS).join(', ')}.`);
}

/** The columns that do not depend on the machine: ratios, whose heads have a slash, and bytes. */
function ratiosOf(part: string, { heads, rows }: Figures): Record<string, number> {
  const kept = heads.flatMap((head, place) => (/\/ |bytes/i.test(head) ? [{ head, place }] : []));
  return Object.fromEntries(
    rows.flatMap((row) => kept.map(({ head, place }) => [`${part}: ${row[0]}, ${head}`, Number(row[place])])),
  );
}

function asText({ heads, rows, notes }: Figures): string {
  const cells = rows.map(([name, ...figures]) => [
    name,
    ...figures.map((figure) => figure.toFixed(Math.abs(figure) < 10 ? 2 : 0)),
  ]);
  return [table(heads, cells), ...notes].join('\n\n');
}
