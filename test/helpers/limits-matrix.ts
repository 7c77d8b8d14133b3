import { HINT_FORMS, type HintForm, WINDOW_KINDS, type WindowKind } from './limits-server.ts';
import { type Outcome, type Scenario, simulate } from './limits-simulation.ts';

/** One server: a limit, a window kind and a form of Retry-After. */
interface Server {
  readonly window: WindowKind;
  readonly limit: number;
  readonly hint: HintForm;
}

export interface Situation {
  readonly name: string;
  /** Differences from one process with 16 callers that must learn the limit. */
  vary(server: Server): Partial<Scenario>;
}

const told = ({ limit }: Server) => ({ limiter: { perMinute: limit } });
const wide = { callers: Number.POSITIVE_INFINITY, limiter: { maxConcurrent: 2_000 } };
const halfUsed = { usedBefore: 0.5 };
const four = { processes: 4 };
const sharing = { ...four, storeMs: 2 };

/** Situations with upper bounds for their figures. */
export const MEASURED: readonly Situation[] = [
  { name: 'limit told', vary: told },
  { name: 'limit unknown', vary: () => ({}) },
  { name: 'told, half of the limit used before', vary: (server) => ({ ...told(server), ...halfUsed }) },
  { name: 'unknown, half of the limit used before', vary: () => halfUsed },
  { name: 'four processes that share nothing, told', vary: (server) => ({ ...told(server), ...four }) },
  { name: 'four processes that share nothing, unknown', vary: () => four },
  { name: 'four processes that share, told', vary: (server) => ({ ...told(server), ...sharing }) },
  { name: 'four processes that share, unknown', vary: () => sharing },
];

/** Situations that must only not fail. */
export const ROUGH: readonly Situation[] = [
  {
    name: 'told, no bound on concurrency',
    vary: ({ limit }) => ({ ...wide, limiter: { ...wide.limiter, perMinute: limit } }),
  },
  { name: 'unknown, no bound on concurrency', vary: () => wide },
  { name: 'told ten times the limit', vary: ({ limit }) => ({ limiter: { perMinute: 10 * limit } }) },
  { name: 'told, others use 30 %', vary: (server) => ({ ...told(server), othersPerMinute: 0.3 * server.limit }) },
  { name: 'unknown, others use 30 %', vary: ({ limit }) => ({ othersPerMinute: 0.3 * limit }) },
  { name: 'told, 2 % lost and 2 % 5xx', vary: (server) => ({ ...told(server), lost: 0.02, serverErrors: 0.02 }) },
  { name: 'told, round trips of 1 to 4 s', vary: (server) => ({ ...told(server), latencyMs: [500, 2_000] }) },
  {
    name: 'told, and a limit per second',
    vary: (server) => ({ ...told(server), perSecond: Math.ceil(server.limit / 20) }),
  },
  { name: 'unknown, and a limit per second', vary: ({ limit }) => ({ perSecond: Math.ceil(limit / 20) }) },
  {
    name: 'told, bucket of a tenth',
    vary: (server) => ({ ...told(server), window: 'bucket', burst: Math.ceil(server.limit / 10) }),
  },
];

export interface Selection {
  readonly seeds: readonly number[];
  readonly limits: readonly number[];
  readonly hints: readonly HintForm[];
  /** Calls of a job as multiples of the limit, at most 2 000. */
  readonly jobs: readonly number[];
}

/** Without `const60`: it says 60 s for every wait, and the limiter obeys it. */
export const EVERYTHING: Selection = {
  seeds: [1, 2, 3],
  limits: [30, 300, 1_000],
  hints: HINT_FORMS.filter((hint) => hint !== 'const60'),
  jobs: [1.1, 2.02, 60],
};

export interface Summary {
  readonly runs: number;
  readonly failed: number;
  readonly pendingTimers: number;
  readonly refusedPer100: number;
  /** Makespan divided by that of a clairvoyant client: the geometric mean, and the worst. */
  readonly ratio: number;
  readonly worst: number;
}

/** Runs a situation with every window kind and everything selected. */
export async function measure({ vary }: Situation, selection: Selection): Promise<Summary> {
  const outcomes: Outcome[] = [];
  let calls = 0;
  for (const scenario of scenarios(selection, vary)) {
    outcomes.push(await simulate(scenario));
    calls += scenario.calls;
  }
  const total = (value: (outcome: Outcome) => number) => outcomes.reduce((sum, outcome) => sum + value(outcome), 0);
  const ratios = outcomes.map(({ makespanMs, optimumMs }) => makespanMs / optimumMs);
  return {
    runs: outcomes.length,
    failed: total(({ failed }) => failed),
    pendingTimers: total(({ pendingTimers }) => pendingTimers),
    refusedPer100: (100 * total(({ refused }) => refused)) / calls,
    ratio: Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length),
    worst: Math.max(...ratios),
  };
}

function scenarios({ seeds, limits, hints, jobs }: Selection, vary: Situation['vary']): Scenario[] {
  const servers = WINDOW_KINDS.flatMap((window) =>
    limits.flatMap((limit) => hints.map((hint) => ({ window, limit, hint }))),
  );
  return servers.flatMap((server) =>
    seeds.flatMap((seed) =>
      sizes(jobs, server.limit).map((calls) => ({ ...server, callers: 16, seed, calls, ...vary(server) })),
    ),
  );
}

/** Only jobs above the limit: smaller ones never wait. */
function sizes(jobs: readonly number[], limit: number): number[] {
  return [...new Set(jobs.map((job) => Math.min(2_000, Math.ceil(job * limit))))];
}
