import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LimitedServer, type ServerOptions } from '../../test/helpers/limits-server.ts';
import { API_KEY } from '../../test/helpers/service-replies.ts';
import { median } from '../report.ts';
import type { Ending, Order } from './caller-process.ts';
import { CONTENDERS } from './contenders.ts';
import { startLimitedServer } from './limited-http-server.ts';
import { scaledNow, type TimeScale } from './time-scale.ts';
import type { WindowKind } from './wild/windows.ts';

export interface Situation {
  readonly window: WindowKind;
  readonly processes: number;
}

export const SITUATIONS: readonly Situation[] = [1, 4].flatMap((processes) =>
  (['fixed-minute', 'sliding-log', 'bucket'] as const).map((window) => ({ window, processes })),
);

export const QUICK_SITUATIONS: readonly Situation[] = [{ window: 'sliding-log', processes: 1 }];

/** The limit of the Free plan, and a job of more than three times that limit. */
const LIMIT = 30;
const CALLS = 100;
/** The job starts this long after the start of a minute on the server. */
const START_IN_MINUTE_MS = 20_000;
const CALLER_PROCESS = fileURLToPath(new URL('caller-process.ts', import.meta.url));

export interface Figures {
  /** Of 100 calls. */
  readonly failed: number;
  /** Refused requests per 100 calls. */
  readonly refused: number;
  /** Time of the last served call, divided by the least time for as many calls; `undefined` if that time is 0. */
  readonly time: number | undefined;
}

/** A contender in a situation, with the median of each figure over its runs. */
export interface Row extends Situation, Figures {
  /** Name in `CONTENDERS`. */
  readonly contender: string;
}

/** A single run, and the error of one of the calls that failed. */
export interface Run extends Row {
  readonly error: string | undefined;
}

export interface RunAllOptions {
  readonly scale: TimeScale;
  /** Runs of each contender in each situation. */
  readonly runs: number;
  /** Parallel runs. */
  readonly jobs: number;
  onRun(run: Run, progress: string): void;
}

/** Runs every contender in every situation that it supports. Runs of one contender are far apart in time. */
export async function runAll(
  contenders: readonly string[],
  situations: readonly Situation[],
  { scale, runs, jobs, onRun }: RunAllOptions,
): Promise<Row[]> {
  const pairs = situations.flatMap((situation) =>
    contenders.filter((name) => isMeantFor(name, situation)).map((contender) => ({ contender, ...situation })),
  );
  const planned = Array.from({ length: runs }, () => pairs).flat();
  const waiting = planned.values();
  const done: Run[] = [];
  const work = async (callers: readonly ChildProcess[]) => {
    for (const { contender, ...situation } of waiting) {
      const run = await measure(contender, situation, { callers: callers.slice(0, situation.processes), scale });
      done.push(run);
      onRun(run, `${done.length}/${planned.length}`);
    }
    for (const caller of callers) caller.disconnect();
  };
  const size = Math.max(...situations.map(({ processes }) => processes));
  // Started one after another: dozens of processes that start at once would slow other programs of the machine.
  const groups: (readonly ChildProcess[])[] = [];
  while (groups.length < Math.min(jobs, planned.length)) groups.push(await startCallers(size, scale));
  await Promise.all(groups.map(work));
  return pairs.map((pair) => ({ ...pair, ...medians(done.filter((run) => isRunOf(pair, run))) }));
}

function isMeantFor(contender: string, { processes }: Situation): boolean {
  return CONTENDERS[contender]?.processes?.includes(processes) ?? true;
}

function isRunOf(pair: Situation & Pick<Row, 'contender'>, run: Run): boolean {
  return run.contender === pair.contender && run.window === pair.window && run.processes === pair.processes;
}

/** A run without a served call has no time, and then there is no median either. */
function medians(runs: readonly Run[]): Figures {
  const times = runs.flatMap(({ time }) => time ?? []);
  return {
    failed: median(runs.map(({ failed }) => failed)),
    refused: median(runs.map(({ refused }) => refused)),
    time: times.length < runs.length ? undefined : median(times),
  };
}

interface Callers {
  readonly callers: readonly ChildProcess[];
  readonly scale: TimeScale;
}

/** Prepares the processes and the server, then starts all processes at once. */
async function measure(contender: string, situation: Situation, { callers, scale }: Callers): Promise<Run> {
  const now = () => scaledNow(scale);
  await using warmUp = await startLimitedServer(now);
  await using server = await startLimitedServer(now);
  warmUp.open({ window: 'sliding-log', limit: Number.POSITIVE_INFINITY, hint: 'seconds' });
  const options = { origin: server.origin, apiKey: API_KEY, perMinute: toldLimit(contender, situation) };
  const calls = CALLS / callers.length;
  await Promise.all(
    callers.map((caller, place) => {
      return ask(caller, { contender, options, warmUpOrigin: warmUp.origin, calls, firstCall: place * calls });
    }),
  );

  const startedAt = now();
  const skewMs = START_IN_MINUTE_MS - (startedAt % 60_000);
  const limit: ServerOptions = { window: situation.window, limit: LIMIT, hint: 'seconds', skewMs };
  server.open(limit);
  const endings = (await Promise.all(callers.map((caller) => ask(caller, 'start')))).flat();
  const served = endings.filter(({ error }) => error === undefined);
  const leastMs = leastTimeMs(limit, startedAt, served.length);
  return {
    ...{ contender, ...situation, failed: CALLS - served.length, refused: server.refused },
    time: leastMs < 1_000 ? undefined : Math.max(...served.map(({ ms }) => ms)) / leastMs,
    error: endings.find(({ error }) => error !== undefined)?.error,
  };
}

function toldLimit(contender: string, { processes }: Situation): number | undefined {
  const told = CONTENDERS[contender]?.told;
  if (told === undefined) return undefined;
  return told === 'limit' ? LIMIT : Math.floor(LIMIT / processes);
}

/** The time of a client that knows the server's state and has no network latency. */
function leastTimeMs(options: ServerOptions, startedAt: number, calls: number): number {
  const server = new LimitedServer(options);
  let at = startedAt;
  for (let call = 0; call < calls; call += 1) {
    at += server.waitMs(at);
    server.receive(at);
  }
  return at - startedAt;
}

/** Starts processes that are reused for several runs, so that none starts during a measurement. */
async function startCallers(size: number, scale: TimeScale): Promise<ChildProcess[]> {
  const callers = Array.from({ length: size }, () =>
    fork(CALLER_PROCESS, [JSON.stringify(scale)], { execArgv: ['--import', 'tsx'] }),
  );
  for (const caller of callers) {
    caller.once('exit', (code) => {
      if (code !== 0) throw new Error(`A calling process ended by itself, with ${code}`);
    });
  }
  await Promise.all(callers.map((caller) => once(caller, 'message')));
  return callers;
}

async function ask(caller: ChildProcess, order: Order): Promise<readonly Ending[]> {
  const reply = once(caller, 'message');
  caller.send(order);
  const [endings] = await reply;
  return endings;
}
