/**
 * fxrates beside real, unmodified packages in front of a limit: `npm ci --prefix bench && npm run bench:limits`.
 *
 * Each contender makes 100 calls at once with one key that may make 30 per minute, from 1 and from 4 real processes, to a
 * `node:http` server on the loopback that counts as the window models of the tests do (fixed, sliding, token bucket) and
 * sends Retry-After in whole seconds. What is told about the limit, and each package's settings: `contenders.ts`.
 *
 * The minute is shrunk by time, not by numbers: every process, the server's too, lives in a time that runs 5 times as
 * fast (`time-scale.ts` replaces Date and the timers before a contender is imported), so that Retry-After, backoff and
 * windows keep their real proportions, for all alike. Loopback and CPU do not run faster: a millisecond of theirs counts
 * as 5, which is what a network would cost. `--speed 1` takes real minutes and must show the same.
 *
 * Options: `--record`, `--only fxrates,ky` (files in contenders/), `--quick` (sliding window, 1 process), `--json`, `--speed 5`,
 * `--jobs 12` (runs side by side).
 */
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { reportChanges } from '../recorded.ts';
import { idOf, needsPackages } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { figuresOf } from './figures.ts';
import { peerVersions } from './peer-versions.ts';
import type { Run } from './run.ts';
import { runAll } from './run-all.ts';
import { QUICK_SITUATIONS, SITUATIONS } from './situations.ts';
import { situationTables, summaryTable, titleOf } from './table.ts';
import { realNow } from './time-scale.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    speed: { type: 'string', default: '5' },
    jobs: { type: 'string', default: '12' },
    record: { type: 'boolean', default: false },
  },
});
const contenders = chooseContenders(values.only?.split(','));
const situations = values.quick ? QUICK_SITUATIONS : SITUATIONS;
const speed = Number(values.speed);
const scale = { originMs: realNow(), speed };

if (contenders.some(needsPackages) && !existsSync(new URL('../node_modules', import.meta.url))) {
  stop('The peers are not installed. Run: npm ci --prefix bench');
}

const header = {
  date: new Date().toISOString(),
  node: process.version,
  cpus: cpus().length,
  speed,
  loadAtStart: loadavg()[0],
};
const redis = hasRedis ? await startRedis() : undefined; // for the processes that share a limit in it
if (redis) process.env['REDIS_URL'] = redis.url;
const runs = await runAll(contenders, situations, { scale, jobs: Number(values.jobs), onRun: report });
await redis?.kill();
const facts = { ...header, loadAtEnd: loadavg()[0], peers: contenders.some(needsPackages) ? peerVersions() : 'none' };
process.stdout.write(values.json ? asJson() : `${situationTables(runs)}\n\n${summaryTable(runs)}\n\n${asText()}\n`);
reportChanges({ bench: 'limits', node: process.version, figures: namedFigures(), isRecorded: values.record });

function chooseContenders(ids: readonly string[] | undefined) {
  if (ids === undefined) return CONTENDERS;
  const known = new Set(CONTENDERS.map(idOf));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) stop(`--only ${unknown.join(',')}: there are ${[...known].join(', ')}`);
  return CONTENDERS.filter((contender) => ids.includes(idOf(contender)));
}

function report(result: Run, progress: string): void {
  const { served, refusedPer100, timeOverOptimum } = figuresOf(result);
  const ratio = timeOverOptimum?.toFixed(2) ?? '–';
  process.stderr.write(
    `[${progress}] ${titleOf(result)}: ${result.contender.name}: ` +
      `${served} served, ${refusedPer100} refused, time / least ${ratio}${errorsOf(result)}\n`,
  );
}

/** What callers got instead of an answer: the most frequent error, without its address. */
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
    runs.flatMap((run) => {
      const { failed, refusedPer100, timeOverOptimum } = figuresOf(run);
      const name = `${run.contender.name}, ${titleOf(run)}`;
      const time = timeOverOptimum === undefined ? [] : [[`${name}: time / least`, timeOverOptimum]];
      return [[`${name}: failed`, failed], [`${name}: refused per 100`, refusedPer100], ...time];
    }),
  );
}

function asJson(): string {
  const lines = runs.map((result) => ({
    contender: result.contender.name,
    told: result.contender.told,
    ...result.situation,
    ...figuresOf(result),
  }));
  return `${JSON.stringify({ ...facts, runs: lines }, undefined, 2)}\n`;
}

function asText(): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
