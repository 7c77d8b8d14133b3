import { optimumMs } from '../../test/helpers/limits-simulation.ts';
import type { Run } from './run.ts';
import { CALLS } from './situations.ts';

/** One row of the table. */
export interface Figures {
  readonly served: number;
  readonly failed: number;
  /** Refused requests per 100 calls of the job. */
  readonly refusedPer100: number;
  /** Time of the last served call, divided by the least time for as many calls; `undefined` if that time is 0. */
  readonly timeOverOptimum: number | undefined;
  /** Seconds from the start of the job to the response, for served calls. */
  readonly p50Seconds: number | undefined;
  readonly p95Seconds: number | undefined;
}

export function figuresOf(run: Run): Figures {
  const servedMs = run.endings.filter(({ ok }) => ok).map(({ ms }) => ms);
  servedMs.sort((a, b) => a - b);
  const leastMs = leastTimeMs(run, servedMs.length);
  return {
    served: servedMs.length,
    failed: CALLS - servedMs.length,
    refusedPer100: (100 * run.refused) / CALLS,
    timeOverOptimum: leastMs < 1_000 ? undefined : (servedMs.at(-1) ?? 0) / leastMs,
    p50Seconds: seconds(quantile(servedMs, 0.5)),
    p95Seconds: seconds(quantile(servedMs, 0.95)),
  };
}

/** The figures of a client that knows the server's state and has no network latency. */
export function optimumOf(run: Run): Figures {
  return {
    served: CALLS,
    failed: 0,
    refusedPer100: 0,
    timeOverOptimum: 1,
    p50Seconds: seconds(leastTimeMs(run, Math.ceil(0.5 * CALLS))),
    p95Seconds: seconds(leastTimeMs(run, Math.ceil(0.95 * CALLS))),
  };
}

function leastTimeMs({ server, startedAt }: Run, calls: number): number {
  if (calls === 0) return 0;
  const job = { calls, callers: Number.POSITIVE_INFINITY, seed: 0, latencyMs: [0, 0] as const };
  return optimumMs({ ...server, ...job }, startedAt);
}

function quantile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.ceil(part * sorted.length) - 1];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
