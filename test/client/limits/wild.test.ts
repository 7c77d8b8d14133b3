import { expect, test } from 'vitest';
import { misses } from '../../../bench/limits/wild/goals.ts';
import { runScenario } from '../../../bench/limits/wild/run.ts';
import { SCENARIOS } from '../../../bench/limits/wild/scenarios.ts';

/** A part of all scenarios that is fast to run; `npm run bench:simulate` runs all of them. */
const GUARDED: readonly string[] = [
  'one cold call',
  '30 calls under 30, learned',
  '20 cold processes, a call each, 60/min',
  'window bucket of 30, told',
  'window from the first hit 60, learned',
  'hint milliseconds: fixed 60, learned',
  'hint absent: fixed 60, learned',
  'outage 20 s, silence',
  'outage 20 s, 503 without a hint',
  'abort of 30 % after 5 s',
  'quota refused, fixed 60',
];

const guarded = GUARDED.map((name) => SCENARIOS.find((scenario) => scenario.name === name)!);

test.each(guarded)('meets its goals: $name', { timeout: 120_000 }, async (scenario) => {
  expect(misses(scenario, await runScenario(scenario, { seed: 1 }))).toEqual([]);
});

test('no two scenarios have one name', () => {
  expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
});
