import { expect, test } from 'vitest';
import { refuseKnown } from '../../../src/client/limits/known-window.ts';
import type { Refusal } from '../../../src/client/limits/learn-window.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';

const NOW = 70_000;
const LOG = { kind: 'log' } as const;
/** Ends at 120,000. */
const FIXED = { kind: 'fixed', startsAt: 60_000, guardMs: 500, boundary: 'confirmed' } as const;
const BUCKET = { kind: 'bucket', perMs: 10 / 60_000, capacity: 5, tokens: 3, at: 69_000 } as const;

interface Before extends Partial<LimiterState> {
  readonly perMinute?: number;
  /** Times of the responses, each 100 ms after its request. */
  readonly responses?: readonly number[];
}

/** The record after a refusal in a window that is known. */
function refuse({ perMinute = 10, responses = [], ...changes }: Before, refusal: Partial<Refusal> = {}): LimiterState {
  const state: LimiterState = { ...initialState(perMinute), phase: 'known', window: FIXED, ...changes };
  for (const respondedAt of responses) state.log.add(respondedAt - 100, respondedAt);
  const hint = refusal.hintMs === undefined ? 'none' : 'long';
  const usual = { now: NOW, sentAt: NOW - 100, openedAt: 0, isProbe: false, hint, hintMs: 0 } as const;
  return refuseKnown(state, { ...usual, ...refusal });
}

/** What the refusal was taken for. */
function verdict({ phase, window, burst, gate, probe }: LimiterState): string {
  if (phase === 'unknown') return `burst limit of ${burst.calls} in ${burst.periodMs} ms`;
  if (phase === 'learning') return 'unknown window';
  if (probe.pauseMs > 60_000) return 'no capacity';
  if (window.kind === 'bucket' && window.at > NOW) return `even from ${window.at}`;
  if (gate.opensAt > NOW) return `share until ${gate.opensAt}`;
  return window.kind;
}

const times = (count: number, at: number) => Array.from({ length: count }, () => at);

test.each<[string, Before, Partial<Refusal>, string, number]>([
  // The hint names the end of our own oldest request, and not that of the window.
  ['the end of our oldest request', { responses: [45_000, 65_000] }, { hintMs: 35_000 }, 'log', 2],
  ['that, 2 s before the end of the window', { responses: [58_000] }, { hintMs: 47_999 }, 'log', 1],
  ['nearly the end of the window', { responses: [58_000, 65_000] }, { hintMs: 48_000 }, 'even from 118000', 10],
  ['the end of the window', { responses: [61_000, 62_000] }, { hintMs: 50_000 }, 'even from 120000', 10],
  // Less than a sixteenth of the limit: many others use the key.
  [
    'it, with a small part',
    { perMinute: 33, responses: [61_000, 62_000] },
    { hintMs: 50_000 },
    'share until 120000',
    2,
  ],
  // All of the limit was used, and comes back before the minute is over.
  [
    'a time within it',
    { limit: 3, responses: times(3, 61_000) },
    { hintMs: 35_000 },
    'burst limit of 3 in 45000 ms',
    10,
  ],
  ['a later time', { perMinute: 3, responses: times(3, 61_000) }, { hintMs: 35_001 }, 'unknown window', 3],
  [
    'a time within it, early',
    { perMinute: 33, limit: 3, responses: times(2, 61_000) },
    { hintMs: 20_000 },
    'unknown window',
    2,
  ],
  [
    'one slot within it',
    { limit: 3, responses: times(3, 61_000) },
    { hintMs: 5_000, hint: 'short' },
    'unknown window',
    3,
  ],
  [
    'one slot within it, early',
    { responses: times(3, 61_000) },
    { hintMs: 5_000, hint: 'short' },
    'unknown window',
    10,
  ],
  [
    'one slot near its end',
    { responses: times(3, 61_000) },
    { hintMs: 48_000, hint: 'short' },
    'share until 120000',
    3,
  ],
  // Others use the key.
  ['nothing, with a part of the limit', { responses: times(4, 61_000) }, {}, 'share until 120000', 4],
  ['nothing, with no request', { responses: [] }, {}, 'share until 120000', 1],
  [
    'nothing, with nearly the limit in a minute',
    { responses: [...times(5, 50_000), ...times(4, 61_000)] },
    {},
    'log',
    10,
  ],
  [
    'nothing, with a little less',
    { responses: [...times(4, 50_000), ...times(4, 61_000)] },
    {},
    'share until 120000',
    4,
  ],
  [
    'nothing, with half after the boundary',
    { responses: times(9, 50_000).with(0, 61_000).fill(61_000, 4) },
    {},
    'share until 120000',
    5,
  ],
])('a refusal in a fixed window that names %s', (_, before, refusal, expected, limit) => {
  const after = refuse(before, refusal);

  expect([verdict(after), after.limit]).toEqual([expected, limit]);
});

test('a share is sent again when the window starts, and probes a minute later', () => {
  const { gate, probe } = refuse({ responses: times(5, 61_000) });

  expect(gate).toMatchObject({ opensAt: 120_000, wasClosed: true, accepted: 0 });
  expect(probe.dueAt).toBe(180_000);
});

test.each<[string, Partial<Refusal>, string]>([
  ['a long hint', { hintMs: 48_500 }, 'no capacity'],
  ['no hint', {}, 'no capacity'],
  ['a short hint near the end of the window', { hintMs: 48_000, hint: 'short' }, 'no capacity'],
  ['a short hint before that', { hintMs: 47_999, hint: 'short' }, 'unknown window'],
])('a refused probe in a fixed window with %s', (_, refusal, expected) => {
  const probe = { ...initialState(10).probe, pauseMs: 60_000 };

  const after = refuse({ probe, responses: times(5, 61_000) }, { ...refusal, isProbe: true });

  expect([verdict(after), after.limit]).toEqual([expected, 10]);
});

test('refused probes pause for two minutes at most', () => {
  const probe = { ...initialState(10).probe, pauseMs: 120_000 };

  expect(refuse({ probe }, { isProbe: true }).probe).toMatchObject({ pauseMs: 120_000, dueAt: NOW + 120_000 });
});

test.each<[string, Partial<Refusal>, string]>([
  ['near the end of its oldest request', { hintMs: 18_000, hint: 'short' }, 'no capacity'],
  ['before that', { hintMs: 17_999, hint: 'short' }, 'log'],
  ['long before that', { hintMs: 5_000, hint: 'short' }, 'unknown window'],
])('a refused probe in a sliding window with a short hint %s', (_, refusal, expected) => {
  const probe = { ...initialState(10).probe, pauseMs: 60_000 };

  expect(verdict(refuse({ window: LOG, probe, responses: [30_000] }, { ...refusal, isProbe: true }))).toBe(expected);
  expect(verdict(refuse({ window: LOG, probe }, { isProbe: true }))).toBe('no capacity');
});

test.each<[string, Partial<Refusal>, number]>([
  ['within 250 ms of the guard', { sentAt: 60_749 }, 10],
  ['later', { sentAt: 60_750 }, 1],
  ['with a short hint', { sentAt: 60_749, hintMs: 2_000 }, 10],
  ['with a longer hint', { sentAt: 60_749, hintMs: 2_001 }, 1],
])('a refusal just after a boundary, sent %s, leaves a limit of %i', (_, refusal, limit) => {
  const after = refuse({}, { now: 60_849, ...refusal });

  expect(after.limit).toBe(limit);
  if (limit === 10) expect(after.phase).toBe('learning');
});

test.each<[string, Before, Partial<Refusal>, string, number]>([
  ['the end of its oldest request', { responses: times(4, 40_000) }, { hintMs: 30_000 }, 'even from 100000', 10],
  [
    'that, with a small part',
    { perMinute: 65, responses: times(4, 40_000) },
    { hintMs: 30_000 },
    'share until 100000',
    4,
  ],
  [
    'another time, with a small part',
    { perMinute: 65, responses: times(4, 40_000) },
    { hintMs: 40_000 },
    'unknown window',
    4,
  ],
  ['nothing', { responses: times(4, 40_000) }, {}, 'share until 100000', 4],
])('a refusal in a sliding window that names %s', (_, before, refusal, expected, limit) => {
  const after = refuse({ window: LOG, ...before }, refusal);

  expect([verdict(after), after.limit]).toEqual([expected, limit]);
});

test('after a long hint below the limit, requests are sent at equal intervals, at the rate of the last minute', () => {
  const { window, gate, probe } = refuse({ responses: [...times(2, 20_000), ...times(4, 61_000)] }, { hintMs: 50_000 });

  expect(window).toEqual({ kind: 'bucket', perMs: 6 / 60_000, capacity: 1, tokens: 1, at: 120_000 });
  expect(gate).toMatchObject({ opensAt: 120_000, wasClosed: true, accepted: 0 });
  expect(probe.dueAt).toBe(127_500);
});

test('a bucket that refuses is empty, and slower unless the request was a probe', () => {
  const [slower, probed] = [false, true].map((isProbe) => refuse({ window: BUCKET }, { isProbe }).window);

  expect(slower).toMatchObject({ kind: 'bucket', tokens: 0, at: NOW + 50 });
  expect(probed).toMatchObject({ tokens: 0, perMs: BUCKET.perMs });
  expect((slower as typeof BUCKET).perMs).toBeLessThan(BUCKET.perMs);
});
