import { expect, test } from 'vitest';
import { misses } from '../../../bench/limits/wild/goals.ts';
import { KNOWN_MISSES, MISSED_TODAY } from '../../../bench/limits/wild/known-misses.ts';
import { runScenario } from '../../../bench/limits/wild/run.ts';
import type { Scenario } from '../../../bench/limits/wild/scenario.ts';
import { SCENARIOS } from '../../../bench/limits/wild/scenarios.ts';

/** A part of all scenarios, one or two of each kind, that is fast to run; `npm run bench:simulate` runs all of them. */
const GUARDED: readonly string[] = [
  'window bucket of 30, told',
  'window leaky 300, told',
  'two limits: 5 per s, fixed 60',
  'change 60 to 300, learned',
  'others use 30 %, told',
  'hint early: log 300, told',
  'hint absent: log 300, told',
  'network tail beyond 400 ms: log 300, told',
  'network 5 % of all lost: log 300, told',
  'outage 20 s, silence',
  'outage of 30 % of the requests, 20 s of 503',
  'deadline 5 s, traffic at 80 % of 300',
  'abort of 60 % after 200 ms, told',
  'traffic 80 %: fixed 60, told',
  '4 processes, store 2 ms: log 300, told',
  '20 cold processes, a call each, 60/min',
  'one cold call',
  '30 calls under 30, learned',
];

const reached = KNOWN_MISSES.filter(({ name }) => !MISSED_TODAY.includes(name));
const guarded = GUARDED.map((name) => SCENARIOS.find((scenario) => scenario.name === name)!);

test.each(reached)('row $row meets its goals: $name', async (scenario) => {
  expect(await missesOf(scenario, scenario.seeds ?? 2)).toEqual([]);
});

test.each(guarded)('meets its goals: $name', async (scenario) => {
  expect(await missesOf(scenario, 1)).toEqual([]);
});

test('every missed scenario is a row of the table', () => {
  const names = KNOWN_MISSES.map(({ name }) => name);

  expect(MISSED_TODAY.filter((name) => !names.includes(name))).toEqual([]);
});

test('no two scenarios have one name', () => {
  expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
});

async function missesOf(scenario: Scenario, seeds: number): Promise<string[]> {
  const missed: string[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) missed.push(...misses(scenario, await runScenario(scenario, { seed })));
  return missed;
}
