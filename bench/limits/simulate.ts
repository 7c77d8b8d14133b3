/**
 * The limiter in virtual time: `npm run bench:simulate`; `--json`, `--record`, `--seeds 3`.
 *
 * The first table is that of matrix.ts: what the client knows, kinds of window, limits, processes; `--group 'asked, 1'`
 * selects groups, `--each` prints every job. The second (`--wild` prints it alone) has situations of users, with servers
 * and networks that misbehave; `--only outage` selects them by name. `--trace` prints every request and response of the
 * first one instead.
 */
import { parseArgs } from 'node:util';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { figuresOfJobs, GROUPS, type Job } from './wild/matrix.ts';
import { measureWild, wildFigures, wildSummary, wildTable } from './wild/report.ts';
import { runScenario } from './wild/run.ts';
import { SCENARIOS } from './wild/scenarios.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1' },
    group: { type: 'string' },
    each: { type: 'boolean', default: false },
    wild: { type: 'boolean', default: false },
    only: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const seedCount = Number(values.seeds);
const scenarios = SCENARIOS.filter(({ name }) => name.includes(values.only ?? ''));
if (values.trace) {
  const [scenario] = scenarios;
  if (scenario) await runScenario(scenario, { seed: seedCount, trace: (line) => process.stdout.write(`${line}\n`) });
  process.exit();
}
const isWildAlone = values.wild || values.only !== undefined;
const rows = isWildAlone ? [] : await measureMatrix();
const wild = values.group === undefined ? await measureWild(scenarios, seedCount) : [];
process.stdout.write(`${values.json ? JSON.stringify({ rows, wild }, undefined, 2) : asText()}\n`);
const figures = { ...matrixFigures(), ...wildFigures(wild) };
reportChanges({ bench: 'simulate', node: process.version, figures, isRecorded: values.record });

interface Row extends ReturnType<typeof figuresOfJobs> {
  readonly name: string;
}

async function measureMatrix(): Promise<Row[]> {
  const measured: Row[] = [];
  for (const { name, scenarios } of GROUPS.filter((group) => group.name.includes(values.group ?? ''))) {
    const jobs: Job[] = [];
    for (const scenario of scenarios) {
      for (let seed = 1; seed <= seedCount; seed += 1) {
        jobs.push({ scenario, outcome: await runScenario(scenario, { seed }) });
      }
    }
    const each = values.each ? jobs.map((job) => ({ name: job.scenario.name, ...figuresOfJobs([job]) })) : [];
    measured.push(...each, { name, ...figuresOfJobs(jobs) });
    process.stderr.write(`${name}\n`);
  }
  return measured;
}

function matrixFigures(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, failed, refusedPer100, ratio, worst }) => [
      [`${name}: failed`, failed],
      [`${name}: refused per 100`, refusedPer100],
      [`${name}: time / optimum`, ratio],
      [`${name}: worst time / optimum`, worst],
    ]),
  );
}

function asText(): string {
  const wildText = wild.length === 0 ? '' : `${wildTable(wild)}\n\n${wildSummary(wild)}`;
  return [...(rows.length === 0 ? [] : [matrixTable()]), wildText].join('\n\n');
}

function matrixTable(): string {
  const heads = [
    '',
    'jobs',
    'failed',
    '429 per 100',
    'early',
    'time / optimum',
    'worst',
    'requests in a minute / limit',
  ];
  const cells = rows.map(({ name, jobs, failed, refusedPer100, early, ratio, worst, ofLimit }) => [
    ...[name, String(jobs), String(failed), refusedPer100.toFixed(2), String(early)],
    ...[ratio.toFixed(3), worst.toFixed(2), ofLimit.toFixed(2)],
  ]);
  return table(heads, cells);
}
