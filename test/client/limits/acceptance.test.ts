import { expect, test } from 'vitest';
import { WINDOW_KINDS } from '../../helpers/limits-server.ts';
import { type Outcome, type Scenario, simulate } from '../../helpers/limits-simulation.ts';

/** The bars of a limiter that wastes nothing; the complete matrix with its table is bench/limits. */
const BARS = {
  told: { refusedPer100: 1.5, ratio: 1.05, worst: 1.6 },
  unknown: { refusedPer100: 6, ratio: 1.1, worst: 1.6 },
};

const LIMITS = [30, 300];
const HINTS = ['seconds', 'milliseconds', 'date', 'absent'] as const;

/** Seven more than three windows: exactly three would compare a whole minute over one call at a boundary. */
function cases(window: Scenario['window'], limiter: Scenario['limiter']): Scenario[] {
  return LIMITS.flatMap((limit) =>
    HINTS.flatMap((hint) =>
      [16, Number.POSITIVE_INFINITY].map((callers, seed) => ({
        ...{ seed, calls: 3 * limit + 7, callers, window, limit, hint },
        limiter: limiter ?? { perMinute: limit },
      })),
    ),
  );
}

function summaryOf(outcomes: readonly Outcome[]) {
  const sum = (value: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + value(outcome), 0);
  const ratios = outcomes.map(({ makespanMs, optimumMs }) => makespanMs / optimumMs);
  return {
    failed: sum(({ failed }) => failed),
    pendingTimers: sum(({ pendingTimers }) => pendingTimers),
    refusedPer100: (100 * sum(({ refused }) => refused)) / sum(({ served }) => served),
    ratio: Math.exp(ratios.reduce((total, ratio) => total + Math.log(ratio), 0) / ratios.length),
    worst: Math.max(...ratios),
  };
}

test.each(
  WINDOW_KINDS.flatMap((window) => [
    { window, known: 'told' as const, limiter: undefined },
    { window, known: 'unknown' as const, limiter: { perMinute: 'learn' as const } },
  ]),
)('one process, limit $known, window $window: nothing fails, little is refused, no time is lost', async (given) => {
  const bar = BARS[given.known];

  const outcomes = await Promise.all(cases(given.window, given.limiter).map(simulate));

  const { failed, pendingTimers, refusedPer100, ratio, worst } = summaryOf(outcomes);
  expect({ failed, pendingTimers }).toEqual({ failed: 0, pendingTimers: 0 });
  expect(refusedPer100).toBeLessThanOrEqual(bar.refusedPer100);
  expect(ratio).toBeLessThanOrEqual(bar.ratio);
  expect(worst).toBeLessThanOrEqual(bar.worst);
});

test.each(WINDOW_KINDS)('lost answers and server errors in between hold nothing up (%s)', async (window) => {
  const scenario = { seed: 5, calls: 200, callers: 16, window, limit: 30, hint: 'seconds' as const };

  const { failed, makespanMs, optimumMs } = await simulate({ ...scenario, lost: 0.05, serverErrors: 0.05 });

  expect(failed).toBe(0);
  // Every lost answer is a request that the server counted: a tenth of the work is done twice.
  expect(makespanMs / optimumMs).toBeLessThanOrEqual(1.6);
});

test.each(WINDOW_KINDS)(
  'a second limit per second and seconds of latency hold nothing up for long (%s)',
  async (window) => {
    const scenario = { seed: 3, calls: 120, callers: 16, window, limit: 30, hint: 'seconds' as const };

    const perSecond = await simulate({ ...scenario, perSecond: 5 });
    const slow = await simulate({ ...scenario, latencyMs: [1000, 4000] });

    for (const { failed, makespanMs, optimumMs } of [perSecond, slow]) {
      expect(failed).toBe(0);
      expect(makespanMs / optimumMs).toBeLessThanOrEqual(1.6);
    }
  },
);

test('a lone call is sent at once and never probes', async () => {
  const { served, refused, makespanMs } = await simulate({
    ...{ seed: 1, calls: 1, callers: 1, window: 'sliding', limit: 30, hint: 'seconds' },
    latencyMs: [50, 50],
  });

  expect({ served, refused, makespanMs }).toEqual({ served: 1, refused: 0, makespanMs: 100 });
});
