import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/client/cancellation.ts';
import { Pacer } from '../../../src/client/quota/pacer.ts';
import { QuotaLedger } from '../../../src/client/quota/quota-ledger.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

const START = Date.parse('2026-01-21T00:00:00.000Z');
const RESET = Date.parse('2026-02-01T00:00:00.000Z');
const HOUR_MS = 3_600_000;

/** A pacer of a key with `left` requests for the eleven days until its quota resets, or without a quota. */
function setUp({ left, limit = 1000 }: { left?: number; limit?: number | null } = {}) {
  const clock = new FakeClock(START);
  const ledger = new QuotaLedger(clock);
  const tell = (used: number) =>
    ledger.sawQuota(quotaRecord({ monthly_limit: limit, monthly_used: used }), ledger.spent);
  if (left !== undefined) tell((limit ?? 1000) - left);
  const pacer = new Pacer(clock, ledger);
  const turns: number[] = [];
  const waits: { untilMs: number; waiting: number }[] = [];
  /** Takes a turn, and spends it as a call would. */
  const take = async ({ reserve = 0, signal = new Cancellation() } = {}) => {
    await pacer.turn({ reserve, signal, onWait: (wait) => waits.push(wait) });
    turns.push(clock.now());
    ledger.spend();
  };
  return { clock, ledger, pacer, turns, waits, take, tell };
}

test('the first request goes at once, the others evenly until the quota resets', async () => {
  const { clock, turns, take } = setUp({ left: 11 * 24 });

  await clock.run(Promise.all(Array.from({ length: 11 * 24 }, () => take())));

  expect(turns[0]).toBe(START);
  for (const [index, at] of turns.entries()) {
    const due = START + index * HOUR_MS;
    expect(at).toBeGreaterThanOrEqual(due - 1);
    expect(at).toBeLessThanOrEqual(due + 300_000);
  }
  expect(turns.at(-1)).toBeLessThan(RESET);
  expect(clock.pending).toBe(0);
});

test('a request that comes later than its slot goes at once, and the rest is spread anew', async () => {
  const { clock, pacer, turns, take } = setUp({ left: 11 * 24 });
  await take();
  await clock.advance(24 * HOUR_MS);

  await take();

  expect(turns[1]).toBe(START + 24 * HOUR_MS);
  expect(pacer.slotAt(0) - clock.now()).toBeCloseTo((240 / 263) * HOUR_MS, -1);
});

test('first come, first served', async () => {
  const { clock, take } = setUp({ left: 100 });
  const order: number[] = [];

  await clock.run(Promise.all([0, 1, 2, 3].map((n) => take().then(() => order.push(n)))));

  expect(order).toEqual([0, 1, 2, 3]);
});

test('tells the slot of the next request behind those that wait', async () => {
  const { clock, pacer, take } = setUp({ left: 11 * 24 });
  expect(pacer.slotAt(0)).toBe(START);
  await take();
  await clock.advance(0);

  const waiting = [take(), take()];
  await quiet();

  expect(pacer.waiting).toBe(2);
  expect(pacer.slotAt(0)).toBeCloseTo(START + 3 * HOUR_MS, -1);
  await clock.run(Promise.all(waiting));
});

test('tells of each wait once, however many wait and however long', async () => {
  const { clock, waits, take } = setUp({ left: 11 * 24 });

  await clock.run(Promise.all([take(), take(), take(), take()]));

  expect(waits.map(({ waiting }) => waiting)).toEqual([1, 2, 1]);
  for (const [index, { untilMs }] of waits.entries()) {
    expect((untilMs - START) / ((index + 1) * HOUR_MS)).toBeCloseTo(1, 1);
  }
});

test('the reserve is not spread', async () => {
  const { pacer, take } = setUp({ left: 11 * 24 + 50 });

  await take({ reserve: 50 });

  expect(pacer.slotAt(50) - START).toBeCloseTo(HOUR_MS, -1);
});

test.each([
  ['an unlimited plan', { left: 1000, limit: null }],
  ['a quota that is not known', {}],
])('%s has no pace', async (_, quota) => {
  const { clock, turns, take } = setUp(quota);

  await Promise.all(Array.from({ length: 100 }, () => take()));

  expect(new Set(turns)).toEqual(new Set([START]));
  expect(clock.pending).toBe(0);
});

test('with nothing left the first request goes, to be told, and the next one waits for the reset', async () => {
  const { pacer, turns, take } = setUp({ left: 0 });

  await take();

  expect(turns).toEqual([START]);
  expect(pacer.slotAt(0)).toBe(RESET);
});

test('an abort gives the turn back to those behind', async () => {
  const { clock, turns, take } = setUp({ left: 11 * 24 });
  await take();
  const signal = new Cancellation();
  const gone = take({ signal }).catch((reason: unknown) => reason);
  const next = take();
  await quiet();

  signal.cancel('enough');

  expect(await gone).toBe('enough');
  await clock.run(next);
  expect(turns[1]! - START).toBeLessThanOrEqual(HOUR_MS + 300_000);
  expect(clock.pending).toBe(0);
});

test('a request that is aborted already takes no turn', async () => {
  const { pacer, take } = setUp({ left: 10 });
  const signal = new Cancellation();
  signal.cancel('enough');

  await expect(take({ signal })).rejects.toBe('enough');

  expect(pacer.waiting).toBe(0);
  expect(pacer.slotAt(0)).toBe(START);
});

test('no timer is left when the last one that waits leaves', async () => {
  const { clock, take } = setUp({ left: 2 });
  await take();
  const signals = [new Cancellation(), new Cancellation()];
  const waiting = signals.map((signal) => take({ signal }).catch(() => undefined));
  await quiet();
  expect(clock.pending).toBe(1);

  for (const signal of signals) signal.cancel('enough');
  await Promise.all(waiting);
  await quiet();

  expect(clock.pending).toBe(0);
});

test('an upgrade shortens the wait of those who wait already', async () => {
  const { clock, turns, take, tell } = setUp({ left: 10 });
  await take();
  const waiting = take();
  await clock.advance(120_000);
  expect(turns).toHaveLength(1);

  tell(-100_000);
  await clock.advance(300_000);
  await waiting;

  expect(turns).toHaveLength(2);
});

test('a new period does not let a crowd loose', async () => {
  const { clock, ledger, turns, take } = setUp({ left: 3 });
  const crowd = Promise.all(Array.from({ length: 20 }, () => take()));
  await clock.advance(RESET - START);
  expect(turns.length).toBeLessThanOrEqual(4);

  const newMonth = quotaRecord({ monthly_used: 0, resets_at: '2026-03-01T00:00:00.000Z' });
  ledger.sawQuota(newMonth, ledger.spent);
  await clock.advance(HOUR_MS);

  expect(turns.length).toBeLessThanOrEqual(6);
  await clock.run(crowd);
  expect(turns).toHaveLength(20);
});

test.each([
  ['set back', -HOUR_MS * 24],
  ['set forward', HOUR_MS * 24],
])('a clock that is %s by a day delays nobody by much more than the spacing', async (_, shiftMs) => {
  const { clock, take } = setUp({ left: 11 * 24 });
  await take();
  const waiting = take();
  await clock.advance(60_000);

  clock.set(shiftMs);
  let hasCome = false;
  void waiting.then(() => {
    hasCome = true;
  });
  await clock.advance(1.4 * HOUR_MS);

  expect(hasCome).toBe(true);
  expect(clock.pending).toBe(0);
});

test('a hundred thousand that wait when the pace ends all go, in order, without a deep stack', async () => {
  const { clock, ledger, pacer } = setUp({ left: 1 });
  const turn = () => pacer.turn({ reserve: 0, signal: new Cancellation(), onWait: () => undefined });
  await turn();
  let gone = 0;
  const crowd = Array.from({ length: 100_000 }, () => turn().then(() => gone++));
  await quiet();
  expect(gone).toBe(0);

  ledger.sawQuota(quotaRecord({ monthly_limit: null }), ledger.spent);
  await clock.advance(300_000);

  expect(await Promise.all(crowd)).toEqual(Array.from({ length: 100_000 }, (_, n) => n));
  expect(clock.pending).toBe(0);
});

test('whoever comes and leaves, the month is not used up early, and nobody is forgotten', async () => {
  const visits = fc.array(
    fc.record({ afterMs: fc.nat(12 * HOUR_MS), leaves: fc.option(fc.nat(24 * HOUR_MS), { nil: undefined }) }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(visits, fc.integer({ min: 1, max: 40 }), async (guests, left) => {
      const { clock, turns, take, pacer } = setUp({ left });
      const all: Promise<unknown>[] = [];
      for (const { afterMs, leaves } of guests) {
        await clock.advance(afterMs);
        const signal = new Cancellation();
        all.push(take({ signal }).catch(() => undefined));
        if (leaves !== undefined) void clock.sleep(leaves).then(() => signal.cancel('enough'));
      }
      await clock.run(Promise.all(all));

      const before = turns.filter((at) => at < RESET);
      expect(before.length).toBeLessThanOrEqual(left);
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
      expect(pacer.waiting).toBe(0);
    }),
    { numRuns: 30 },
  );
});
