import { expect, test } from 'vitest';
import { SteadyTime } from '../../../src/client/clock.ts';
import { HEALTHY, type ServiceHealth } from '../../../src/client/limits/in-flight.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { LimiterHistory, statusOf, windowName } from '../../../src/client/limits/limiter-view.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';
import { VirtualClock } from '../../helpers/limits-clock.ts';

const START = 1_700_000_000_000;
const UNKNOWN = initialState(Number.POSITIVE_INFINITY);

function setUp() {
  const clock = new VirtualClock(START);
  const history = new LimiterHistory(new SteadyTime(clock));
  const observe = (state: LimiterState, health: ServiceHealth = HEALTHY, aheadMs = 0) =>
    history.observe('refused', { state, aheadMs }, health);
  return { clock, history, observe };
}

function closedUntil(opensAt: number): LimiterState {
  return { ...UNKNOWN, gate: { ...UNKNOWN.gate, opensAt } };
}

test('names the window only once it is known', () => {
  const bucket = { kind: 'bucket', perMs: 1, capacity: 1, tokens: 1, at: 0 } as const;
  const fixed = { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' } as const;
  const names = [{ kind: 'log' } as const, fixed, bucket].flatMap((window) =>
    (['learning', 'known'] as const).map((phase) => windowName({ ...UNKNOWN, phase, window })),
  );

  expect(names).toEqual(['unknown', 'sliding', 'unknown', 'fixed', 'unknown', 'token-bucket']);
});

test('shows a limit that is unknown as undefined', () => {
  const time = new SteadyTime(new VirtualClock(START));
  const burst = { calls: 5, periodMs: 1_000, proven: 0, growsAt: 0, pauseMs: 0 };
  const known = { ...initialState(30), burst };

  expect(statusOf({ state: UNKNOWN, aheadMs: 0 }, HEALTHY, time)).toMatchObject({
    perMinute: undefined,
    burst: undefined,
  });
  expect(statusOf({ state: known, aheadMs: 0 }, HEALTHY, time)).toMatchObject({
    perMinute: 30,
    burst: { calls: 5, periodMs: 1_000 },
  });
});

test('the history has one entry per change, with the view at that time', () => {
  const { clock, history, observe } = setUp();

  observe(closedUntil(START + 5_000));
  clock.jump(100);
  observe(closedUntil(START + 5_000));
  observe(closedUntil(START + 5_000), { ...HEALTHY, isDown: true, retryAt: START + 700 });

  const refused = {
    ...{ event: 'refused', gate: { until: new Date(START + 5_000) }, window: 'unknown', phase: 'unknown' },
    ...{ perMinute: undefined, burst: undefined },
  };
  expect(history.changes).toEqual([
    { ...refused, at: new Date(START), service: 'up' },
    { ...refused, at: new Date(START + 100), service: { downUntil: new Date(START + 700) } },
  ]);
});

test.each([
  ['limit', { limit: 5 }],
  ['phase', { phase: 'learning' }],
  ['window', { window: { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' } }],
  ['gate', { gate: { ...UNKNOWN.gate, opensAt: 5 } }],
  ['burst limit', { burst: { calls: 5, periodMs: 1_000, proven: 0, growsAt: 0, pauseMs: 0 } }],
  ['long pause', { blockedUntil: START + 1 }],
] satisfies [string, Partial<LimiterState>][])('a change of the %s adds an entry', (_part, change) => {
  const { history, observe } = setUp();
  observe(UNKNOWN);

  observe({ ...UNKNOWN, ...change });

  expect(history.changes).toHaveLength(2);
});

test('each new time of the next attempt adds an entry, and the end of the outage too', () => {
  const { history, observe } = setUp();
  const down = (retryAt: number) => ({ ...HEALTHY, isDown: true, retryAt });

  for (const health of [HEALTHY, down(START + 700), down(START + 1_400), down(START + 1_400), HEALTHY]) {
    observe(UNKNOWN, health);
  }

  expect(history.changes.map(({ service }) => service)).toEqual([
    'up',
    { downUntil: new Date(START + 700) },
    { downUntil: new Date(START + 1_400) },
    'up',
  ]);
});

test('values that change with every request add no entry', () => {
  const { history, observe } = setUp();
  observe(UNKNOWN);

  observe({ ...UNKNOWN, inFlight: 5, gate: { ...UNKNOWN.gate, accepted: 9 }, firstBurst: 3 });

  expect(history.changes).toHaveLength(1);
});

test('shows a gate that has opened as open, and converts times of a store to the local clock', () => {
  const { history, observe } = setUp();

  observe(closedUntil(START));
  observe(closedUntil(START + 9_000), HEALTHY, 4_000);
  observe({ ...UNKNOWN, blockedUntil: START + 60_000 });

  expect(history.changes.map(({ gate }) => gate)).toEqual([
    'open',
    { until: new Date(START + 5_000) },
    { until: new Date(START + 60_000) },
  ]);
});

test('the history keeps the latest hundred changes', () => {
  const { history, observe } = setUp();
  for (let limit = 1; limit <= 550; limit += 1) observe({ ...UNKNOWN, limit });

  expect(history.changes).toHaveLength(100);
  expect(history.changes.map(({ perMinute }) => perMinute)).toEqual(
    Array.from({ length: 100 }, (_, place) => 451 + place),
  );
});
