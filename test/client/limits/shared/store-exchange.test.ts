import { expect, test } from 'vitest';
import { initialState } from '../../../../src/client/limits/limit-state.ts';
import type { LimitExchange, LimitOffer } from '../../../../src/client/limits/shared/limit-store.ts';
import { type SharedState, StoreExchange, textOf } from '../../../../src/client/limits/shared/store-exchange.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../../helpers/memory-limit-store.ts';

function stateAt(at: number, limit = 30): SharedState {
  return { at, limit: initialState(limit), leases: {} };
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
  ['longer by the wait of the gate', { gate: { ...initialState(30).gate, opensAt: 90_000 } }, 650_000],
  ['longer by the wait for a longer quota', { blockedUntil: 100_000.5 }, 660_001],
])('a state is kept for %s', async (_, changes, keepMs) => {
  const offers: (LimitOffer | undefined)[] = [];
  const { exchange } = scripted(new FakeClock(), (offer) => {
    offers.push(offer);
    return {};
  });
  const state = { ...stateAt(40_000), limit: { ...initialState(30), ...changes } };

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

test('a store that does not respond fails after a second, each time', async () => {
  const { clock, store, connect } = setUp();
  store.health = 'silent';
  const exchange = connect();

  const outcomes: string[] = [];
  for (let attempt = 0; attempt < 2; attempt += 1) outcomes.push((await commit(clock, exchange)).outcome);

  expect(outcomes).toEqual(['no response within 1000 ms', 'no response within 1000 ms']);
  expect(clock.pending).toBe(0);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined as unknown as number])(
  'a store whose time is %s fails',
  async (nowMs) => {
    const clock = new FakeClock();
    const { exchange } = scripted(clock, () => ({ nowMs }));

    const { outcome } = await commit(clock, exchange);

    expect(outcome).toBe(`the store returned nowMs ${nowMs}, expected milliseconds since the Unix epoch`);
    expect(exchange.aheadMs).toBe(0);
  },
);

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

test.each<[string, (now: number) => string, number?]>([
  ['no JSON', () => '{'],
  ['empty', () => ''],
  ['of another program', () => '{"at":1,"leases":null}'],
  ['cut off', (now) => textOf(stateAt(now)).slice(0, -1)],
  ['from before the clock of the store was set back', (now) => textOf(stateAt(now + 5_001))],
  ['valid', (now) => textOf(stateAt(now + 5_000, 7)), 7],
])('a state that is %s is ignored, unless it is valid', async (_reason, text, limit) => {
  const clock = new FakeClock();
  const { exchange } = scripted(clock, () => ({ isWritten: false, state: text(clock.now()), version: 'theirs' }));

  await commit(clock, exchange, { isNews: false });

  expect(exchange.state?.limit.limit).toBe(limit);
});
