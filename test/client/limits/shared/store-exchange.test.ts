import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../../src/client/limits/limit-state.ts';
import type { LimitExchange, LimitOffer } from '../../../../src/client/limits/shared/limit-store.ts';
import { parseState, type SharedState, StoreExchange } from '../../../../src/client/limits/shared/store-exchange.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../../helpers/memory-limit-store.ts';
import { stateWithLimit } from '../../../helpers/strict-limiter.ts';

function stateAt(at: number, limit = 30): SharedState {
  return { at, limit: stateWithLimit(limit), leases: {} };
}

function setUp({ takesMs = 0, aheadMs = 0 } = {}) {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock, { takesMs, aheadMs });
  const connect = () => new StoreExchange({ store, name: 'key', clock });
  return { clock, store, connect };
}

/** Runs an exchange to its end, in virtual time. */
async function commit(clock: FakeClock, exchange: StoreExchange, { isNews = true, limit = 30 } = {}) {
  let offers = 0;
  const work = exchange.commit(() => {
    offers += 1;
    return { state: stateAt(exchange.now(), limit), isNews };
  });
  const outcome = work.then(
    () => 'written',
    (error: Error) => error.message,
  );
  await clock.runAll();
  return { outcome: await outcome, offers };
}

/** A store that responds as it is told, after `takesMs`. */
function scripted(clock: FakeClock, response: (offer: LimitOffer | undefined) => Partial<LimitExchange>, takesMs = 0) {
  let exchanges = 0;
  const store = {
    exchange: async (_name: string, _known: string, offer?: LimitOffer): Promise<LimitExchange> => {
      exchanges += 1;
      if (takesMs > 0) await clock.sleep(takesMs);
      return { isWritten: true, version: offer?.version ?? 'v', state: '', nowMs: clock.now(), ...response(offer) };
    },
  };
  const exchange = new StoreExchange({ store, name: 'key', clock });
  return { exchange, exchanges: () => exchanges };
}

test.each([
  ['ten minutes', {}, 600_000],
  ['longer by the wait of the gate', { gate: { ...stateWithLimit(30).gate, opensAt: 90_000 } }, 650_000],
  ['longer by the wait for a longer quota', { blockedUntil: 100_000.5 }, 660_001],
])('a state is kept for %s', async (_, changes, keepMs) => {
  const offers: (LimitOffer | undefined)[] = [];
  const { exchange } = scripted(new FakeClock(), (offer) => {
    offers.push(offer);
    return {};
  });
  const state = { ...stateAt(40_000), limit: { ...stateWithLimit(30), ...changes } };

  await exchange.commit(() => ({ state, isNews: true }));

  expect(offers.map((offer) => offer?.keepMs)).toEqual([keepMs]);
});

test('the timeout applies to each exchange, not to all attempts together', async () => {
  const clock = new FakeClock();
  let refusals = 10;
  const { exchange, exchanges } = scripted(
    clock,
    () => {
      refusals -= 1;
      return { isWritten: refusals < 0, version: `${refusals}` };
    },
    999,
  );

  const { outcome } = await commit(clock, exchange);

  // Eleven seconds of tries, of which none took one second.
  expect(outcome).toBe('written');
  expect(exchanges()).toBe(11);
});

test.each<[string, unknown, string]>([
  ['of no time', { nowMs: Number.NaN }, 'nowMs NaN (number), expected milliseconds since the Unix epoch'],
  ['after all times', { nowMs: 1e300 }, 'nowMs 1e+300 (number), expected milliseconds since the Unix epoch'],
  ['without a time', { nowMs: undefined }, 'nowMs undefined, expected milliseconds since the Unix epoch'],
  ['without a text', { state: null }, 'state null, expected a text'],
  ['with a number as version', { version: 7 }, 'version 7 (number), expected a text'],
  ['with a flag of Redis', { isWritten: 1 }, 'isWritten 1 (number), expected true or false'],
])('a store whose result is %s fails', async (_, changes, message) => {
  const clock = new FakeClock();
  const { exchange } = scripted(clock, () => changes as Partial<LimitExchange>);

  const { outcome } = await commit(clock, exchange);

  expect(outcome).toBe(`the store returned ${message}`);
  expect(exchange.aheadMs).toBe(0);
});

test.each([undefined, null, 'OK', 1])('a store that returns %j fails', async (result) => {
  const clock = new FakeClock();
  const store = { exchange: async () => result as unknown as LimitExchange };

  const { outcome } = await commit(clock, new StoreExchange({ store, name: 'key', clock }));

  expect(outcome).toMatch(/^the store returned .*, expected the result of an exchange$/);
});

test('keeps the time of the store, which decreases only if its clock was set', async () => {
  const { clock, store, connect } = setUp({ aheadMs: 5_000 });
  const exchange = connect();
  const seen: number[] = [];
  for (const aheadMs of [5_000, 4_500, 5_300, 4_300, 4_299]) {
    store.aheadMs = aheadMs;
    await commit(clock, exchange);
    seen.push(exchange.aheadMs);
  }

  expect(seen).toEqual([5_000, 5_000, 5_300, 5_300, 4_299]);
});

/** Data of a store that the client did not write. The limit of a state in use is 7. */
function stored(change: (state: ReturnType<typeof asJson>) => unknown): (now: number) => string {
  return (now) => JSON.stringify(change(asJson(now)));
}

function asJson(now: number) {
  const log = new AcceptedLog(`${now - 3_000},1000,2000`);
  const limit = { ...stateWithLimit(30), log, limit: 7, inFlight: 2, pace: PACE(now) };
  const lease = { inFlight: 2, waiting: 1, low: 0, seenAt: now, askedAt: 0, reported: 0 };
  return JSON.parse(JSON.stringify({ at: now, limit, leases: { other: lease } }));
}

const PACE = (now: number) => ({
  ...{ perMs: 0.001, capacity: 2, tokens: 1, step: 1.5, grew: false },
  ...{ at: now, growsAt: now + 1 },
});

const WEEK_MS = 7 * 86_400_000;
const withLimit = (changes: object) => stored((state) => ({ ...state, limit: { ...state.limit, ...changes } }));
const withPace = (changes: object) =>
  stored((state) => ({ ...state, limit: { ...state.limit, pace: { ...state.limit.pace, ...changes } } }));
const withGate = (changes: object) =>
  stored((state) => ({ ...state, limit: { ...state.limit, gate: { ...state.limit.gate, ...changes } } }));
const withLease = (changes: object) =>
  stored((state) => ({ ...state, leases: { other: { ...state.leases.other, ...changes } } }));

test.each<[string, (now: number) => string, number?]>([
  ['no JSON', () => '{'],
  ['empty', () => ''],
  ['a list', () => '[]'],
  ['null', () => 'null'],
  ['larger than any state', (now) => `${' '.repeat(1 << 20)}${JSON.stringify(stateAt(now))}`],
  ['of another program', () => '{"at":1,"limit":{},"leases":{}}'],
  ['with leases null', stored((state) => ({ ...state, leases: null }))],
  ['with leases of a number', stored((state) => ({ ...state, leases: 7 }))],
  ['without a time', stored((state) => ({ ...state, at: null }))],
  ['cut off', (now) => JSON.stringify(stateAt(now)).slice(0, -1)],
  ['with 1e999', (now) => JSON.stringify(stateAt(now)).replace('"at":', '"at":1e999,"was":')],
  ['with a limit of 0', withLimit({ limit: 0 })],
  ['with a limit of half a request', withLimit({ limit: 0.5 })],
  ['with a negative limit', withLimit({ configured: -30 })],
  ['with a limit as text', withLimit({ limit: '7' })],
  ['blocked a week', stored((state) => ({ ...state, limit: { ...state.limit, blockedUntil: state.at + WEEK_MS } }))],
  [
    'with a gate that opens in a week',
    stored((state) => ({
      ...state,
      limit: { ...state.limit, gate: { ...state.limit.gate, opensAt: state.at + WEEK_MS } },
    })),
  ],
  [
    'with calls of low priority that begin to wait in an hour',
    stored((state) => ({ ...state, limit: { ...state.limit, lowWaitsSince: state.at + 3_600_000 } })),
  ],
  [
    'with calls of low priority due in a week',
    stored((state) => ({ ...state, limit: { ...state.limit, lowAt: state.at + WEEK_MS } })),
  ],
  ['with a gate without room', withGate({ room: 0 })],
  ['with an unknown test', withGate({ test: 'x' })],
  ['with a pace of 0', withPace({ perMs: 0 })],
  ['with a negative pace', withPace({ perMs: -1 })],
  ['with a pace of one request in a year', withPace({ perMs: 3e-11 })],
  ['with a pace without capacity', withPace({ capacity: 0 })],
  ['with a debt of a million requests', withPace({ tokens: -1e6 })],
  ['with a pace of text', withPace({ step: 'fast' })],
  ['with a log that is no text', withLimit({ log: [1, 2] })],
  ['with a log of words', withLimit({ log: 'now,then' })],
  ['with a log of the future', withLimit({ log: `${Date.UTC(2100, 0)}` })],
  ['with a log of a million years', withLimit({ log: `0,${'9'.repeat(20)}` })],
  ['with requests in flight of no process', withLimit({ inFlight: 5 })],
  ['with a process of a billion requests', withLease({ inFlight: 1e9 })],
  ['with a process of minus one request', withLease({ inFlight: -1 })],
  [
    'with a process seen in the future',
    stored((state) => ({ ...state, leases: { other: { ...state.leases.other, seenAt: state.at + 60_000 } } })),
  ],
  ['with a process that is a number', stored((state) => ({ ...state, leases: { other: 2 } }))],
  ['from before the clock of the store was set back', (now) => JSON.stringify(stateAt(now + 5_001))],
  ['valid', stored((state) => state), 7],
  [
    'valid, and expects others for eight minutes',
    stored((state) => ({ ...state, limit: { ...state.limit, calledAt: state.at + 480_000 } })),
    7,
  ],
  ['valid, and a little younger than the clock', (now) => JSON.stringify(stateAt(now + 5_000, 7)), 7],
])('a state that is %s is ignored, unless it is valid', async (_reason, text, limit) => {
  const clock = new FakeClock();
  const { exchange } = scripted(clock, () => ({ isWritten: false, state: text(clock.now()), version: 'theirs' }));

  await commit(clock, exchange, { isNews: false });

  expect(exchange.state?.limit.limit).toBe(limit);
});

test('infinite numbers of a state are null in the store, and come back', async () => {
  const at = Date.UTC(2026, 0);
  const text = JSON.stringify({ at, limit: stateWithLimit(Number.POSITIVE_INFINITY), leases: {} });

  expect(text).not.toMatch(/1e999|Infinity/);
  expect(parseState(text)?.limit).toEqual(stateWithLimit(Number.POSITIVE_INFINITY));
});
