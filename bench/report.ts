import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';

const loadAtStart = loadavg()[0];

type Options = Readonly<Record<string, string | number | boolean>>;

/** The options of a benchmark: `--json`, `--record` and its own, which are given with their defaults. */
export function readOptions<Own extends Options>(own: Own) {
  return parseOptions({ json: false, record: false, ...own });
}

/** Options with these defaults. A default that is a number makes a number of the option. */
export function parseOptions<Defaults extends Options>(defaults: Defaults): Defaults {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, value] of Object.entries(defaults)) {
    const isFlag = typeof value === 'boolean';
    options[name] = isFlag ? { type: 'boolean', default: value } : { type: 'string', default: `${value}` };
  }
  try {
    const { values } = parseArgs({ allowNegative: true, options });
    const typed = Object.entries(defaults).map(([name, value]) => {
      return [name, typeof value === 'number' ? positive(name, values[name]) : values[name]];
    });
    return Object.fromEntries(typed);
  } catch (error) {
    const known = Object.entries(defaults).map(optionText);
    return fail(`${(error as Error).message.split('. ')[0]}; options: ${known.join(', ')}`);
  }
}

/** With the default, or as what changes it. */
function optionText([name, value]: readonly [string, Options[string]]): string {
  if (typeof value === 'boolean') return value ? `--no-${name}` : `--${name}`;
  return `--${name} ${value === '' ? '…' : value}`;
}

function positive(name: string, text: unknown): number {
  if (Number(text) > 0) return Number(text);
  throw new Error(`--${name} ${text}: expected a number above 0`);
}

/** The names that `--only a,b` lists; all of them without it. */
export function chosen<Name extends string>(only: string, names: readonly Name[]): readonly Name[] {
  const wanted = only === '' ? names : only.split(',');
  const unknown = wanted.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) fail(`--only ${unknown.join(',')}: expected some of ${names.join(', ')}`);
  return names.filter((name) => wanted.includes(name));
}

/** Ends the benchmark before it starts: an argument is wrong, or something is missing. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** What a figure of time depends on. */
export function machine() {
  return { date: new Date().toISOString(), node: process.version, cores: cpus().length, loadAtStart };
}

/** Ratios and counts of one run by name. Times of one machine say nothing on another, and are not recorded. */
export type NamedFigures = Readonly<Record<string, number>>;

export interface Report {
  readonly text: string;
  /** The result for `--json`. */
  readonly json: object;
  /** Printed after the text, and before the result in JSON. Default: none. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly figures: NamedFigures;
}

/**
 * Prints a run to stdout, and what changed since the last recorded one to stderr. `bench` is the name of the file in
 * `bench/recorded/`. Writes the figures to the file `FXRATES_BENCH_FIGURES`, if that is set (nodes.ts).
 */
export function report(
  bench: string,
  { text, json, facts = {}, figures }: Report,
  options: { readonly json: boolean; readonly record: boolean },
): void {
  const footer = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  const whole = footer.length === 0 ? text : `${text}\n\n${footer.join(', ')}`;
  process.stdout.write(`${options.json ? JSON.stringify({ ...facts, ...json }, undefined, 2) : whole}\n`);
  const copy = process.env['FXRATES_BENCH_FIGURES'];
  if (copy !== undefined) writeFileSync(copy, JSON.stringify(figures));
  reportChanges(bench, figures, options.record);
}

interface RecordedRun {
  /** Day of the run: `2026-11-22`. */
  readonly date: string;
  readonly figures: NamedFigures;
}

/** Each major version of Node.js has a record of its own. */
function reportChanges(bench: string, figures: NamedFigures, isRecorded: boolean): void {
  const file = new URL(`recorded/${bench}.json`, import.meta.url);
  const runs: Readonly<Record<string, RecordedRun>> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const major = process.version.replace(/^v(\d+).*/, 'Node $1');
  const before = runs[major];
  process.stderr.write(
    before === undefined
      ? `\nNo recorded run of ${bench} on ${major}; --record writes one.\n`
      : `\n${bench} on ${major} since ${before.date}: ${changesText(before.figures, figures)}\n`,
  );
  if (!isRecorded) return;
  const date = new Date().toISOString().slice(0, 10);
  const rounded = Object.entries(figures).map(([name, figure]) => [name, Number(figure.toPrecision(4))]);
  const run: RecordedRun = { date, figures: Object.fromEntries(rounded) };
  writeFileSync(file, `${JSON.stringify({ ...runs, [major]: run }, undefined, 2)}\n`);
}

/** A difference below this share of the recorded figure is noise. */
const NOISE = 0.1;

/** A table of the figures that changed, how many did not, and those that this run lacks. New figures are not compared. */
export function changesText(before: NamedFigures, now: NamedFigures): string {
  const compared = Object.entries(now).flatMap(([name, is]) => {
    const was = before[name];
    return was === undefined ? [] : [{ name, was, is }];
  });
  const changed = compared.filter(({ was, is }) => Math.abs(is - was) > NOISE * Math.abs(was));
  const lacking = Object.keys(before).filter((name) => !(name in now));
  const same = [
    `${compared.length - changed.length} of ${compared.length} figures are within ${100 * NOISE} %.`,
    ...(lacking.length === 0 ? [] : [`Not measured: ${lacking.join('; ')}.`]),
  ].join('\n');
  if (changed.length === 0) return same;
  return `${same}\n\n${table(
    ['', 'was', 'is'],
    changed.map(({ name, was, is }) => [name, short(was), short(is)]),
  )}`;
}

function short(figure: number): string {
  return String(Number(figure.toPrecision(3)));
}

/** A Markdown table: names are aligned left, figures right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_, place) => (place === 0 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the upper of two middle values; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
