import { type Clock, type FetchLike, FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { between, type Random, seededRandom } from '../../../test/helpers/limits-random.ts';
import { MemoryLimitStore } from '../../../test/helpers/memory-limit-store.ts';
import { API_KEY } from '../../../test/helpers/service-replies.ts';
import { type Bound, clairvoyant } from './clairvoyant.ts';
import { JobRun, type MakeCall, type Process } from './job-run.ts';
import { createFetch, Traffic, type World } from './network.ts';
import { type PlannedCall, planCalls, type Scenario, type StoreSpec } from './scenario.ts';
import { WildServer } from './server.ts';
import { ProcessClock, VirtualTime } from './virtual-time.ts';

/** The result of one run of a scenario. */
export interface Outcome {
  readonly calls: number;
  readonly served: number;
  /** Counts by the `kind` of the error; aborted calls are not included. */
  readonly failed: Readonly<Record<string, number>>;
  readonly aborted: number;
  /** Failed calls, minus those that a clairvoyant client fails as well. */
  readonly avoidable: number;
  readonly unsettled: number;
  readonly requests: number;
  readonly refused: number;
  /** The largest number of requests in any minute. */
  readonly mostPerMinute: number;
  readonly early: number;
  readonly inKnownOutage: number;
  readonly makespanMs: number;
  /** Mean time from a call's start to its response. */
  readonly meanMs: number;
  readonly bound: Bound;
}

const START = 1_700_000_000_000;
/** A run counts as endless when it takes this much longer than twenty times the bound. */
const GIVE_UP_MS = 2 * 3_600_000;

export interface RunOptions {
  readonly seed: number;
  /** Called with a line for every request and response, which starts with the seconds since the start. */
  readonly trace?: (line: string) => void;
  /** How each process makes its calls. Default: with its own client. */
  readonly createCall?: (fetch: FetchLike, world: World) => MakeCall;
}

/** Runs a scenario in virtual time. */
export async function runScenario(scenario: Scenario, { seed, trace, createCall }: RunOptions): Promise<Outcome> {
  const startedAt = START + Math.floor(seededRandom(seed)() * 60_000);
  const time = new VirtualTime(startedAt);
  const store = scenario.store && createStore(scenario.store, time, seededRandom(seed + 3));
  const { server: spec, network = {} } = scenario;
  const server = new WildServer(spec, seededRandom(seed + 4), { startedAt, seed });
  const traced = trace && { trace: withTime(trace, time) };
  const world: World = { time, server, network, random: seededRandom(seed + 5), ...traced };
  const processes = Array.from({ length: scenario.processes ?? 1 }, (_, place) =>
    startProcess(scenario, world, { store, seed: 100 * seed + place, name: `p${place}`, createCall }),
  );
  const planned = planCalls(scenario, seededRandom(seed + 6));
  const bound = clairvoyant(scenario, planned, { seed, startedAt });
  startJumps(scenario, time, processes);
  const job = new JobRun(scenario, time, processes);
  if (scenario.batch !== undefined) processes[0]?.startBatch(scenario.batch);
  await job.run(planned, 20 * bound.makespanMs + GIVE_UP_MS);
  return outcomeOf(job, { bound, processes, server, planned });
}

function withTime(trace: (line: string) => void, time: VirtualTime): (event: string) => void {
  const startedAt = time.now();
  return (event) => trace(`${((time.now() - startedAt) / 1000).toFixed(3).padStart(9)} ${event}`);
}

/** A store that the processes share. */
function createStore({ latency: [low, high], failures = [] }: StoreSpec, time: VirtualTime, random: Random) {
  const store = new MemoryLimitStore(new ProcessClock(time), { takesMs: () => between(random, low, high) });
  for (const { fromMs, untilMs, kind } of failures) {
    time.after(fromMs, () => {
      store.health = kind;
    });
    time.after(untilMs, () => {
      store.health = 'up';
    });
  }
  return store;
}

interface ProcessOptions {
  readonly store: MemoryLimitStore | undefined;
  readonly seed: number;
  readonly name: string;
  readonly createCall?: RunOptions['createCall'] | undefined;
}

function startProcess(scenario: Scenario, world: World, { store, seed, name, createCall }: ProcessOptions): Process {
  const createClock = () => Object.assign(new ProcessClock(world.time), { random: seededRandom(seed) });
  const clock = createClock();
  const traffic = new Traffic(name);
  const fetch = createFetch(world, traffic);
  if (createCall !== undefined) return { clock, traffic, call: createCall(fetch, world), startBatch: () => undefined };
  const target = { baseUrl: 'https://service.example', apiKey: API_KEY, fetch, logger: SILENT };
  const createClient = (own: Clock) => new FxRates({ ...target, clock: own, ...clientOptions(scenario, store) });
  const fx = createClient(clock);
  // The state of a key belongs to a clock, so a client with another one is like another process.
  const clientOfCall = scenario.isShell ? () => createClient(createClock()) : () => fx;
  const call: MakeCall = (n, signal) => clientOfCall().latest({ n }, signal === undefined ? {} : { signal });
  const startBatch = async (queries: number) => {
    for await (const { error } of fx.batch(Array.from({ length: queries }, (_, b) => ({ b })))) if (error) throw error;
  };
  return { clock, traffic, call, startBatch };
}

const SILENT = { warn: () => undefined };

function clientOptions({ told, options = {} }: Scenario, store: MemoryLimitStore | undefined): FxRatesOptions {
  const perMinute = told === undefined ? {} : { perMinute: told };
  return { ...options, rateLimit: { ...perMinute, ...(store ? { store } : {}), ...options.rateLimit } };
}

function startJumps({ jumps = [] }: Scenario, time: VirtualTime, processes: readonly Process[]): void {
  for (const { atMs, byMs } of jumps) {
    time.after(atMs, () => {
      for (const { clock } of processes) clock.jump(byMs);
    });
  }
}

interface Parts {
  readonly bound: Bound;
  readonly processes: readonly Process[];
  readonly server: WildServer;
  readonly planned: readonly PlannedCall[];
}

function outcomeOf(job: JobRun, { bound, processes, server, planned }: Parts): Outcome {
  const total = (count: (traffic: Traffic) => number) =>
    processes.reduce((sum, { traffic }) => sum + count(traffic), 0);
  const failed = Object.fromEntries(job.failed);
  const failures = [...job.failed.values()].reduce((sum, count) => sum + count, 0);
  const unavoidable = Math.max(0, planned.length - bound.served - job.aborted);
  return {
    calls: planned.length,
    served: job.served,
    failed,
    aborted: job.aborted,
    avoidable: Math.max(0, failures - unavoidable),
    unsettled: planned.length - job.settled,
    requests: total(({ requests }) => requests),
    refused: total(({ refused }) => refused),
    mostPerMinute: server.mostPerMinute,
    early: total(({ early }) => early),
    inKnownOutage: total(({ inKnownOutage }) => inKnownOutage),
    makespanMs: job.makespanMs,
    meanMs: job.served === 0 ? 0 : job.tookMs / job.served,
    bound,
  };
}
