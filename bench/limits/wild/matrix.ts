/**
 * What a client knows: a limit told, asked with `quota()`, or neither; five kinds of window; 30, 300 and 1,000 requests
 * per minute; 1, 4 and 10 processes, which share a store or nothing. All calls are made at once.
 */
import { median } from '../../report.ts';
import { ratioOf } from './goals.ts';
import type { Outcome } from './run.ts';
import type { Scenario } from './scenario.ts';
import { bucket, counter, firstHit, fixed, log } from './scenarios.ts';
import type { ServerSpec } from './server.ts';

interface Group {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
}

/** The calls of a job under each limit per minute. */
const CALLS: Readonly<Record<number, number>> = { 30: 100, 300: 750, 1000: 1_500 };
const LIMITS = Object.keys(CALLS).map(Number);
const WINDOWS: Readonly<Record<string, (limit: number, more: Partial<ServerSpec>) => ServerSpec>> = {
  'fixed minute': fixed,
  'fixed from the first request': firstHit,
  'sliding log': log,
  'sliding counter': counter,
  bucket: (limit, more) => bucket(limit, limit, more),
};

const FLEETS = [
  { name: '1 process', processes: 1 },
  { name: '4 processes, store', processes: 4, store: { latency: [1, 3] } },
  { name: '10 processes, store', processes: 10, store: { latency: [1, 3] } },
  { name: '4 processes, no store', processes: 4 },
  { name: '10 processes, no store', processes: 10 },
] as const;

const KNOWLEDGE = ['told', 'asked', 'neither'] as const;

/** The groups of situations; a row of the table each. */
export const GROUPS: readonly Group[] = KNOWLEDGE.flatMap((knowledge) =>
  FLEETS.map((fleet) => ({
    name: `${knowledge}, ${fleet.name}`,
    scenarios: LIMITS.flatMap((limit) =>
      Object.keys(WINDOWS).map((window) => situation(knowledge, fleet, { limit, window })),
    ),
  })),
);

function situation(
  knowledge: (typeof KNOWLEDGE)[number],
  { name, ...fleet }: (typeof FLEETS)[number],
  { limit, window }: { readonly limit: number; readonly window: string },
): Scenario {
  const server = WINDOWS[window]?.(limit, knowledge === 'neither' ? { hasNoQuota: true } : {});
  if (server === undefined) throw new RangeError(window);
  const job = { calls: CALLS[limit] ?? limit };
  const told = knowledge === 'told' ? { told: limit } : {};
  return { name: `${knowledge}, ${name}: ${window} ${limit}`, server, job, ...told, ...fleet };
}

export interface Job {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
}

/** Such as `fixed minute 1000, 65.5 s, least 2.5 s`. */
function timesOf({ scenario: { name }, outcome: { makespanMs, bound } }: Job): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return `${name.split(': ')[1]}, ${seconds(makespanMs)}, least ${seconds(bound.makespanMs)}`;
}

/** The figures of some jobs. */
export function figuresOfJobs(jobs: readonly Job[]) {
  const total = (count: (outcome: Outcome) => number) => jobs.reduce((sum, { outcome }) => sum + count(outcome), 0);
  const ratios = jobs.map(({ outcome }) => ratioOf(outcome));
  const worst = Math.max(...ratios);
  const perLimit = jobs.map(({ scenario, outcome }) => outcome.mostPerMinute / scenario.server.limit);
  return {
    jobs: jobs.length,
    failed: total(({ calls, served, aborted }) => calls - served - aborted),
    refusedPer100: (100 * total(({ refused }) => refused)) / total(({ calls }) => calls),
    early: total(({ early }) => early),
    ratio: median(ratios),
    worst,
    worstJob: jobs.filter(({ outcome }) => ratioOf(outcome) === worst).map(timesOf)[0] ?? '',
    ofLimit: Math.max(...perLimit),
  };
}
