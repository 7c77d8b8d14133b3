import type { WindowKind } from '../../test/helpers/limits-server.ts';
import { table } from '../table.ts';
import { type Figures, figuresOf, optimumOf } from './figures.ts';
import type { Run } from './run.ts';

const WINDOW_NAMES: Readonly<Record<WindowKind, string>> = {
  'fixed-minute': 'fixed window',
  'fixed-first-hit': 'window from the first request',
  sliding: 'sliding window',
  bucket: 'token bucket',
};

/** One table per situation, in the order of the runs; the first row is the least possible. */
export function situationTables(runs: readonly Run[]): string {
  return groups(runs, titleOf)
    .map(([title, group]) => `### ${title}\n\n${situationTable(group)}`)
    .join('\n\n');
}

/** Each contender over all windows: the geometric mean of its times, then the worst one. */
export function summaryTable(runs: readonly Run[]): string {
  const counts = [...new Set(runs.map(({ situation }) => situation.processes))];
  const heads = counts.flatMap((count) => [`${processesOf(count)}: calls failed`, '429 per 100 calls', 'time / least']);
  const rows = groups(runs, ({ contender }) => contender.name).map(([name, group]) => [
    name,
    ...counts.flatMap((count) => summaryCells(group.filter(({ situation }) => situation.processes === count))),
  ]);
  return `### All windows\n\n${table(['', ...heads], rows)}`;
}

export function titleOf({ situation: { window, processes } }: Pick<Run, 'situation'>): string {
  return `${WINDOW_NAMES[window]}, ${processesOf(processes)}`;
}

function processesOf(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`;
}

function situationTable(runs: readonly Run[]): string {
  const optimum = runs.slice(0, 1).map((run) => row('*the least possible*', optimumOf(run)));
  const rows = runs.map((run) => row(run.contender.name, figuresOf(run)));
  return table(
    ['', 'calls ok', 'calls failed', '429 per 100 calls', 'time / least', 'p50 s', 'p95 s'],
    [...optimum, ...rows],
  );
}

function row(
  name: string,
  { served, failed, refusedPer100, timeOverOptimum, p50Seconds, p95Seconds }: Figures,
): string[] {
  return [
    name,
    String(served),
    String(failed),
    refusedPer100.toFixed(0),
    fixed(timeOverOptimum, 2),
    fixed(p50Seconds, 0),
    fixed(p95Seconds, 0),
  ];
}

function summaryCells(runs: readonly Run[]): string[] {
  if (runs.length === 0) return ['', '', ''];
  const figures = runs.map(figuresOf);
  return [
    `${mean(figures.map(({ failed }) => failed)).toFixed(0)} %`,
    mean(figures.map(({ refusedPer100 }) => refusedPer100)).toFixed(0),
    ratioCell(figures.map(({ timeOverOptimum }) => timeOverOptimum).filter((ratio) => ratio !== undefined)),
  ];
}

function ratioCell(ratios: readonly number[]): string {
  if (ratios.length === 0) return '–';
  return `${Math.exp(mean(ratios.map(Math.log))).toFixed(2)} (${Math.max(...ratios).toFixed(2)})`;
}

function groups<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  const byKey = new Map<string, Item[]>();
  for (const item of items) byKey.set(keyOf(item), [...(byKey.get(keyOf(item)) ?? []), item]);
  return [...byKey];
}

function fixed(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
