/**
 * Limits in the wild, in virtual time: `npm run bench:simulate -- --wild`, or `npx tsx bench/limits/wild/main.ts`;
 * `--only outage` selects by name, `--row 1` by the row of the table of known misses, `--seeds 3`, `--json`.
 *
 * Every figure of a row is that of its worst seed.
 */
import { parseArgs } from 'node:util';
import { measureWild, selectScenarios, wildSummary, wildTable } from './report.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    row: { type: 'string' },
    seeds: { type: 'string' },
  },
});
const rows = await measureWild(selectScenarios(values), values.seeds === undefined ? undefined : Number(values.seeds));
process.stdout.write(
  values.json ? `${JSON.stringify(rows, undefined, 2)}\n` : `${wildTable(rows)}\n\n${wildSummary(rows)}\n`,
);
