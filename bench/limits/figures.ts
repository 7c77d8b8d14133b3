import { LimitedServer } from '../../test/helpers/limits-server.ts';
import { median } from '../median.ts';
import type { Run } from './run.ts';
import { CALLS } from './situations.ts';

/** One row of a table: a contender in a situation, with the median of each figure over its runs. */
export interface Row extends Pick<Run, 'contender' | 'situation'> {
  readonly figures: Figures;
  readonly optimum: Figures;
}

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

/** In the order of the first runs. */
export function rowsOf(runs: readonly Run[]): Row[] {
  const groups = groupBy(runs, ({ contender, situation }) => JSON.stringify([contender, situation]));
  return groups.flatMap(([, same]) => {
    const [first] = same;
    if (first === undefined) return [];
    const { contender, situation } = first;
    return [{ contender, situation, figures: medians(same.map(figuresOf)), optimum: medians(same.map(optimumOf)) }];
  });
}

/** A figure that a run lacks, such as the time without a served call, has no median. */
function medians(figures: readonly Figures[]): Figures {
  const ofEach = (name: keyof Figures) => {
    const known = figures.map((run) => run[name]).filter((figure) => figure !== undefined);
    return known.length < figures.length ? undefined : median(known);
  };
  return {
    served: ofEach('served') ?? 0,
    failed: ofEach('failed') ?? 0,
    refusedPer100: ofEach('refusedPer100') ?? 0,
    timeOverOptimum: ofEach('timeOverOptimum'),
    p50Seconds: ofEach('p50Seconds'),
    p95Seconds: ofEach('p95Seconds'),
  };
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
function optimumOf(run: Run): Figures {
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
  const limited = new LimitedServer(server);
  let at = startedAt;
  for (let call = 0; call < calls; call += 1) {
    at += limited.waitMs(at);
    limited.receive(at);
  }
  return at - startedAt;
}

function quantile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.ceil(part * sorted.length) - 1];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** Groups in the order of their first items. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly [string, Item[]][] {
  const byKey = new Map<string, Item[]>();
  for (const item of items) byKey.set(keyOf(item), [...(byKey.get(keyOf(item)) ?? []), item]);
  return [...byKey];
}
