/**
 * Compares fxrates with real, unmodified packages behind a limit: `npm ci --prefix bench && npm run bench:limits`.
 *
 * Each contender makes 100 calls at once, from 1 and from 4 real processes, five times; the tables have medians. The server is
 * `node:http` on the loopback, with the window models of the tests, 30 requests per minute and Retry-After in whole seconds.
 * contenders.ts has the options of the packages. Rows over Redis need redis-server.
 *
 * All processes, including the server's, run on a clock that is 5 times as fast as the real one. `time-scale.ts`
 * replaces Date and the timers before a contender is imported. Retry-After, backoff, timeouts and windows keep their real
 * proportions, for all contenders alike. Loopback and CPU are not faster: one of their milliseconds counts as 5, about
 * what a network would cost. `--speed 1` runs in real time and must show the same.
 *
 * Options: `--record`, `--only fxrates,ky` (names in contenders.ts), `--quick` (sliding window, 1 process), `--runs 5`,
 * `--json`, `--speed 5`, `--jobs 12` (parallel runs).
 */
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { peerVersion, requirePeers } from '../peers.ts';
import { chosen, readOptions, report, table } from '../report.ts';
import { CONTENDERS } from './contenders.ts';
import { QUICK_SITUATIONS, type Row, type Run, runAll, SITUATIONS, type Situation } from './run.ts';
import { realNow } from './time-scale.ts';

const WINDOW_NAMES: Readonly<Record<string, string>> = {
  'fixed-minute': 'fixed window',
  'sliding-log': 'sliding window',
  bucket: 'token bucket',
};

const options = readOptions({ only: '', quick: false, runs: 5, speed: 5, jobs: 12 });
const contenders = withRedis(chosen(options.only, Object.keys(CONTENDERS)));
if (contenders.some((name) => CONTENDERS[name]?.peer)) requirePeers();

const redis = hasRedis ? await startRedis() : undefined; // for the processes that share a limit through it
if (redis) process.env['REDIS_URL'] = redis.url;
const scale = { originMs: realNow(), speed: options.speed };
const situations = options.quick ? QUICK_SITUATIONS : SITUATIONS;
const rows = await runAll(contenders, situations, { scale, runs: options.runs, jobs: options.jobs, onRun });
await redis?.kill();
const text = `${summaryTable()}\n\n### Settings beside the defaults\n\n${settingsTable()}`;
report('limits', { text, json: { rows }, figures: namedFigures() }, options);

function withRedis(names: readonly string[]): readonly string[] {
  const possible = names.filter((name) => hasRedis || !CONTENDERS[name]?.needsRedis);
  if (possible.length < names.length)
    process.stderr.write('SKIPPED: rows over Redis, because redis-server is missing\n');
  return possible;
}

function onRun({ error, ...row }: Run, progress: string): void {
  const figures = `${row.failed} failed, ${row.refused} refused, time / least ${row.time?.toFixed(2) ?? '–'}`;
  process.stderr.write(`[${progress}] ${rowName(row)}: ${figures}${error === undefined ? '' : `, ${error}`}\n`);
}

function namedFigures(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap((row) => {
      const name = rowName(row);
      const time = row.time === undefined ? [] : [[`${name}: time / least`, row.time]];
      return [[`${name}: failed`, row.failed], [`${name}: refused per 100`, row.refused], ...time];
    }),
  );
}

function rowName({ contender, window, processes }: Pick<Row, 'contender'> & Situation): string {
  return `${titleOf(contender)}, ${WINDOW_NAMES[window]}, ${processesOf(processes)}`;
}

function titleOf(contender: string): string {
  return CONTENDERS[contender]?.title ?? contender;
}

function processesOf(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`;
}

/** Each contender over all windows. */
function summaryTable(): string {
  const counts = [...new Set(situations.map(({ processes }) => processes))];
  const heads = counts.flatMap((count) => [`${processesOf(count)}: calls failed`, '429 per 100 calls', 'time / least']);
  const cells = [...new Set(rows.map(({ contender }) => contender))].map((contender) => {
    const own = rows.filter((row) => row.contender === contender);
    return [
      titleOf(contender),
      ...counts.flatMap((count) => summaryCells(own.filter((row) => row.processes === count))),
    ];
  });
  return table(['', ...heads], cells);
}

/** The means of the counts, the geometric mean of the times, and the longest time. */
function summaryCells(own: readonly Row[]): string[] {
  if (own.length === 0) return ['', '', ''];
  const times = own.flatMap(({ time }) => time ?? []);
  return [
    `${mean(own.map(({ failed }) => failed)).toFixed(0)} %`,
    mean(own.map(({ refused }) => refused)).toFixed(0),
    times.length === 0 ? '–' : `${Math.exp(mean(times.map(Math.log))).toFixed(2)} (${Math.max(...times).toFixed(2)})`,
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What the user of each package sets; all else is its default. */
function settingsTable(): string {
  const cells = contenders.map((name) => {
    const { peer, settings = '' } = CONTENDERS[name] ?? {};
    return [titleOf(name), peer === undefined ? '' : peerVersion(peer), settings];
  });
  return table(['', 'version', 'options set'], cells);
}
