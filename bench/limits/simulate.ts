/**
 * The complete matrix of test/client/limits/acceptance.test.ts in virtual time: `npm run bench:simulate`; `--json`,
 * `--seeds 3`.
 *
 * Every line is the limiter itself against a simulated server: 4 window kinds, limits of 30, 300 and 1 000 per minute,
 * 6 forms of Retry-After, jobs of 1.1 and 2 times the limit and of 2 000 calls.
 */
import { parseArgs } from 'node:util';
import { EVERYTHING, MEASURED, measure, ROUGH, type Summary } from '../../test/helpers/limits-matrix.ts';
import { table } from '../table.ts';

interface Row extends Summary {
  readonly situation: string;
}

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, seeds: { type: 'string', default: '3' } },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, place) => place + 1);
const rows: Row[] = [];
for (const situation of [...MEASURED, ...ROUGH]) {
  rows.push({ situation: situation.name, ...(await measure(situation, { ...EVERYTHING, seeds })) });
  process.stderr.write(`${situation.name}\n`);
}
process.stdout.write(`${values.json ? JSON.stringify({ seeds, rows }, undefined, 2) : asText()}\n`);

function asText(): string {
  const heads = ['situation', 'jobs', 'calls failed', '429 per 100 calls', 'time / optimum', 'worst'];
  const cells = rows.map(({ situation, runs, failed, refusedPer100, ratio, worst }) => [
    ...[situation, String(runs), String(failed)],
    ...[refusedPer100.toFixed(2), ratio.toFixed(3), worst.toFixed(2)],
  ]);
  return table(heads, cells);
}
