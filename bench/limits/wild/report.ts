import { median } from '../../median.ts';
import { table } from '../../table.ts';
import { figuresOf, misses, ratioOf } from './goals.ts';
import { type Outcome, runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';

/** A scenario and its runs, one per seed. */
export interface WildRow {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** The goals that a seed misses. */
  readonly misses: readonly string[];
}

/** Runs each scenario with the seeds from 1 on. */
export async function measureWild(scenarios: readonly Scenario[], seeds: number): Promise<WildRow[]> {
  const rows: WildRow[] = [];
  for (const scenario of scenarios) {
    const outcomes: Outcome[] = [];
    const missed: string[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const outcome = await runScenario(scenario, { seed });
      outcomes.push(outcome);
      missed.push(...misses(scenario, outcome));
    }
    rows.push({ name: scenario.name, outcomes, misses: missed });
    process.stderr.write(`${scenario.name}\n`);
  }
  return rows;
}

export function wildTable(rows: readonly WildRow[]): string {
  const heads = ['situation', 'calls', 'failed', '429 per 100', 'early', 'time / optimum', 'goals missed'];
  return table(heads, rows.map(cells));
}

/** The number of scenarios that meet their goals, and the median time. */
export function wildSummary(rows: readonly WildRow[]): string {
  const meeting = rows.filter((row) => row.misses.length === 0).length;
  const middle = median(rows.flatMap(({ outcomes }) => outcomes.map(ratioOf)));
  return `${meeting} of ${rows.length} meet their goals; median time / optimum ${middle.toFixed(3)}`;
}

/** The worst seed of each scenario. */
export function wildFigures(rows: readonly WildRow[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, outcomes, misses: missed }) => [
      [`${name}: goals missed`, missed.length],
      [`${name}: refused per 100`, worstOf(outcomes, (outcome) => figuresOf(outcome).refusedPer100)],
      [`${name}: time / optimum`, worstOf(outcomes, ratioOf)],
    ]),
  );
}

function cells({ name, outcomes, misses: missed }: WildRow): string[] {
  return [
    name,
    String(worstOf(outcomes, ({ calls }) => calls)),
    String(worstOf(outcomes, ({ avoidable, unsettled }) => avoidable + unsettled)),
    worstOf(outcomes, (outcome) => figuresOf(outcome).refusedPer100).toFixed(1),
    String(worstOf(outcomes, ({ early }) => early)),
    worstOf(outcomes, ratioOf).toFixed(2),
    missed.join(', '),
  ];
}

function worstOf(outcomes: readonly Outcome[], figure: (outcome: Outcome) => number): number {
  return Math.max(...outcomes.map(figure));
}
