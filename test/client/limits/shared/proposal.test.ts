import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../../src/client/limits/accepted-log.ts';
import { grant } from '../../../../src/client/limits/grant.ts';
import { DEFAULT_LIMITER_SETTINGS } from '../../../../src/client/limits/limiter-core.ts';
import { type LimiterState, newHypothesis } from '../../../../src/client/limits/limiter-state.ts';
import {
  type ProposalParts,
  propose,
  shareOf,
  shiftReport,
  takeTurns,
} from '../../../../src/client/limits/shared/proposal.ts';
import type { Lease, SharedState } from '../../../../src/client/limits/shared/store-exchange.ts';
import { initialState } from '../../../../src/client/limits/transitions.ts';

const NOW = 1_700_000_000_000;
const SETTINGS = { ...DEFAULT_LIMITER_SETTINGS, perMinute: 12, probe: false };

function parts(given: Partial<ProposalParts> = {}): ProposalParts {
  return {
    settings: SETTINGS,
    id: 'own',
    known: undefined,
    inFlight: 0,
    reports: [],
    wanted: 0,
    queued: 0,
    refusedUntil: Number.NEGATIVE_INFINITY,
    now: NOW,
    ...given,
  };
}

function shared(leases: Record<string, Lease>, limit: Partial<LimiterState> = {}): SharedState {
  return { at: NOW - 100, limit: { ...initialState(12), ...limit }, leases };
}

function accept(at: number) {
  return { kind: 'accepted', now: at, sentAt: at - 50, isProbe: false } as const;
}

test('grants the wanted slots, and writes which process has them', () => {
  const { grant, state, isNews } = propose(parts({ wanted: 5 }));

  expect(grant.count).toBe(5);
  expect(state).toMatchObject({ at: NOW, leases: { own: { inFlight: 5, waiting: 0, seenAt: NOW, askedAt: 0 } } });
  expect(state.limit.inFlight).toBe(5);
  expect(isNews).toBe(true);
});

test('a proposal without reports and grants is not news', () => {
  expect(propose(parts()).isNews).toBe(false);
});

test('a process that begins to wait is news, one that still waits is not', () => {
  const full = shared({ own: { inFlight: 12, waiting: 0, seenAt: NOW, askedAt: 0 } }, { inFlight: 12 });
  const waits = shared({ own: { inFlight: 12, waiting: 3, seenAt: NOW, askedAt: 0 } }, { inFlight: 12 });

  expect(propose(parts({ known: full, inFlight: 12, wanted: 3 })).isNews).toBe(true);
  expect(propose(parts({ known: waits, inFlight: 12, wanted: 3 })).isNews).toBe(false);
});

test('while two other processes wait, it takes a third of the free slots and asks again soon', () => {
  const leases = {
    one: { inFlight: 0, waiting: 5, seenAt: NOW - 100, askedAt: 0 },
    two: { inFlight: 0, waiting: 1, seenAt: NOW - 1_999, askedAt: 0 },
    own: { inFlight: 0, waiting: 9, seenAt: NOW - 100, askedAt: 0 },
    idle: { inFlight: 0, waiting: 0, seenAt: NOW - 100, askedAt: 0 },
    earlier: { inFlight: 0, waiting: 9, seenAt: NOW - 2_000, askedAt: 0 },
  };

  const { grant } = propose(parts({ known: shared(leases), wanted: 10 }));

  expect(grant).toEqual({ count: 4, isProbe: false, askAgainAt: undefined });
});

test('while no other process waits, it takes all free slots and asks again at the next slot of the window', () => {
  const log = new AcceptedLog([NOW - 20_000, 50, 4]);

  const { grant } = propose(parts({ known: shared({}, { log }), wanted: 15 }));

  expect(grant).toEqual({ count: 8, isProbe: false, askAgainAt: NOW + 40_000 });
});

test('its share of few slots is at least one', () => {
  const leases = { one: { inFlight: 11, waiting: 5, seenAt: NOW - 100, askedAt: 0 } };

  const { grant } = propose(parts({ known: shared(leases, { inFlight: 11 }), wanted: 10 }));

  expect(grant.count).toBe(1);
});

test('its share includes the tokens that a bucket has refilled since the last write', () => {
  const leases = { one: { inFlight: 0, waiting: 5, seenAt: NOW - 100, askedAt: 0 } };
  const window = { kind: 'bucket', perMs: 0.04, capacity: 12, tokens: 2, at: NOW - 100 } as const;

  const { grant } = propose(parts({ known: shared(leases, { phase: 'known', window }), wanted: 10 }));

  expect(grant).toEqual({ count: 3, isProbe: false, askAgainAt: undefined });
});

test('a process that may send less than its share asks again when the limit has a slot', () => {
  const leases = { one: { inFlight: 0, waiting: 5, seenAt: NOW - 100, askedAt: 0 } };
  const burst = { calls: 1, periodMs: 10_000, proven: 1, growsAt: NOW + 60_000, pauseMs: 60_000 };
  const log = new AcceptedLog();
  log.add(NOW - 4_000, NOW - 4_000);

  const { grant } = propose(parts({ known: shared(leases, { burst, log }), wanted: 10 }));

  expect(grant).toEqual({ count: 0, isProbe: false, askAgainAt: NOW + 6_000 });
});

test('the requests of a dead process count as sent when it was last seen', () => {
  const dead = { inFlight: 3, waiting: 2, seenAt: NOW - 30_000, askedAt: 0 };
  const alive = { inFlight: 1, waiting: 0, seenAt: NOW - 29_999, askedAt: 0 };

  const { state, isNews } = propose(parts({ known: shared({ dead, alive }, { inFlight: 4 }) }));

  expect(Object.keys(state.leases).sort()).toEqual(['alive', 'own']);
  expect(state.limit.inFlight).toBe(1);
  expect(state.limit.log.size).toBe(3);
  expect(state.limit.log.oldest).toEqual({ sentAt: NOW - 30_000, respondedAt: NOW });
  expect(isNews).toBe(true);
});

test('the requests of a process that died long ago count as sent a minute ago at the earliest', () => {
  const dead = { inFlight: 1, waiting: 0, seenAt: NOW - 3_600_000, askedAt: 0 };

  const { state } = propose(parts({ known: shared({ dead }, { inFlight: 1 }) }));

  expect(state.limit.log.oldest).toEqual({ sentAt: NOW - 60_000, respondedAt: NOW });
});

test('a process that has not written for long keeps its own requests in flight', () => {
  const own = { inFlight: 2, waiting: 0, seenAt: NOW - 3_600_000, askedAt: 0 };

  const { state, isNews } = propose(parts({ known: shared({ own }, { inFlight: 2 }), inFlight: 2 }));

  expect(state.limit.inFlight).toBe(2);
  expect(state.limit.log.size).toBe(0);
  expect(isNews).toBe(false);
});

test('a report is news, also with as many grants or dead processes', () => {
  const own = { inFlight: 1, waiting: 0, seenAt: NOW - 100, askedAt: 0 };
  const dead = { inFlight: 0, waiting: 0, seenAt: NOW - 30_000, askedAt: 0 };
  const reports = [accept(NOW)];

  expect(propose(parts({ known: shared({ own }, { inFlight: 1 }), reports })).isNews).toBe(true);
  expect(propose(parts({ known: shared({ own }, { inFlight: 1 }), reports, wanted: 1 })).isNews).toBe(true);
  expect(propose(parts({ known: shared({ own, dead }, { inFlight: 1 }), reports })).isNews).toBe(true);
});

test('reports end requests in flight, in the order of the store', () => {
  const known = shared({ own: { inFlight: 2, waiting: 0, seenAt: NOW - 100, askedAt: 0 } }, { inFlight: 2 });

  const { state, reported } = propose(parts({ known, reports: [accept(NOW - 5_000), accept(NOW)] }));

  expect(reported).toBe(2);
  expect(state.limit).toMatchObject({ inFlight: 0 });
  // The first response came before the last write: it counts as received then.
  expect(state.limit.log.expiresAt(0)).toBe(NOW - 100 + 60_000);
});

test('a report from after the present time of the store counts as of now', () => {
  const known = shared({ own: { inFlight: 1, waiting: 0, seenAt: NOW - 100, askedAt: 0 } }, { inFlight: 1 });

  const { state } = propose(parts({ known, reports: [accept(NOW + 5_000)] }));

  expect(state.limit.log.expiresAt(0)).toBe(NOW + 60_000);
});

test('a proposal does not change the known state', () => {
  const known = shared({ own: { inFlight: 1, waiting: 0, seenAt: NOW, askedAt: 0 } }, { inFlight: 1 });
  const before = JSON.stringify(known);

  propose(parts({ known, reports: [accept(NOW)], wanted: 3 }));

  expect(JSON.stringify(known)).toBe(before);
});

test('a process that others assumed dead adds its requests in flight', () => {
  const { state } = propose(parts({ known: shared({}), inFlight: 2 }));

  expect(state.limit.inFlight).toBe(2);
});

test("a new limit is reported, too; a process's own option overrides the stored limit", () => {
  const learn = { ...SETTINGS, perMinute: 'learn' } as const;
  const known = shared({});

  const told = propose(parts({ settings: learn, known, reports: [{ kind: 'configured', perMinute: 7, now: NOW }] }));
  const set = propose(parts({ settings: { ...SETTINGS, perMinute: 300 }, known }));

  expect(told.state.limit).toMatchObject({ configured: 7, limit: 7, inFlight: 0 });
  expect(set.state.limit).toMatchObject({ configured: 300, limit: 300 });
});

test('a process whose option equals the stored limit keeps what others learned about it', () => {
  const known = shared({}, { configuredAt: NOW - 5_000, limit: 7 });

  expect(propose(parts({ known })).state.limit).toMatchObject({ configured: 12, limit: 7 });
});

const LEARN = { ...SETTINGS, perMinute: 'learn' } as const;

test('requests the quota for an unknown limit if many calls wait in all processes together', () => {
  const waiting = (calls: number) => ({ other: { inFlight: 0, waiting: calls, seenAt: NOW - 100, askedAt: 0 } });
  const known = (calls: number) => shared(waiting(calls), initialState(Number.POSITIVE_INFINITY));
  const parts30 = { settings: LEARN, known: known(30), wanted: 4, queued: 5 };

  const { asks, isNews, state } = propose(parts(parts30));
  const few = propose(parts({ ...parts30, known: known(10) }));

  expect([asks, isNews, few.asks]).toEqual([true, true, false]);
  expect(state.leases['own']?.askedAt).toBe(NOW);
});

test('the request for the quota is news even if the process waited before and nothing is granted', () => {
  const own = { inFlight: 0, waiting: 40, seenAt: NOW - 100, askedAt: 0 };
  const blocked = { ...initialState(Number.POSITIVE_INFINITY), blockedUntil: NOW + 5_000 };

  const proposal = propose(parts({ settings: LEARN, known: shared({ own }, blocked), wanted: 40, queued: 40 }));

  expect(proposal).toMatchObject({ asks: true, isNews: true, grant: { count: 0 } });
});

test('a granted call does not count as a waiting one in addition', () => {
  const proposeWith = (queued: number) =>
    propose(
      parts({ settings: LEARN, known: shared({}, initialState(Number.POSITIVE_INFINITY)), wanted: queued, queued }),
    );

  // 30 calls are what the smallest plan allows.
  expect([proposeWith(30).asks, proposeWith(31).asks]).toEqual([false, true]);
});

test.each([
  { name: 'one that waits has asked', lease: { waiting: 30, askedAt: NOW - 59_999 }, asks: false },
  { name: 'one that waits has asked a minute ago', lease: { waiting: 30, askedAt: NOW - 60_000 }, asks: true },
  { name: 'one with a request in flight has asked', lease: { inFlight: 1, waiting: 0, askedAt: NOW - 1 }, asks: false },
  { name: 'one that has ended since has asked', lease: { waiting: 0, askedAt: NOW - 1_000 }, asks: true },
])('only one of several processes requests the quota: $name', ({ lease, asks }) => {
  const learning = { ...initialState(Number.POSITIVE_INFINITY), phase: 'learning' as const };
  const known = shared({ other: { inFlight: 0, seenAt: NOW - 100, ...lease } }, learning);

  expect(propose(parts({ settings: LEARN, known, wanted: 4, queued: 40 })).asks).toBe(asks);
});

test('a process requests the quota only once, and none does while the limit is known', () => {
  const own = { inFlight: 0, waiting: 0, seenAt: NOW - 100, askedAt: NOW - 5_000 };
  const unknown = { ...initialState(Number.POSITIVE_INFINITY), phase: 'learning' as const };
  const read = { ...unknown, configured: 60, configuredAt: NOW - 5_000 };
  const wants = { settings: LEARN, wanted: 4, queued: 40 };

  const again = propose(parts({ ...wants, known: shared({ own }, unknown) }));
  expect(again.asks).toBe(false);
  expect(again.state.leases['own']?.askedAt).toBe(NOW - 5_000);
  expect(propose(parts({ ...wants, known: shared({}, read) })).asks).toBe(false);
  expect(propose(parts({ ...wants, known: shared({}, unknown) })).asks).toBe(true);
});

test('time does not go back before the last write', () => {
  expect(propose(parts({ known: shared({}), now: NOW - 5_000 })).state.at).toBe(NOW - 100);
});

test('a report is converted to another clock', () => {
  expect(shiftReport(accept(NOW), 500)).toMatchObject({ now: NOW + 500, sentAt: NOW + 450 });
  const configured = { kind: 'configured', perMinute: 7, now: NOW } as const;
  expect(shiftReport(configured, 500)).toEqual({ ...configured, now: NOW + 500 });
});

test('without the store, each of three processes continues with a third of the limit and of the log', () => {
  const log = new AcceptedLog();
  for (let call = 0; call < 9; call += 1) log.add(NOW + call - 5, NOW + call);

  const share = shareOf({ ...initialState(12), log }, { processes: 3, inFlight: 2, now: NOW });

  expect(share).toMatchObject({ limit: 4, inFlight: 2 });
  expect(share.window).toEqual({ kind: 'log' });
  expect([0, 1, 2, 3].map((place) => share.log.expiresAt(place))).toEqual([
    ...[0, 3, 6].map((call) => NOW + call + 60_000),
    undefined,
  ]);
});

test('without the store, each continues with a third of a bucket, at least one call', () => {
  const window = { kind: 'bucket', perMs: 0.003, capacity: 2, tokens: 1.5, at: NOW } as const;

  const share = shareOf({ ...initialState(2), window }, { processes: 3, inFlight: 0, now: NOW });

  expect(share.limit).toBe(1);
  expect(share.window).toEqual({ ...window, perMs: 0.001, capacity: 1, tokens: 0.5 });
});

test('a share smaller than the calls since the gate opened does not stop the process', () => {
  const learning = { ...initialState(Number.POSITIVE_INFINITY), phase: 'learning' as const, limit: 20 };
  const gate = { ...learning.gate, wasClosed: true, accepted: 9 };

  const share = shareOf({ ...learning, gate }, { processes: 4, inFlight: 0, now: NOW });
  const { grant } = propose(parts({ known: { at: NOW, limit: share, leases: {} }, wanted: 3 }));

  expect(grant.count > 0 || grant.askAgainAt !== undefined).toBe(true);
});

test('without the store, each of two processes continues with every second entry of the log', () => {
  const log = new AcceptedLog([NOW, 50, 1, 10, 60, 2, 5, 40, 3, 20, 70, 1]);

  const share = shareOf({ ...initialState(12), log }, { processes: 2, inFlight: 0, now: NOW });

  expect(share.log.toJSON()).toEqual([NOW, 50, 1, 15, 40, 3]);
});

test('without the store, a known window keeps its limit for growth, its gate and its burst limit', () => {
  const burst = { calls: 4, periodMs: 10_000, proven: 4, growsAt: NOW, pauseMs: 40_000 };
  const gate = { ...initialState(60).gate, wasClosed: true, accepted: 9 };
  const known = { ...initialState(60), phase: 'known' as const, limit: 20, burst, gate };

  expect(shareOf(known, { processes: 4, inFlight: 0, now: NOW })).toMatchObject({
    phase: 'known',
    configured: 60,
    limit: 5,
    burst,
    gate,
  });
});

test('without the store, a process without others continues with its gate', () => {
  const gate = { ...initialState(60).gate, wasClosed: true, accepted: 9 };

  expect(shareOf({ ...initialState(60), gate }, { processes: 1, inFlight: 0, now: NOW })).toMatchObject({
    configured: 60,
    limit: 60,
    gate,
  });
});

test('without the store, responses to earlier requests do not raise the share', () => {
  const log = new AcceptedLog();
  const state = { ...initialState(60), limit: 20, countsLateResponses: true, log };

  expect(shareOf(state, { processes: 2, inFlight: 0, now: NOW }).countsLateResponses).toBe(false);
});

const LEARNING = {
  ...initialState(Number.POSITIVE_INFINITY),
  phase: 'learning' as const,
  hypothesis: { ...newHypothesis(NOW - 2_000), opensAt: NOW, hint: 'long' as const },
};
const FOUR = { processes: 4, inFlight: 0, now: NOW };

test('without the store, learning starts again with one request and a share of the limit', () => {
  const hypothesis = { ...LEARNING.hypothesis, opensAt: NOW + 30_000 };
  const share = shareOf({ ...LEARNING, hypothesis, configured: 60 }, FOUR);

  expect(share).toMatchObject({ phase: 'unknown', configured: 15, limit: 15 });
  expect(grant(share, { now: NOW, wanted: 9, mayProbe: true }).grant.count).toBe(1);
});

test('without the store, each of four processes sends a request in four times the last short hint', () => {
  const waits = (ms: number) => ({ ...LEARNING.hypothesis, opensAt: NOW - 2_000 + ms });

  expect(shareOf(LEARNING, FOUR).burst).toMatchObject({ calls: 1, periodMs: 8_000 });
  expect(shareOf({ ...LEARNING, hypothesis: waits(2_600) }, FOUR).burst.calls).toBe(Number.POSITIVE_INFINITY);
  expect(shareOf({ ...LEARNING, phase: 'known' }, FOUR).burst.calls).toBe(Number.POSITIVE_INFINITY);
  expect(shareOf({ ...LEARNING, phase: 'unknown' }, FOUR).burst.calls).toBe(Number.POSITIVE_INFINITY);
  const noHint = { ...LEARNING.hypothesis, hint: 'none' as const };
  expect(shareOf({ ...LEARNING, hypothesis: noHint }, FOUR).burst.calls).toBe(Number.POSITIVE_INFINITY);
});

test('a refusal with a short hint makes processes take turns, one with a long hint does not', () => {
  const state = initialState(15);

  expect(takeTurns(state, { now: NOW, waitMs: 2_000 }, 4)).toMatchObject({
    gate: { opensAt: NOW + 8_000 },
    burst: { calls: 1, periodMs: 8_000 },
  });
  expect(takeTurns(state, { now: NOW, waitMs: 2_500 }, 4).burst).toMatchObject({ calls: 1, periodMs: 10_000 });
  expect(takeTurns(state, { now: NOW, waitMs: 2_501 }, 4)).toBe(state);
  expect(takeTurns(state, { now: NOW, waitMs: undefined }, 4)).toBe(state);
  expect(takeTurns(state, { now: NOW, waitMs: 2_000 }, 1)).toBe(state);
});

const BUCKET = { kind: 'bucket', perMs: 0.001, capacity: 3, tokens: 3, at: NOW - 100 } as const;

test('responses received during a failure of the store are not deducted from a bucket', () => {
  const reports = Array.from({ length: 10 }, (_, call) => accept(NOW - 10_000 + call * 1_000));

  const { state } = propose(parts({ known: shared({}, { phase: 'known', window: BUCKET }), reports }));

  // What has refilled since the last write.
  expect(state.limit.window).toMatchObject({ tokens: 0.1 });
});

test('a refusal of an assumed share does not slow the bucket down, but its wait applies', () => {
  const times = { now: NOW - 500, sentAt: NOW - 600 };

  const { state, grant: granted } = propose(
    parts({
      known: shared({}, { phase: 'known', window: BUCKET }),
      reports: [{ kind: 'refused', ...times, isProbe: false, retryAfter: '2', isOfShare: true }],
      wanted: 1,
    }),
  );

  expect(state.limit.window).toMatchObject({ kind: 'bucket', perMs: BUCKET.perMs });
  // Other responses that came before the last write, 100 ms ago, count as received at that time.
  expect(granted).toMatchObject({ count: 0, askAgainAt: NOW - 500 + 2_000 });
  expect(grant(state.limit, { now: NOW + 2_000, wanted: 9, mayProbe: false }).grant.count).toBe(1);
});
