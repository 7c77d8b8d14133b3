import type { Outcome } from './run.ts';
import type { Goals, Scenario } from './scenario.ts';

/** The goals of a scenario, with the general ones as defaults. */
export function goalsOf({ told, server, goals }: Scenario): Goals {
  const fails = (server.outages ?? []).some(({ part = 1 }) => part === 1);
  return {
    failedPart: 0.03,
    refusedPer100: told === undefined ? 5 : 1,
    ratio: 1.6,
    early: 0,
    unsettled: 0,
    inKnownOutage: fails ? 10 : Number.POSITIVE_INFINITY,
    requests: Number.POSITIVE_INFINITY,
    makespanMs: Number.POSITIVE_INFINITY,
    excessMs: Number.POSITIVE_INFINITY,
    ...goals,
  };
}

/** Refusals that count as none: a client learns the limit from one or two. */
const FREE_REFUSALS = 2;
/** Time that a job may take in addition to its ratio, for bounds of a few round trips. */
const SLACK_MS = 1_500;

/** The figures of one run, in the units of its goals. */
export function figuresOf(outcome: Outcome): Goals {
  const { calls, avoidable, refused, makespanMs, meanMs, bound, early, unsettled, inKnownOutage, requests } = outcome;
  return {
    failedPart: avoidable / calls,
    refusedPer100: (100 * refused) / calls,
    ratio: ratioOf(outcome),
    early,
    unsettled,
    inKnownOutage,
    requests,
    makespanMs: bound.served === 0 ? 0 : makespanMs,
    excessMs: Math.max(0, meanMs - bound.meanMs),
  };
}

/** Makespan divided by the bound; 1 if too few calls are served to compare. */
export function ratioOf(outcome: Outcome): number {
  return isComparable(outcome) ? outcome.makespanMs / outcome.bound.makespanMs : 1;
}

/** Whether enough calls were served to compare the makespan. */
export function isComparable({ calls, served, avoidable, unsettled, bound }: Outcome): boolean {
  return served > 0 && bound.served > 0 && avoidable + unsettled <= 0.03 * calls;
}

/** The goals that a run misses, such as `ratio 5.71 > 1.6`. */
export function misses(scenario: Scenario, outcome: Outcome): string[] {
  const goals = goalsOf(scenario);
  const figures = figuresOf(outcome);
  const names = Object.keys(goals) as (keyof Goals)[];
  return names
    .filter((name) => isMissed(name, { goals, figures, outcome }))
    .map((name) => missText(name, goals, figures));
}

function isMissed(
  name: keyof Goals,
  { goals, figures, outcome }: { readonly goals: Goals; readonly figures: Goals; readonly outcome: Outcome },
): boolean {
  if (name === 'refusedPer100' && outcome.refused <= FREE_REFUSALS) return false;
  if (name === 'ratio' && outcome.makespanMs <= goals.ratio * outcome.bound.makespanMs + SLACK_MS) return false;
  return figures[name] > goals[name];
}

function missText(name: keyof Goals, goals: Goals, figures: Goals): string {
  return `${name} ${short(figures[name])} > ${short(goals[name])}`;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
