/**
 * The limiter in virtual time: `npm run bench:simulate`; `--json`, `--record`, `--seeds 3`.
 *
 * The first table is that of matrix.ts: what the client knows, kinds of window, limits, processes; `--group 'asked, 1'`
 * selects groups, `--each` prints every job. The second (`--wild` prints it alone) has situations of users, with servers
 * and networks that misbehave; `--only outage` selects them by name. `--trace` prints every request and response of the
 * first one instead.
 */
import { fail, median, readOptions, report, table } from '../report.ts';
import { figuresOf, misses, ratioOf } from './wild/goals.ts';
import { figuresOfJobs, GROUPS, type Job } from './wild/matrix.ts';
import { type Outcome, runScenario } from './wild/run.ts';
import type { Scenario } from './wild/scenario.ts';
import { SCENARIOS } from './wild/scenarios.ts';

const options = readOptions({ seeds: 1, group: '', each: false, wild: false, only: '', trace: false });
const { seeds, group, only } = options;
const scenarios = SCENARIOS.filter(({ name }) => name.includes(only));
const groups = GROUPS.filter(({ name }) => name.includes(group));
if (scenarios.length === 0) fail(`--only ${only}: no situation has this in its name (wild/scenarios.ts)`);
if (groups.length === 0) fail(`--group ${group}: expected a part of ${GROUPS.map(({ name }) => name).join('; ')}`);
if (options.trace) {
  const [scenario] = scenarios;
  if (scenario) await runScenario(scenario, { seed: seeds, trace: (line) => process.stdout.write(`${line}\n`) });
  process.exit();
}
const rows = options.wild || only !== '' ? [] : await measureMatrix();
const wild = group === '' ? await measureWild() : [];
const text = [
  ...(rows.length === 0 ? [] : [matrixTable()]),
  ...(wild.length === 0 ? [] : [wildTable(), wildSummary()]),
];
const figures = { ...matrixFigures(), ...wildFigures() };
report('simulate', { text: text.join('\n\n'), json: { rows, wild }, figures }, options);

interface Row extends ReturnType<typeof figuresOfJobs> {
  readonly name: string;
}

async function measureMatrix(): Promise<Row[]> {
  const measured: Row[] = [];
  for (const { name, scenarios } of groups) {
    const jobs: Job[] = [];
    for (const scenario of scenarios) jobs.push(...(await jobsOf(scenario)));
    const each = options.each ? jobs.map((job) => ({ name: job.scenario.name, ...figuresOfJobs([job]) })) : [];
    measured.push(...each, { name, ...figuresOfJobs(jobs) });
    process.stderr.write(`${name}\n`);
  }
  return measured;
}

/** A scenario and its runs, one per seed. */
interface WildRow {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** The goals that a seed misses. */
  readonly misses: readonly string[];
}

async function measureWild(): Promise<WildRow[]> {
  const measured: WildRow[] = [];
  for (const scenario of scenarios) {
    const outcomes = (await jobsOf(scenario)).map(({ outcome }) => outcome);
    const missed = outcomes.flatMap((outcome) => misses(scenario, outcome));
    measured.push({ name: scenario.name, outcomes, misses: missed });
    process.stderr.write(`${scenario.name}\n`);
  }
  return measured;
}

/** Runs a scenario with the seeds from 1 on. */
async function jobsOf(scenario: Scenario): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) jobs.push({ scenario, outcome: await runScenario(scenario, { seed }) });
  return jobs;
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

function matrixTable(): string {
  const counts = ['jobs', 'failed', '429 per 100', 'early'];
  const heads = ['', ...counts, 'time / optimum', 'worst', 'requests in a minute / limit'];
  const cells = rows.map(({ name, jobs, failed, refusedPer100, early, ratio, worst, ofLimit }) => [
    ...[name, String(jobs), String(failed), refusedPer100.toFixed(2), String(early)],
    ...[ratio.toFixed(3), worst.toFixed(2), ofLimit.toFixed(2)],
  ]);
  return table(heads, cells);
}

/** The worst seed of each scenario. */
function wildFigures(): Record<string, number> {
  return Object.fromEntries(
    wild.flatMap(({ name, outcomes, misses: missed }) => [
      [`${name}: goals missed`, missed.length],
      [`${name}: refused per 100`, worstOf(outcomes, refusedPer100)],
      [`${name}: time / optimum`, worstOf(outcomes, ratioOf)],
    ]),
  );
}

function wildTable(): string {
  const heads = ['situation', 'calls', 'failed', '429 per 100', 'early', 'time / optimum', 'later by', 'goals missed'];
  const cells = wild.map(({ name, outcomes, misses: missed }) => [
    name,
    String(worstOf(outcomes, ({ calls }) => calls)),
    String(worstOf(outcomes, ({ avoidable, unsettled }) => avoidable + unsettled)),
    worstOf(outcomes, refusedPer100).toFixed(1),
    String(worstOf(outcomes, ({ early }) => early)),
    worstOf(outcomes, ratioOf).toFixed(2),
    `${(worstOf(outcomes, (outcome) => figuresOf(outcome).excessMs) / 1000).toFixed(1)} s`,
    missed.join(', '),
  ]);
  return table(heads, cells);
}

/** The number of scenarios that meet their goals, and the median time. */
function wildSummary(): string {
  const meeting = wild.filter((row) => row.misses.length === 0).length;
  const middle = median(wild.flatMap(({ outcomes }) => outcomes.map(ratioOf)));
  return `${meeting} of ${wild.length} meet their goals; median time / optimum ${middle.toFixed(3)}`;
}

function refusedPer100(outcome: Outcome): number {
  return figuresOf(outcome).refusedPer100;
}

function worstOf(outcomes: readonly Outcome[], figure: (outcome: Outcome) => number): number {
  return Math.max(...outcomes.map(figure));
}
