import type { Outcome } from './run.ts';
import type { Goals, Scenario } from './scenario.ts';

/** The same for all, unless a scenario gives the reason for another one. */
const GENERAL: Goals = {
  failedPart: 0,
  refusedPer100: 3,
  ratio: 1.25,
  early: 0,
  inKnownOutage: Number.POSITIVE_INFINITY,
  requests: Number.POSITIVE_INFINITY,
  makespanMs: Number.POSITIVE_INFINITY,
  excessMs: Number.POSITIVE_INFINITY,
};
/** Pauses of 0.5 s × 1.5ⁿ, at most 16 s: so many requests in a minute. */
const PROBES_OF_AN_OUTAGE = 10;
/** So many refusals are exempt: those of the 16 requests in flight when the limit is reached, and one that tests the window. */
const FREE_REFUSALS = 17;
/** So much more time than the ratio allows is exempt, for bounds of a few round trips. */
const SLACK_MS = 1_500;

/** The figures of one run, in the units of its goals. */
export function figuresOf(outcome: Outcome): Goals {
  const { calls, avoidable, unsettled, refused, makespanMs, meanMs, bound, early, inKnownOutage, requests } = outcome;
  return {
    failedPart: (avoidable + unsettled) / calls,
    refusedPer100: (100 * refused) / calls,
    ratio: ratioOf(outcome),
    early,
    inKnownOutage,
    requests,
    makespanMs,
    excessMs: Math.max(0, meanMs - bound.meanMs),
  };
}

/** Makespan divided by the bound; 1 if a clairvoyant client serves no call either. */
export function ratioOf({ makespanMs, bound }: Outcome): number {
  return bound.served === 0 ? 1 : makespanMs / bound.makespanMs;
}

/** The goals that a run misses, such as `ratio 5.71 > 1.25`; `exempt`: those that count as met. */
export function goalsMissed({ goals: own, server, processes = 1 }: Scenario, outcome: Outcome) {
  const isOutage = (server.outages ?? []).some(({ part = 1 }) => part === 1);
  const goals = { ...GENERAL, ...(isOutage ? { inKnownOutage: PROBES_OF_AN_OUTAGE * processes } : {}), ...own };
  const figures = figuresOf(outcome);
  const above = (Object.keys(goals) as (keyof Goals)[]).filter((name) => figures[name] > goals[name]);
  const textsOf = (isExempted: boolean) =>
    above
      .filter((name) => isExempt(name, goals, outcome) === isExempted)
      .map((name) => `${name} ${short(figures[name])} > ${short(goals[name])}`);
  return { missed: textsOf(false), exempt: textsOf(true) };
}

function isExempt(name: keyof Goals, goals: Goals, { refused, makespanMs, bound }: Outcome): boolean {
  if (name === 'refusedPer100') return refused <= FREE_REFUSALS;
  return name === 'ratio' && makespanMs <= goals.ratio * bound.makespanMs + SLACK_MS;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
