import { expect, test } from 'vitest';
import { MEASURED, measure, ROUGH, type Selection, type Situation } from '../../helpers/limits-matrix.ts';
import { WINDOW_KINDS } from '../../helpers/limits-server.ts';
import { simulate } from '../../helpers/limits-simulation.ts';

/** A part of the matrix that takes seconds; all of it is bench/limits/simulate.ts. */
const SOME: Selection = {
  seeds: [2],
  limits: [30, 300],
  hints: ['seconds', 'milliseconds', 'absent'],
  jobs: [2.02, 7],
};

function situation(name: string): Situation {
  const found = [...MEASURED, ...ROUGH].find((one) => one.name === name);
  if (!found) throw new Error(`No situation is named ${name}`);
  return found;
}

/** A shared limit takes some three exchanges per call. */
const FEW: Selection = { ...SOME, limits: [300], hints: ['seconds'], jobs: [2.02] };

test.each([
  { name: 'limit told', refusedPer100: 1, ratio: 1.05, worst: 1.6 },
  { name: 'limit unknown', refusedPer100: 5, ratio: 1.1, worst: 1.6 },
  { name: 'unknown, half of the limit used before', refusedPer100: 5, ratio: 1.1, worst: 2 },
  { name: 'four processes that share nothing, told', refusedPer100: 12, ratio: 1.15, worst: 2 },
  { name: 'four processes that share, told', refusedPer100: 3, ratio: 1.05, worst: 1.6, selection: FEW },
  // Four times 16 are in flight when the first is refused.
  { name: 'four processes that share, unknown', refusedPer100: 8, ratio: 1.1, worst: 1.6, selection: FEW },
  { name: 'told ten times the limit', refusedPer100: 5, ratio: 1.05, worst: 1.6 },
  { name: 'told, and a limit per second', refusedPer100: 5, ratio: 1.5, worst: 4 },
  { name: 'told, round trips of 1 to 4 s', refusedPer100: 1, ratio: 1.1, worst: 1.6 },
])('$name: no call fails, few are refused, little time is lost', async ({ name, selection = SOME, ...bar }) => {
  const { failed, pendingTimers, refusedPer100, ratio, worst } = await measure(situation(name), selection);

  expect({ failed, pendingTimers }).toEqual({ failed: 0, pendingTimers: 0 });
  expect(refusedPer100).toBeLessThanOrEqual(bar.refusedPer100);
  expect(ratio).toBeLessThanOrEqual(bar.ratio);
  expect(worst).toBeLessThanOrEqual(bar.worst);
});

test.each(WINDOW_KINDS)('lost responses and server errors delay no other calls (%s)', async (window) => {
  const scenario = { seed: 5, calls: 200, callers: 16, window, limit: 30, hint: 'seconds' as const };

  const { failed, makespanMs, optimumMs } = await simulate({ ...scenario, lost: 0.05, serverErrors: 0.05 });

  expect(failed).toBe(0);
  // Every lost response is a request that the server counted: a tenth of the work is done twice.
  expect(makespanMs / optimumMs).toBeLessThanOrEqual(1.6);
});

test.each(WINDOW_KINDS)('below the limit nothing waits and nothing is refused (%s)', async (window) => {
  for (const calls of [1, 2, 15, 30]) {
    const scenario = { seed: calls, calls, callers: 16, window, limit: 30, hint: 'seconds' as const };
    const told = await simulate({ ...scenario, limiter: { perMinute: 30 } });
    const unknown = await simulate(scenario);

    expect([told.refused, unknown.refused]).toEqual([0, 0]);
    expect(told.makespanMs).toBeLessThan(1_000);
    expect(unknown.makespanMs).toBeLessThan(3_000);
  }
});

test('a lone call is sent at once and never probes', async () => {
  const { served, refused, makespanMs } = await simulate({
    ...{ seed: 1, calls: 1, callers: 1, window: 'sliding', limit: 30, hint: 'seconds' },
    latencyMs: [50, 50],
  });

  expect({ served, refused, makespanMs }).toEqual({ served: 1, refused: 0, makespanMs: 100 });
});
