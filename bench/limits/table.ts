import { table } from '../table.ts';
import { CONTENDERS, versionOf } from './contenders.ts';
import { type Figures, groupBy, type Row } from './figures.ts';
import type { Situation } from './situations.ts';
import type { WindowKind } from './wild/windows.ts';

const WINDOW_NAMES: Readonly<Record<WindowKind, string>> = {
  'fixed-minute': 'fixed window',
  'fixed-first-hit': 'window from the first request',
  'sliding-log': 'sliding window',
  'sliding-counter': 'sliding counter',
  bucket: 'token bucket',
};

/** One table per situation; the first row is the least possible. */
export function situationTables(rows: readonly Row[]): string {
  return groupBy(rows, ({ situation }) => situationName(situation))
    .map(([name, group]) => `### ${name}\n\n${situationTable(group)}`)
    .join('\n\n');
}

/** Each contender over all windows: the geometric mean of its times, then the worst one. */
export function summaryTable(rows: readonly Row[]): string {
  const counts = [...new Set(rows.map(({ situation }) => situation.processes))];
  const heads = counts.flatMap((count) => [`${processesOf(count)}: calls failed`, '429 per 100 calls', 'time / least']);
  const cells = groupBy(rows, ({ contender }) => contender).map(([contender, group]) => [
    titleOf(contender),
    ...counts.flatMap((count) => summaryCells(group.filter(({ situation }) => situation.processes === count))),
  ]);
  return `### All windows\n\n${table(['', ...heads], cells)}`;
}

/** What the user of each package sets; all else is its default. */
export function settingsTable(names: readonly string[]): string {
  const cells = names.flatMap((name) => {
    const contender = CONTENDERS[name];
    return contender === undefined ? [] : [[contender.title, versionOf(contender), contender.settings]];
  });
  return `### Settings beside the defaults\n\n${table(['', 'version', 'options set'], cells)}`;
}

export function titleOf(contender: string): string {
  return CONTENDERS[contender]?.title ?? contender;
}

export function situationName({ window, processes }: Situation): string {
  return `${WINDOW_NAMES[window]}, ${processesOf(processes)}`;
}

function processesOf(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`;
}

function situationTable(rows: readonly Row[]): string {
  const optimum = rows.slice(0, 1).map((first) => figureCells('*the least possible*', first.optimum));
  const cells = rows.map(({ contender, figures }) => figureCells(titleOf(contender), figures));
  return table(
    ['', 'calls ok', 'calls failed', '429 per 100 calls', 'time / least', 'p50 s', 'p95 s'],
    [...optimum, ...cells],
  );
}

function figureCells(name: string, figures: Figures): string[] {
  const { served, failed, refusedPer100, timeOverOptimum, p50Seconds, p95Seconds } = figures;
  return [
    ...[name, String(served), String(failed), refusedPer100.toFixed(0)],
    ...[fixed(timeOverOptimum, 2), fixed(p50Seconds, 0), fixed(p95Seconds, 0)],
  ];
}

function summaryCells(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['', '', ''];
  const figures = rows.map((row) => row.figures);
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

function fixed(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
