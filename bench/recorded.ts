import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { table } from './table.ts';

/** Ratios and counts of one run by name. Times of one machine say nothing on another, and are not recorded. */
export type NamedFigures = Readonly<Record<string, number>>;

interface RecordedRun {
  /** Day of the run: `2026-11-22`. */
  readonly date: string;
  readonly figures: NamedFigures;
}

export interface ComparedRun {
  /** Name of the bench and of its file in `bench/recorded/`. */
  readonly bench: string;
  /** `v22.23.3`. Each major version has a record of its own. */
  readonly node: string;
  readonly figures: NamedFigures;
  /** Whether this run takes the place of the recorded one (`--record`). */
  readonly isRecorded: boolean;
}

/**
 * Prints to stderr, where it is no part of `--json`, what changed since the last recorded run. Writes the figures to the
 * file `FXRATES_BENCH_FIGURES`, if that is set (nodes.ts).
 */
export function reportChanges({ bench, node, figures, isRecorded }: ComparedRun): void {
  const copy = process.env['FXRATES_BENCH_FIGURES'];
  if (copy !== undefined) writeFileSync(copy, JSON.stringify(figures));
  const file = new URL(`recorded/${bench}.json`, import.meta.url);
  const runs: Readonly<Record<string, RecordedRun>> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const major = node.replace(/^v(\d+).*/, 'Node $1');
  const before = runs[major];
  process.stderr.write(
    before === undefined
      ? `\nNo recorded run of ${bench} on ${major}; --record writes one.\n`
      : `\n${bench} on ${major} since ${before.date}: ${changesText(before.figures, figures)}\n`,
  );
  if (!isRecorded) return;
  const date = new Date().toISOString().slice(0, 10);
  // Figures that this run did not measure, because of `--only`, stay.
  const rounded = Object.entries(figures).map(([name, figure]) => [name, Number(figure.toPrecision(4))]);
  const run: RecordedRun = { date, figures: { ...before?.figures, ...Object.fromEntries(rounded) } };
  writeFileSync(file, `${JSON.stringify({ ...runs, [major]: run }, undefined, 2)}\n`);
}

/** A difference below this share of the recorded figure is noise. */
const NOISE = 0.1;

/** A table of the figures that changed, and how many did not. Figures that one of the two runs lacks are not compared. */
export function changesText(before: NamedFigures, now: NamedFigures): string {
  const compared = Object.entries(now).flatMap(([name, is]) => {
    const was = before[name];
    return was === undefined ? [] : [{ name, was, is }];
  });
  const changed = compared.filter(({ was, is }) => Math.abs(is - was) > NOISE * Math.abs(was));
  const same = `${compared.length - changed.length} of ${compared.length} figures are within ${100 * NOISE} %.`;
  if (changed.length === 0) return same;
  return `${same}\n\n${table(
    ['', 'was', 'is'],
    changed.map(({ name, was, is }) => [name, short(was), short(is)]),
  )}`;
}

function short(figure: number): string {
  return String(Number(figure.toPrecision(3)));
}
