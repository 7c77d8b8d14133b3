/**
 * Rate limits of misbehaving servers, in virtual time: `npm run bench:simulate -- --wild`, or
 * `npx tsx bench/limits/wild/main.ts`. Options:
 * - `--only outage` selects by name, `--row 1` by the row of the table of known misses; `--seeds 3`, `--json`;
 * - `--trace 2` prints every request and response of the first selected scenario with seed 2;
 * - `--random 100` runs that many random scenarios instead, from number `--from 0` on, and prints what each consists of;
 * - `--peers` compares with other packages in some scenarios (after `npm ci --prefix bench --ignore-scripts`).
 *
 * Each figure of a row is that of its worst seed.
 */
import { parseArgs } from 'node:util';
import { measurePeers, peerSummary, peerTable } from './peer-table.ts';
import { randomScenarios } from './random-scenarios.ts';
import { measureWild, selectScenarios, traceWild, wildSummary, wildTable } from './report.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    row: { type: 'string' },
    seeds: { type: 'string' },
    trace: { type: 'string' },
    random: { type: 'string' },
    from: { type: 'string', default: '0' },
    peers: { type: 'boolean', default: false },
  },
});
const { random } = values;
const scenarios = random === undefined ? selectScenarios(values) : randomScenarios(Number(values.from), Number(random));
const seedCount = values.seeds ?? (random === undefined ? undefined : '1');
const seeds = seedCount === undefined ? undefined : Number(seedCount);
if (random !== undefined) process.stderr.write(`${scenarios.map((scenario) => JSON.stringify(scenario)).join('\n')}\n`);
if (values.trace !== undefined) await traceWild(scenarios, Number(values.trace));
else process.stdout.write(`${values.peers ? await peersText() : await wildText()}\n`);

async function wildText(): Promise<string> {
  const rows = await measureWild(scenarios, seeds);
  return values.json ? JSON.stringify(rows, undefined, 2) : `${wildTable(rows)}\n\n${wildSummary(rows)}`;
}

async function peersText(): Promise<string> {
  const rows = await measurePeers(values.only ?? '', seeds ?? 3);
  return values.json ? JSON.stringify(rows, undefined, 2) : `${peerTable(rows)}\n\n${peerSummary(rows)}`;
}
