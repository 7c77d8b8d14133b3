import { table } from '../../table.ts';
import { figuresOf, isComparable, misses, ratioOf } from './goals.ts';
import { MISSED_TODAY } from './known-misses.ts';
import { type Outcome, runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

/** A scenario and its runs, one per seed. */
export interface WildRow {
  readonly name: string;
  readonly row: number | undefined;
  readonly outcomes: readonly Outcome[];
  /** Each goal that some seed misses, with the seed. */
  readonly misses: readonly string[];
  readonly cpuMs: number;
}

const DEFAULT_SEEDS = 3;

export function selectScenarios({ only = '', row }: { readonly only?: string; readonly row?: string }): Scenario[] {
  const selected = SCENARIOS.filter((scenario) => scenario.name.includes(only));
  return row === undefined ? selected : selected.filter((scenario) => scenario.row === Number(row));
}

/** Runs each scenario on its own number of seeds, or on `seeds`. */
export async function measureWild(scenarios: readonly Scenario[], seeds?: number): Promise<WildRow[]> {
  const rows: WildRow[] = [];
  for (const scenario of scenarios) {
    const before = process.cpuUsage();
    const outcomes: Outcome[] = [];
    const missed: string[] = [];
    const count = seeds ?? scenario.seeds ?? DEFAULT_SEEDS;
    for (let seed = 1; seed <= count; seed += 1) {
      const outcome = await runScenario(scenario, { seed });
      outcomes.push(outcome);
      missed.push(...misses(scenario, outcome).map((miss) => `seed ${seed}: ${miss}`));
    }
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000 / count;
    rows.push({ name: scenario.name, row: scenario.row, outcomes, misses: missed, cpuMs });
    process.stderr.write(`${scenario.name}\n`);
  }
  return rows;
}

/** Prints every request and answer of the first scenario. */
export async function traceWild([scenario]: readonly Scenario[], seed: number): Promise<void> {
  if (scenario === undefined) return;
  await runScenario(scenario, { seed, trace: (line) => process.stdout.write(`${line}\n`) });
}

export function wildTable(rows: readonly WildRow[]): string {
  const heads = [
    'scenario',
    'row',
    'calls',
    'failed',
    'avoidable',
    '429 per 100',
    'requests',
    'time / bound',
    'bound s',
  ];
  return table([...heads, 'mean s', 'least', 'early', 'in outage', 'unsettled', 'goals'], rows.map(cells));
}

/** How many scenarios meet their goals, and which do not. */
export function wildSummary(rows: readonly WildRow[]): string {
  const missed = rows.filter((row) => row.misses.length > 0);
  const ratios = rows.flatMap(({ outcomes }) => outcomes.filter(isComparable).map(ratioOf)).sort((a, b) => a - b);
  const median = ratios[Math.floor(ratios.length / 2)] ?? 1;
  const list = missed.map(({ name }) => name).join('; ');
  const meeting = `${rows.length - missed.length} of ${rows.length} meet their goals`;
  const lines = [`${meeting}${list === '' ? '' : `; misses: ${list}`}`, `median time / bound ${median.toFixed(3)}`];
  const reached = rows.filter((row) => row.misses.length === 0 && MISSED_TODAY.includes(row.name));
  if (reached.length > 0) lines.push(`no longer missed: ${reached.map(({ name }) => name).join('; ')}`);
  return lines.join('\n');
}

/** The worst seed of each scenario. */
export function wildFigures(rows: readonly WildRow[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, outcomes, misses: missed }) => {
      const time = outcomes.every(isComparable) ? [[`${name}: time / bound`, Math.max(...outcomes.map(ratioOf))]] : [];
      const refused = Math.max(...outcomes.map((outcome) => figuresOf(outcome).refusedPer100));
      return [[`${name}: goals missed`, missed.length], [`${name}: refused per 100`, refused], ...time];
    }),
  );
}

function cells({ name, row, outcomes, misses: missed }: WildRow): string[] {
  const worst = (value: (outcome: Outcome) => number) => Math.max(...outcomes.map(value));
  return [
    name,
    row === undefined ? '' : String(row),
    String(worst(({ calls }) => calls)),
    failedText(outcomes),
    String(worst(({ avoidable }) => avoidable)),
    worst((outcome) => figuresOf(outcome).refusedPer100).toFixed(1),
    String(worst(({ requests }) => requests)),
    outcomes.every(isComparable) ? worst(ratioOf).toFixed(2) : '–',
    seconds(worst(({ bound }) => bound.makespanMs)),
    seconds(worst(({ meanMs }) => meanMs)),
    seconds(worst(({ bound }) => bound.meanMs)),
    String(worst(({ early }) => early)),
    `${worst(({ inOutage }) => inOutage)}/${worst(({ inKnownOutage }) => inKnownOutage)}`,
    String(worst(({ unsettled }) => unsettled)),
    missed.length === 0 ? 'ok' : shortMisses(missed),
  ];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** The failures of the worst seed by kind, such as `timeout 12`. */
function failedText(outcomes: readonly Outcome[]): string {
  const sum = ({ failed }: Outcome) => Object.values(failed).reduce((total, count) => total + count, 0);
  const [worst] = [...outcomes].sort((a, b) => sum(b) - sum(a));
  const kinds = Object.entries(worst?.failed ?? {}).map(([kind, count]) => `${kind} ${count}`);
  return kinds.length === 0 ? '0' : kinds.join(', ');
}

/** Each missed goal once, with how many seeds miss it. */
function shortMisses(missed: readonly string[]): string {
  const byGoal = new Map<string, string[]>();
  for (const miss of missed) {
    const [goal = '', ...rest] = miss.replace(/^seed \d+: /, '').split(' ');
    byGoal.set(goal, [...(byGoal.get(goal) ?? []), rest.join(' ')]);
  }
  return [...byGoal].map(([goal, [first, ...others]]) => `${goal} ${first}${timesText(others.length + 1)}`).join(', ');
}

function timesText(count: number): string {
  return count === 1 ? '' : ` (${count} seeds)`;
}
