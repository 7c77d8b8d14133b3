import { expect, test } from 'vitest';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import {
  accepted,
  configured,
  isLimitWanted,
  lost,
  readRetryAfter,
  refused,
} from '../../../src/client/limits/transitions.ts';
import { LimiterRun, usedUpRun } from '../../helpers/limiter-run.ts';

const MINUTE = 60_000;
const OPTIONS = { maxRetryAfterMs: 65_000, retryAfterUnit: 'auto' } as const;

/** A run in the phase `known`, with 10 per minute, changed as given. */
function knownRun(changes: Partial<LimiterState> = {}): LimiterRun {
  const run = new LimiterRun(10);
  run.state = { ...run.state, phase: 'known', ...changes };
  return run;
}

const BUCKET = { kind: 'bucket', perMs: 10 / MINUTE, capacity: 5, tokens: 0, at: 0 } as const;

test('keeps the shortest and the longest round trip of all responses', () => {
  const run = new LimiterRun();
  for (const tookMs of [100, 300, 200, 50, 100]) {
    run.state = accepted(run.state, { sentAt: 1000, now: 1000 + tookMs, isProbe: false });
  }
  expect(run.state.roundTrips).toEqual({ shortestMs: 50, longestMs: 300 });

  const state = refused(run.state, { sentAt: 1000, now: 1400, isProbe: false }, OPTIONS);
  expect(state.roundTrips).toEqual({ shortestMs: 50, longestMs: 400 });
});

test('reads a `Date` header once a second, and one that is no date not at all', () => {
  const run = new LimiterRun();
  const dateOf = (seconds: number) => `Thu, 01 Jan 1970 00:00:${seconds} GMT`;

  run.accept(0, { date: 'yesterday' });
  run.accept(0, { date: dateOf(10) });
  expect(run.state.serverAhead).toEqual({ atLeast: 9_900, atMost: 11_000 });

  run.accept(999, { date: dateOf(40) });
  expect(run.state.serverAhead).toEqual({ atLeast: 9_900, atMost: 11_000 });

  run.accept(1_000, { date: dateOf(40) });
  expect(run.state.serverAhead).toEqual({ atLeast: 38_900, atMost: 40_000 });
  run.accept(5_000);
  expect(run.state.serverAhead).toEqual({ atLeast: 38_900, atMost: 40_000 });
});

test.each([
  // Three requests in flight, one of them ends.
  [-3, 3, -2],
  [-2, 3, -2],
  [-1, 3, -1],
  [4, 3, 4],
  [-1, 1, 0],
])('a bucket with %i tokens and %i requests in flight has %i after an response', (tokens, inFlight, after) => {
  const run = knownRun({ inFlight, window: { ...BUCKET, tokens } });

  for (const end of [accepted, lost]) {
    const { window } = end(run.state, { sentAt: 0, now: 100, isProbe: false });
    expect(window).toEqual({ ...BUCKET, tokens: after });
  }
});

test.each([
  // The longest round trip is 100 ms, and the request itself counts too.
  ['of the last minute', 3, 100, 'confirmed'],
  ['that the service may have counted before', 3, 99, 'testing'],
  ['that leave one slot of the limit', 2, 100, 'testing'],
] as const)(
  'an accepted request after %s requests: the boundary of a fixed window is',
  (_, calls, lateMs, boundary) => {
    const window = { kind: 'fixed', startsAt: MINUTE, guardMs: 0, boundary: 'testing' } as const;
    const run = knownRun({ limit: 3, window, roundTrips: { shortestMs: 100, longestMs: 100 } });
    const sentAt = MINUTE + 1_000;
    for (let call = 0; call < calls; call += 1) run.state.log.add(0, sentAt + 100 - MINUTE + lateMs);

    run.accept(sentAt);

    expect(run.state.window).toEqual({ ...window, boundary });
  },
);

test.each([{ kind: 'log' }, { kind: 'fixed', startsAt: MINUTE, guardMs: 0, boundary: 'assumed' }] as const)(
  'accepted requests confirm no other window: %j',
  (window) => {
    const run = knownRun({ limit: 3, window });

    run.accept(MINUTE, { calls: 10 });

    expect(run.state.window).toEqual(window);
  },
);

test.each<[string, Partial<LimiterState>]>([
  ['before the window is known', { phase: 'unknown' }],
  ['of a bucket', { window: BUCKET }],
])('an accepted probe %s does not raise the limit', (_, changes) => {
  const run = knownRun({ limit: 5, ...changes });

  run.accept(0, { isProbe: true });

  expect(run.state.limit).toBe(5);
});

test('a Retry-After of exactly maxRetryAfterMs is waited for', () => {
  const run = new LimiterRun(3);
  run.ask(0);

  run.refuse(0, { retryAfter: '65' });

  expect(run.state.blockedUntil).toBe(Number.NEGATIVE_INFINITY);
  expect(run.state.gate.opensAt).toBe(65_100);
});

test('a refusal of a share closes the gate and says nothing about the limit of all', () => {
  const run = knownRun({ inFlight: 2 });

  const response = { sentAt: 0, now: 100, isProbe: false, retryAfter: '5', isOfShare: true };
  const state = refused(run.state, response, OPTIONS);
  const { reading } = readRetryAfter(run.state, response, OPTIONS);

  expect(reading.waitMs).toBe(5_000);
  expect(state).toMatchObject({ phase: 'known', limit: 10, inFlight: 1, window: { kind: 'log' } });
  expect(state.gate).toMatchObject({ opensAt: 5_100, wasClosed: true, accepted: 0, pressure: 0 });
});

test('a refusal that the burst limit predicts lowers that limit only', () => {
  const burst = { calls: 4, periodMs: 1_000, proven: 2, growsAt: 0, pauseMs: 4_000 };
  const run = knownRun({ burst, inFlight: 1 });
  run.accept(0, { calls: 2 });

  run.refuse(500, { retryAfter: '1' });

  expect(run.state.burst).toMatchObject({ calls: 2, pauseMs: 8_000, growsAt: 8_600 });
  expect(run.state).toMatchObject({ phase: 'known', limit: 10, gate: { opensAt: 1_600, pressure: 0 } });
});

test.each([
  ['19.8', 'short'],
  ['30', 'long'],
  [undefined, 'none'],
] as const)('with 3 per minute, a Retry-After of %s is a hint that is %s', (retryAfter, hint) => {
  expect(usedUpRun(retryAfter).state.hypothesis.hint).toBe(hint);
});

test('the responses of the service settle the unit of Retry-After', () => {
  const run = new LimiterRun(3);
  const evidence = [run.refuse(0, { retryAfter: '3000' }), run.refuse(3_500, { retryAfter: '2996' })];

  expect(evidence.map((reading) => reading.evidence)).toEqual(['on-trial', 'refuted']);
});

test('a limit that is raised leaves a window of another kind as it is', () => {
  const whole = knownRun();
  const share = knownRun({ limit: 4, window: BUCKET });
  const unchanged = knownRun({ limit: 4, window: BUCKET });

  whole.configure(20);
  share.configure(20);
  unchanged.configure(10);

  expect(whole.state.window).toEqual({ kind: 'log' });
  expect([share, unchanged].map(({ state }) => state.window)).toEqual([BUCKET, BUCKET]);
});

test.each([
  ['twice the', 10, 20, 20],
  ['half the', 10, 5, 5],
  ['the same', 10, 10, 10],
  ['for the first time a', Number.POSITIVE_INFINITY, 20, 10],
  ['for the first time a lower', Number.POSITIVE_INFINITY, 5, 5],
])(
  'after %s limit was read, a bucket of the whole limit refills at most at that rate',
  (_, before, after, perMinute) => {
    const run = knownRun({ configured: before, limit: before, window: { ...BUCKET, tokens: 1 } });

    run.configure(after);

    expect(run.state.window).toEqual({ ...BUCKET, tokens: 1, perMs: perMinute / MINUTE });
  },
);

test('a limit that is read again and has not changed leaves everything as it is', () => {
  const run = knownRun({ limit: 4, probe: { ...new LimiterRun().state.probe, dueAt: 99_000 } });
  const before = run.state;

  run.configure(10, 5_000);

  expect(run.state).toEqual({ ...before, configuredAt: 5_000 });
});

test('without a hint, a window starts between the opening of the gate and the first accepted request', () => {
  const run = usedUpRun();
  expect(run.ask(1_500)).toMatchObject({ count: 1 });

  run.accept(1_500);

  // The gate opened at 1,200. The round trips do not vary, so the jitter is the smallest, 50 ms.
  expect(run.state.window).toEqual({ kind: 'fixed', startsAt: 1_200, guardMs: 350, boundary: 'assumed' });
});

test('in a known window, each accepted request cancels one refusal', () => {
  const run = knownRun({ gate: { ...new LimiterRun().state.gate, pressure: 9 } });

  run.accept(0, { calls: 9 });
  run.refuse(500, { retryAfter: '1' });

  expect(run.state.gate).toMatchObject({ pressure: 1, opensAt: 1_600 });
});

test('a limit that is lowered makes no share probe', () => {
  const run = knownRun({ limit: 4 });
  const probe = { ...run.state.probe, dueAt: 99_000 };
  run.state = { ...run.state, probe };

  run.configure(8);

  expect(run.state).toMatchObject({ configured: 8, limit: 4, probe });
});

test('the age of the limit counts from when it was read', () => {
  const state = configured(new LimiterRun().state, 30, 1_000_000);
  const isWanted = (ageMs: number) => isLimitWanted(state, { now: 1_000_000 + ageMs, waiting: 31 });

  expect([isWanted(119_999), isWanted(120_000)]).toEqual([false, true]);
});
