/**
 * Compares fxrates with real, unmodified packages behind a limit: `npm ci --prefix bench && npm run bench:limits`.
 *
 * Each contender makes 100 calls at once, from 1 and from 4 real processes, five times; the tables have medians. The key allows
 * 30 requests per minute. The server is `node:http` on the loopback, with the window models of the tests (fixed, sliding,
 * token bucket) and Retry-After in whole seconds. All packages use their defaults, except the options in the table of settings
 * (contenders.ts). Rows over Redis need redis-server.
 *
 * All processes, including the server's, run on a clock that is 5 times as fast as the real one. `time-scale.ts`
 * replaces Date and the timers before a contender is imported. Retry-After, backoff, timeouts and windows keep their real
 * proportions, for all contenders alike. Loopback and CPU are not faster: one of their milliseconds counts as 5, about
 * what a network would cost. `--speed 1` runs in real time and must show the same.
 *
 * `--real` measures fxrates behind rate limiters in wide use instead (real-limiters.ts).
 *
 * Options: `--record`, `--only fxrates,ky` (names in contenders.ts), `--quick` (sliding window, 1 process), `--runs 5`,
 * `--json`, `--speed 5`, `--jobs 12` (parallel runs).
 */
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { reportChanges } from '../recorded.ts';
import { CONTENDERS } from './contenders.ts';
import { figuresOf, rowsOf } from './figures.ts';
import type { Run } from './run.ts';
import { runAll } from './run-all.ts';
import { QUICK_SITUATIONS, SITUATIONS } from './situations.ts';
import { settingsTable, situationName, situationTables, summaryTable, titleOf } from './table.ts';
import { realNow } from './time-scale.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    runs: { type: 'string', default: '5' },
    speed: { type: 'string', default: '5' },
    jobs: { type: 'string', default: '12' },
    record: { type: 'boolean', default: false },
    real: { type: 'boolean', default: false },
  },
});
if (values.real) {
  const { measureRealLimiters } = await import('./real-limiters.ts');
  await measureRealLimiters({ isJson: values.json, isRecorded: values.record });
  process.exit();
}
const contenders = chooseContenders(values.only?.split(','));
const situations = values.quick ? QUICK_SITUATIONS : SITUATIONS;
const speed = Number(values.speed);
const scale = { originMs: realNow(), speed };

if (contenders.some((name) => CONTENDERS[name]?.peer) && !existsSync(new URL('../node_modules', import.meta.url))) {
  stop('The peers are not installed. Run: npm ci --prefix bench');
}

const redis = hasRedis ? await startRedis() : undefined; // for the processes that share a limit through it
if (redis) process.env['REDIS_URL'] = redis.url;
const machine = { cores: cpus().length, node: process.version, loadAtStart: loadavg()[0] };
const options = { scale, runs: Number(values.runs), jobs: Number(values.jobs), onRun: report };
const rows = rowsOf(await runAll(contenders, situations, options));
await redis?.kill();
const facts = { date: new Date().toISOString(), clock: `${speed} times real time`, runs: options.runs, ...machine };
process.stdout.write(values.json ? asJson() : asText());
reportChanges({ bench: 'limits', node: process.version, figures: namedFigures(), isRecorded: values.record });

function chooseContenders(names: readonly string[] = Object.keys(CONTENDERS)): readonly string[] {
  const unknown = names.filter((name) => !Object.hasOwn(CONTENDERS, name));
  if (unknown.length > 0) stop(`--only ${unknown.join(',')}: there are ${Object.keys(CONTENDERS).join(', ')}`);
  const possible = names.filter((name) => hasRedis || !CONTENDERS[name]?.needsRedis);
  if (possible.length < names.length)
    process.stderr.write('SKIPPED: rows over Redis, because redis-server is missing\n');
  return possible;
}

function report(result: Run, progress: string): void {
  const { served, refusedPer100, timeOverOptimum } = figuresOf(result);
  const ratio = timeOverOptimum?.toFixed(2) ?? '–';
  process.stderr.write(
    `[${progress}] ${situationName(result.situation)}: ${titleOf(result.contender)}: ` +
      `${served} served, ${refusedPer100} refused, time / least ${ratio}${errorsOf(result)}\n`,
  );
}

/** The most frequent error of the calls, without its address. */
function errorsOf({ endings }: Run): string {
  const counts = new Map<string, number>();
  for (const { error } of endings) {
    const text = error?.replace(/https?:\S+/, '…');
    if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? '' : `, ${most[1]} × ${most[0]}`;
}

function namedFigures(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ contender, situation, figures: { failed, refusedPer100, timeOverOptimum } }) => {
      const name = `${titleOf(contender)}, ${situationName(situation)}`;
      const time = timeOverOptimum === undefined ? [] : [[`${name}: time / least`, timeOverOptimum]];
      return [[`${name}: failed`, failed], [`${name}: refused per 100`, refusedPer100], ...time];
    }),
  );
}

function asJson(): string {
  const lines = rows.map(({ contender, situation, figures }) => ({ contender, ...situation, ...figures }));
  return `${JSON.stringify({ ...facts, rows: lines }, undefined, 2)}\n`;
}

function asText(): string {
  const footer = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  const tables = [situationTables(rows), summaryTable(rows), settingsTable(contenders)];
  return `${tables.join('\n\n')}\n\n${footer.join(', ')}\n`;
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
