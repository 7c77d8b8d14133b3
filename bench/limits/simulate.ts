/**
 * The limiter in virtual time: `npm run bench:simulate`; `--json`, `--record`, `--seeds 3` (each has other latencies and
 * another start within the minute).
 *
 * The first table is that of matrix.ts: what the client knows, kinds of window, limits, processes; `--group 'asked, 1'`
 * selects groups. The second (`--wild` prints it alone) has situations of users, with servers and networks that misbehave;
 * `--only outage` selects them by name. `--trace` prints every request and response of the first one, with the last seed.
 */
import { fail, median, readOptions, report, table } from '../report.ts';
import { figuresOf, goalsMissed, ratioOf } from './wild/goals.ts';
import { figuresOfJobs, GROUPS, type Job } from './wild/matrix.ts';
import { type Outcome, runScenario } from './wild/run.ts';
import { type Scenario, startsOverTime } from './wild/scenario.ts';
import { SCENARIOS } from './wild/scenarios.ts';

const options = readOptions({ seeds: 3, group: '', wild: false, only: '', trace: false });
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
const counts = wildCounts();
const summary = Object.entries(counts).map(([name, count]) => `${name}: ${Number(count.toFixed(3))}`);
const text = [
  ...(rows.length === 0 ? [] : [matrixTable()]),
  ...(wild.length === 0 ? [] : [wildTable(), summary.join('; ')]),
];
const figures = { ...matrixFigures(), ...wildFigures(), ...(wild.length < SCENARIOS.length ? {} : counts) };
report('simulate', { text: text.join('\n\n'), json: { rows, wild }, figures }, options);

interface Row extends ReturnType<typeof figuresOfJobs> {
  readonly name: string;
}

async function measureMatrix(): Promise<Row[]> {
  const measured: Row[] = [];
  for (const { name, scenarios } of groups) {
    const jobs: Job[] = [];
    for (const scenario of scenarios) jobs.push(...(await jobsOf(scenario)));
    measured.push({ name, ...figuresOfJobs(jobs) });
    process.stderr.write(`${name}\n`);
  }
  return measured;
}

/** A scenario and its runs, one per seed. */
interface WildRow {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
  /** The goals that a seed misses. */
  readonly missed: readonly string[];
  /** The goals that a seed meets only by an exemption. */
  readonly exempt: readonly string[];
}

async function measureWild(): Promise<WildRow[]> {
  const measured: WildRow[] = [];
  for (const scenario of scenarios) {
    const outcomes = (await jobsOf(scenario)).map(({ outcome }) => outcome);
    const goals = outcomes.map((outcome) => goalsMissed(scenario, outcome));
    const [missed, exempt] = [goals.flatMap((goal) => goal.missed), goals.flatMap((goal) => goal.exempt)];
    measured.push({ scenario, outcomes, missed, exempt });
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
  const cells = rows.map(({ name, jobs, failed, refusedPer100, early, ratio, worst, worstJob, ofLimit }) => [
    ...[name, String(jobs), String(failed), refusedPer100.toFixed(2), String(early)],
    ...[ratio.toFixed(3), `${worst.toFixed(2)} (${worstJob})`, ofLimit.toFixed(2)],
  ]);
  return table(heads, cells);
}

/** The worst seed of each scenario. */
function wildFigures(): Record<string, number> {
  return Object.fromEntries(
    wild.flatMap(({ scenario: { name, job }, outcomes, missed }) => [
      [`${name}: goals missed`, missed.length],
      [`${name}: refused per 100`, worstOf(outcomes, refusedPer100)],
      startsOverTime(job)
        ? [`${name}: seconds later`, worstOf(outcomes, secondsLater)]
        : [`${name}: time / optimum`, worstOf(outcomes, ratioOf)],
    ]),
  );
}

function wildTable(): string {
  const heads = ['situation', 'calls', 'failed', '429 per 100', 'early', 'time / optimum', 'later by'];
  const cells = wild.map(({ scenario, outcomes, missed, exempt }) => [
    scenario.name,
    String(worstOf(outcomes, ({ calls }) => calls)),
    String(worstOf(outcomes, ({ avoidable, unsettled }) => avoidable + unsettled)),
    worstOf(outcomes, refusedPer100).toFixed(1),
    String(worstOf(outcomes, ({ early }) => early)),
    worstOf(outcomes, ratioOf).toFixed(2),
    `${worstOf(outcomes, secondsLater).toFixed(1)} s`,
    ...[missed.join(', '), exempt.join(', ')],
  ]);
  return table([...heads, 'goals missed', 'exempt'], cells);
}

/** Situations that meet their goals with each seed, and the median time of those in which the limit determines it. */
function wildCounts(): Record<string, number> {
  const meeting = wild.filter(({ missed }) => missed.length === 0);
  const limited = wild.filter(({ scenario }) => !startsOverTime(scenario.job));
  return {
    situations: wild.length,
    'meet their goals': meeting.length,
    'of these only by an exemption': meeting.filter(({ exempt }) => exempt.length > 0).length,
    'start all calls at once': limited.length,
    'median of their time / optimum': median(limited.flatMap(({ outcomes }) => outcomes.map(ratioOf))),
  };
}

function refusedPer100(outcome: Outcome): number {
  return figuresOf(outcome).refusedPer100;
}

function secondsLater(outcome: Outcome): number {
  return figuresOf(outcome).excessMs / 1000;
}

function worstOf(outcomes: readonly Outcome[], figure: (outcome: Outcome) => number): number {
  return Math.max(...outcomes.map(figure));
}
