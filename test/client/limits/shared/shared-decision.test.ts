import { expect, test } from 'vitest';
import type { Demand } from '../../../../src/client/limits/key-limit.ts';
import { AcceptedLog, initialState, LONG_AGO } from '../../../../src/client/limits/limit-state.ts';
import { decide, type OwnPart } from '../../../../src/client/limits/shared/shared-decision.ts';
import type { Lease, SharedState } from '../../../../src/client/limits/shared/store-exchange.ts';
import { DEFAULT_LIMITER_SETTINGS, stateWithLimit } from '../../../helpers/strict-limiter.ts';

const NOW = 1_000_000;

function demandOf(wanted: number, low = 0): Demand {
  return { wanted, low, queued: wanted, deadlineAt: Number.POSITIVE_INFINITY };
}

function ownPart(changes: Partial<OwnPart>): OwnPart {
  const nothing = {
    reports: [],
    demand: demandOf(0),
    inFlight: 0,
    refusedUntil: LONG_AGO,
    blockedUntil: LONG_AGO,
    isClosed: false,
  };
  return { id: 'own', settings: DEFAULT_LIMITER_SETTINGS, ...nothing, ...changes };
}

function lease(changes: Partial<Lease> = {}): Lease {
  return { inFlight: 0, waiting: 0, low: 0, seenAt: NOW, askedAt: 0, reported: 0, ...changes };
}

/** A state with `free` of 30 slots per minute. */
function stateWith(free: number, leases: Readonly<Record<string, Lease>> = {}): SharedState {
  const log = new AcceptedLog();
  for (let used = free; used < 30; used += 1) log.add(NOW - 1_000);
  const inFlight = Object.values(leases).reduce((sum, one) => sum + one.inFlight, 0);
  return { at: NOW, limit: { ...stateWithLimit(30), test: 'done', log, inFlight }, leases };
}

const others = { a: lease({ waiting: 9 }), b: lease({ waiting: 9 }) };
const lows = { a: lease({ waiting: 9, low: 9 }), b: lease({ waiting: 9, low: 9 }) };

function calledNow(state: SharedState): SharedState {
  return { ...state, limit: { ...state.limit, calledAt: NOW } };
}

/** No slot is free, but the service may have begun a new window. */
function testable(leases: Readonly<Record<string, Lease>>): SharedState {
  const state = stateWith(0, leases);
  return { ...state, limit: { ...state.limit, test: 'due' } };
}

test.each<[string, SharedState | undefined, Demand, number]>([
  ['alone, all of the free slots', stateWith(8), demandOf(20), 8],
  ['alone, no more than it wants', stateWith(8), demandOf(3), 3],
  ['alone with an unknown limit, as many as may be in flight', undefined, demandOf(20), 16],
  ['beside two that wait, a third', stateWith(9, others), demandOf(20), 3],
  ['behind as many as there are slots, none', stateWith(2, others), demandOf(20), 0],
  ['before those that wait, at least one', stateWith(2, { own: lease(), ...others }), demandOf(20), 1],
  [
    'beside one that has not written for 15 s, all',
    stateWith(9, { a: lease({ waiting: 9, seenAt: NOW - 15_000 }) }),
    demandOf(9),
    9,
  ],
  ['beside calls of low priority, all', stateWith(9, { a: lease({ waiting: 9, low: 9 }) }), demandOf(9), 9],
  ['without a free slot, none', stateWith(0), demandOf(5), 0],
  [
    'with only calls of low priority, as many as one with such calls before it leaves',
    stateWith(2, lows),
    demandOf(5, 5),
    0,
  ],
  [
    'for calls of low priority, all but a fifth and one while others call',
    calledNow(stateWith(30)),
    demandOf(30, 30),
    23,
  ],
  ['without a free slot, beside two that wait, a test of the window', testable(others), demandOf(5), 1],
])('a process receives %s', (_, shared, demand, count) => {
  const { grant, state } = decide(shared, ownPart({ demand }), NOW);

  expect(grant.count).toBe(count);
  expect(state.leases['own']).toMatchObject({ inFlight: count, waiting: demand.wanted - count });
});

test('a served process goes to the end of the order, even if it called quota() for the limit', () => {
  const served = decide(stateWith(9, { own: lease(), ...others }), ownPart({ demand: demandOf(1) }), NOW);
  const reports = [{ kind: 'configured', now: NOW, perMinute: 30, number: 1 }] as const;
  const shared = stateWith(0, { ...others, own: lease() });
  const asked = decide(shared, ownPart({ reports, demand: demandOf(2) }), NOW);

  expect(Object.keys(served.state.leases)).toEqual(['a', 'b', 'own']);
  expect(Object.keys(asked.state.leases)).toEqual(['a', 'b', 'own']); // its first call was served before
});

test('one process calls quota() for the limit, until its response can no longer arrive', () => {
  const unknown = (leases: Readonly<Record<string, Lease>>): SharedState => {
    const state = stateWith(30, leases);
    return { ...state, limit: { ...initialState(), inFlight: state.limit.inFlight } };
  };
  const own = ownPart({ demand: demandOf(40) });

  const few = ownPart({ demand: demandOf(2) });
  const asksBeside = (waiting: number) => decide(unknown({ a: lease({ waiting }) }), few, NOW).asks;

  expect([28, 29].map(asksBeside)).toEqual([false, true]); // all processes want more than 30 together
  expect(decide(unknown({ a: lease({ inFlight: 16 }) }), own, NOW)).toMatchObject({ asks: false, grant: { count: 0 } });
  expect(decide(unknown({}), own, NOW).asks).toBe(true);
  expect(decide(unknown({ a: lease({ askedAt: NOW - 59_999 }) }), own, NOW).asks).toBe(false);
  expect(decide(unknown({ a: lease({ askedAt: NOW - 60_000 }) }), own, NOW).asks).toBe(true);
});

test.each<[boolean, string, Partial<OwnPart>]>([
  [false, 'nothing has changed', {}],
  [true, 'a response has arrived', { reports: [{ kind: 'accepted', now: NOW, sentAt: NOW, number: 1 }], inFlight: -1 }],
  [true, 'a call waits', { demand: demandOf(1) }],
  [true, 'the store has another number of requests in flight', { inFlight: 1 }],
  [false, 'calls of low priority still wait', { id: 'low', demand: demandOf(2, 2) }],
  [true, 'another call than those of low priority waits', { id: 'low', demand: demandOf(2, 1) }],
  [true, 'only calls of low priority still wait', { id: 'mixed', demand: demandOf(2, 2) }],
  [true, 'a process has died', { id: 'living' }],
])('whether there is anything to write is %s if %s', (isNews, _, changes) => {
  const leases = { low: lease({ waiting: 2, low: 2 }), mixed: lease({ waiting: 2, low: 1 }), living: lease() };
  const dead = changes.id === 'living' ? { dead: lease({ inFlight: 1, seenAt: NOW - 30_000 }) } : {};
  expect(decide(stateWith(0, { ...leases, ...dead }), ownPart(changes), NOW).isNews).toBe(isNews);
});

test('reports that the store has already are not counted again, nor are they news', () => {
  const reports = [1, 2, 3].map((number) => ({ kind: 'accepted', now: NOW, sentAt: NOW, number }) as const);
  const stateAfter = (reported: number) =>
    decide(stateWith(9, { own: lease({ inFlight: 3 - reported, reported }) }), ownPart({ reports }), NOW);

  expect([0, 2, 3].map((reported) => stateAfter(reported).state.limit.log.size)).toEqual([24, 22, 21]);
  expect([0, 2, 3].map((reported) => stateAfter(reported).isNews)).toEqual([true, true, false]);
  expect([0, 2, 3].map((reported) => stateAfter(reported).state.leases['own']?.reported)).toEqual([3, 3, 3]);
  expect(stateAfter(3).state.limit.inFlight).toBe(0);
});

test.each([
  ['before the last write counts as of that write', -50, 59_999],
  ['after the time of the store counts as of now', 500, 60_000],
])('a response that arrived %s', (_, at, keptMs) => {
  const shared = { ...stateWith(30, { own: lease({ inFlight: 1 }) }), at: NOW - 1 };
  const report = { kind: 'accepted', now: NOW + at, sentAt: NOW - 100, number: 1 } as const;

  const { log } = decide(shared, ownPart({ reports: [report] }), NOW).state.limit;

  expect(log.expiresAt(0)).toBe(NOW + keptMs);
});

test('a Retry-After counts from its response, although others wrote later', () => {
  const shared = stateWith(30, { own: lease({ inFlight: 1 }) });
  const retryAfter = { form: 'wait', ms: 30_000 } as const;
  const report = { kind: 'refused', now: NOW - 50, sentAt: NOW - 100, number: 1, retryAfter } as const;

  expect(decide(shared, ownPart({ reports: [report] }), NOW).state.limit.gate.opensAt).toBe(NOW - 50 + 30_000);
});

test('a decision leaves the known state unchanged for the next attempt to write', () => {
  const shared = stateWith(9);
  const before = JSON.stringify(shared);

  const reports = [{ kind: 'lost', now: NOW, sentAt: NOW, number: 1 } as const];
  decide(shared, ownPart({ reports, inFlight: -1, demand: demandOf(20) }), NOW);

  expect(JSON.stringify(shared)).toBe(before);
});
