import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What figures depend on beside the options: the machine and the program, both as they are at the start. */
const provenance = {
  date: new Date().toISOString(),
  node: process.version,
  cores: cpus().length,
  load: loadavg()[0],
  commit: git('rev-parse', '--short', 'HEAD').stdout?.trim(),
  isModified: git('diff', '--quiet', 'HEAD', '--', ':/', ':!recorded', ':(top,exclude)*.md').status !== 0,
};

type Options = Readonly<Record<string, string | number | boolean>>;

/** The options of a benchmark: `--json`, `--record` and its own, which are given with their defaults. */
export function readOptions<Own extends Options>(own: Own) {
  const options = parseOptions({ json: false, record: false, ...own });
  /** Its own options, and the names of those that differ from their defaults. */
  const recorded = {
    options: Object.fromEntries(Object.keys(own).map((name) => [name, options[name]])),
    changed: Object.keys(own).filter((name) => options[name] !== own[name]),
  };
  return { ...options, recorded };
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

function git(...args: readonly string[]) {
  return spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
}

/** Ratios and counts of one run by name. Times of one machine say nothing on another, and are not recorded. */
export type NamedFigures = Readonly<Record<string, number>>;

export interface Report {
  readonly text: string;
  /** The result for `--json`. */
  readonly json: object;
  readonly figures: NamedFigures;
}

/**
 * Prints a run to stdout, and what changed since the last recorded one to stderr. `bench` is the name of the file in
 * `bench/recorded/`. Writes the figures to the file `FXRATES_BENCH_FIGURES`, if that is set (nodes.ts).
 */
export function report(
  bench: string,
  { text, json, figures }: Report,
  options: Pick<ReturnType<typeof readOptions>, 'json' | 'record' | 'recorded'>,
): void {
  const run = { ...provenance, ...options.recorded };
  const footer = Object.entries({ ...run, options: JSON.stringify(run.options) }).map(([name, is]) => `${name} ${is}`);
  const whole = `${text}\n\n${footer.join(', ')}`;
  process.stdout.write(`${options.json ? JSON.stringify({ ...run, ...json }, undefined, 2) : whole}\n`);
  const copy = process.env['FXRATES_BENCH_FIGURES'];
  if (copy !== undefined) writeFileSync(copy, JSON.stringify(figures));
  reportChanges(bench, { ...run, figures }, options.record);
}

/** One run, with the figures that no later run has replaced. */
interface RecordedRun {
  readonly date: string;
  /** Names of the options that differ from their defaults. */
  readonly changed: readonly string[];
  readonly figures: NamedFigures;
}

/** Each major version of Node.js has a record of its own. */
function reportChanges(bench: string, run: RecordedRun, isRecorded: boolean): void {
  const file = new URL(`recorded/${bench}.json`, import.meta.url);
  const record: Readonly<Record<string, RecordedRun[]>> = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : {};
  const major = process.version.replace(/^v(\d+).*/, 'Node $1');
  const runs = record[major] ?? [];
  const dates = runs.map(({ date }) => date.slice(0, 10)).join(', ');
  const before: NamedFigures = Object.assign({}, ...runs.map(({ figures }) => figures));
  process.stderr.write(
    runs.length === 0
      ? `\nNo recorded run of ${bench} on ${major}; --record writes one.\n`
      : `\n${bench} on ${major} since ${dates}: ${changesText(before, run.figures)}\n`,
  );
  if (!isRecorded) return;
  const rounded = Object.entries(run.figures).map(([name, figure]) => [name, Number(figure.toPrecision(4))]);
  const runsNow = withRun(runs, { ...run, figures: Object.fromEntries(rounded) });
  writeFileSync(file, `${JSON.stringify({ ...record, [major]: runsNow }, undefined, 2)}\n`);
}

/** A run with the default options replaces the record; another one replaces only the figures that it has. */
export function withRun(runs: readonly RecordedRun[], run: RecordedRun): readonly RecordedRun[] {
  if (run.changed.length === 0) return [run];
  const kept = runs.map(({ figures, ...earlier }) => {
    const others = Object.entries(figures).filter(([name]) => !(name in run.figures));
    return { ...earlier, figures: Object.fromEntries(others) };
  });
  return [...kept.filter(({ figures }) => Object.keys(figures).length > 0), run];
}

/** A difference below this share of the recorded figure is noise. */
const NOISE = 0.1;

/** A table of the figures that changed, and how many did not or are missing. New figures are not compared. */
function changesText(before: NamedFigures, now: NamedFigures): string {
  const compared = Object.entries(now).flatMap(([name, is]) => {
    const was = before[name];
    return was === undefined ? [] : [{ name, was, is }];
  });
  const changed = compared.filter(({ was, is }) => Math.abs(is - was) > NOISE * Math.abs(was));
  const lacking = Object.keys(before).length - compared.length;
  const same = `${compared.length - changed.length} of ${compared.length} are within ${100 * NOISE} %, ${lacking} not measured.`;
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

/** In each second round from the other end, so that no contender always follows the same one. */
export function inTurn<Item>(items: Iterable<Item>, round: number): readonly Item[] {
  return round % 2 === 0 ? [...items] : [...items].reverse();
}
