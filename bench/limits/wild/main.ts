/**
 * Limits in the wild, in virtual time: `npm run bench:simulate -- --wild`, or `npx tsx bench/limits/wild/main.ts`;
 * `--only outage` selects by name, `--row 1` by the row of the table of known misses, `--seeds 3`, `--json`;
 * `--trace 2` prints every request and answer of the first selected scenario with seed 2.
 *
 * Every figure of a row is that of its worst seed.
 */
import { parseArgs } from 'node:util';
import { measureWild, selectScenarios, traceWild, wildSummary, wildTable } from './report.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    row: { type: 'string' },
    seeds: { type: 'string' },
    trace: { type: 'string' },
  },
});
const scenarios = selectScenarios(values);
if (values.trace === undefined) await print();
else await traceWild(scenarios, Number(values.trace));

async function print(): Promise<void> {
  const rows = await measureWild(scenarios, values.seeds === undefined ? undefined : Number(values.seeds));
  const text = values.json ? JSON.stringify(rows, undefined, 2) : `${wildTable(rows)}\n\n${wildSummary(rows)}`;
  process.stdout.write(`${text}\n`);
}
