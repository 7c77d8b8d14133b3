import type { FxRatesOptions } from '../../../src/client/index.ts';
import type { Random } from '../../../test/helpers/limits-random.ts';
import type { NetworkSpec } from './network.ts';
import type { ServerSpec } from './server.ts';

/** One situation: a server, a network, a job and its goals. */
export interface Scenario {
  readonly name: string;
  readonly server: ServerSpec;
  /** Default: 20 to 120 ms one way, without losses. */
  readonly network?: NetworkSpec;
  readonly job: Job;
  /** Default: 1. */
  readonly processes?: number;
  /** Whether each call is a command of a shell: a process of its own, which ends with the call. */
  readonly isShell?: boolean;
  /** The store that the processes share. Default: none. */
  readonly store?: StoreSpec;
  /** Queries of a batch that the first process begins at the start. Its figures are not those of the job. */
  readonly batch?: number;
  /** Options of each process's client. Default: its defaults. */
  readonly options?: FxRatesOptions;
  /** `rateLimit.perMinute`. Default: the client learns it. */
  readonly told?: number;
  /** When the wall clocks of all processes jump. */
  readonly jumps?: readonly { readonly atMs: number; readonly byMs: number }[];
  /** Goals that replace the general ones. */
  readonly goals?: Partial<Goals>;
}

export interface StoreSpec {
  /** Milliseconds from an exchange to its result. */
  readonly latency: readonly [number, number];
  /** Periods in which every exchange is rejected or never responded to, in milliseconds since the start. */
  readonly failures?: readonly {
    readonly fromMs: number;
    readonly untilMs: number;
    readonly kind: 'down' | 'silent';
  }[];
}

/** Calls that start at once, one after another from a number of callers, at random times, or in bursts. */
export interface Job {
  readonly calls: number;
  /** Callers per process; each makes its next call when the last one is settled. Default: one per call. */
  readonly callers?: number;
  /** Rate at which calls start at random times, over all processes. Default: all calls start at once. */
  readonly perMinute?: number;
  /** So many calls start at once, again and again; each burst up to five seconds late. */
  readonly bursts?: { readonly calls: number; readonly everyMs: number };
  /** More calls at a later time, in milliseconds since the start. */
  readonly again?: { readonly atMs: number; readonly calls: number };
  /** Part of the calls that are aborted, and the time of the abort after the start of the call. */
  readonly aborts?: { readonly part: number; readonly afterMs: number };
}

/** Upper bounds for each seed; Infinity for none. */
export interface Goals {
  /** Part of the calls that fail or never settle, except those that a clairvoyant client fails as well. */
  readonly failedPart: number;
  readonly refusedPer100: number;
  /** Makespan divided by that of a clairvoyant client. */
  readonly ratio: number;
  readonly early: number;
  readonly inKnownOutage: number;
  readonly requests: number;
  readonly makespanMs: number;
  /** Mean time of a call, minus that of a clairvoyant client. */
  readonly excessMs: number;
}

/** One call of a job, planned before the run. */
export interface PlannedCall {
  readonly number: number;
  readonly process: number;
  /** Milliseconds since the start. */
  readonly startMs: number;
  readonly abortAfterMs: number | undefined;
}

/** Whether the starts of the calls, and not the limit, determine when the last one is served. */
export function startsOverTime({ perMinute, bursts, again }: Job): boolean {
  return (perMinute ?? bursts ?? again) !== undefined;
}

/** How long a call of this scenario may take; Infinity: no deadline. */
export function deadlineOf({ options = {} }: Scenario): number {
  const { deadlineMs = false } = options;
  return deadlineMs === false ? Number.POSITIVE_INFINITY : deadlineMs;
}

/** The calls in the order of their start, in turn for each process. */
export function planCalls({ job, processes = 1 }: Scenario, random: Random): PlannedCall[] {
  let startMs = 0;
  return Array.from({ length: job.calls + (job.again?.calls ?? 0) }, (_, number) => {
    startMs = startOf(number, startMs, { job, random });
    const isAborted = job.aborts !== undefined && random() < job.aborts.part;
    return { number, process: number % processes, startMs, abortAfterMs: isAborted ? job.aborts?.afterMs : undefined };
  });
}

/** `lastMs`: the start of the call before. */
function startOf(number: number, lastMs: number, { job, random }: { job: Job; random: Random }): number {
  const { calls, perMinute, bursts, again } = job;
  const fromMs = number === calls && again !== undefined ? again.atMs : lastMs;
  if (perMinute !== undefined) return fromMs - Math.log(1 - random()) * (60_000 / perMinute);
  if (bursts === undefined || number % bursts.calls > 0) return fromMs;
  return (number / bursts.calls) * bursts.everyMs + 5_000 * random();
}
