/**
 * Two tables in virtual time: `npm run bench:simulate`; `--json`, `--record`, `--seeds 3`.
 *
 * The first is the complete matrix of test/client/limits/acceptance.test.ts. Every line is the limiter itself against a
 * simulated server: 4 window kinds, limits of 30, 300 and 1 000 per minute, 6 forms of Retry-After, jobs of 1.1 and 2
 * times the limit and of 2 000 calls.
 *
 * The second, alone with `--wild`, is the client against servers and networks that misbehave. `--only outage` selects its
 * scenarios by name, `--row 1` by the row of the table of known misses.
 */
import { parseArgs } from 'node:util';
import { EVERYTHING, MEASURED, measure, ROUGH, type Summary } from '../../test/helpers/limits-matrix.ts';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { measureWild, selectScenarios, wildFigures, wildSummary, wildTable } from './wild/report.ts';

interface Row extends Summary {
  readonly situation: string;
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    wild: { type: 'boolean', default: false },
    only: { type: 'string' },
    row: { type: 'string' },
  },
});
const seedCount = values.seeds === undefined ? undefined : Number(values.seeds);
const isWildAlone = values.wild || values.only !== undefined || values.row !== undefined;
const seeds = Array.from({ length: seedCount ?? 3 }, (_, place) => place + 1);
const rows = isWildAlone ? [] : await measureMatrix();
const wild = await measureWild(selectScenarios(values), seedCount);
process.stdout.write(`${values.json ? JSON.stringify({ seeds, rows, wild }, undefined, 2) : asText()}\n`);
const figures = { ...matrixFigures(), ...wildFigures(wild) };
reportChanges({ bench: 'simulate', node: process.version, figures, isRecorded: values.record });

async function measureMatrix(): Promise<Row[]> {
  const measured: Row[] = [];
  for (const situation of [...MEASURED, ...ROUGH]) {
    measured.push({ situation: situation.name, ...(await measure(situation, { ...EVERYTHING, seeds })) });
    process.stderr.write(`${situation.name}\n`);
  }
  return measured;
}

function matrixFigures(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ situation, failed, refusedPer100, ratio, worst }) => [
      [`${situation}: failed`, failed],
      [`${situation}: refused per 100`, refusedPer100],
      [`${situation}: time / optimum`, ratio],
      [`${situation}: worst time / optimum`, worst],
    ]),
  );
}

function asText(): string {
  const wildText = `${wildTable(wild)}\n\n${wildSummary(wild)}`;
  return isWildAlone ? wildText : `${matrixTable()}\n\n${wildText}`;
}

function matrixTable(): string {
  const heads = ['situation', 'jobs', 'calls failed', '429 per 100 calls', 'time / optimum', 'worst'];
  const cells = rows.map(({ situation, runs, failed, refusedPer100, ratio, worst }) => [
    ...[situation, String(runs), String(failed)],
    ...[refusedPer100.toFixed(2), ratio.toFixed(3), worst.toFixed(2)],
  ]);
  return table(heads, cells);
}
