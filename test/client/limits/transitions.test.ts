import { expect, test } from 'vitest';
import { LimitDecisions } from '../../../src/client/limits/limit-decisions.ts';

const MINUTE = 60_000;
/** A round trip; every answer comes so long after its request. */
const ROUND_TRIP = 100;

function setUp(perMinute: number | undefined, { probe = true, maxConcurrent = 16 } = {}) {
  const core = new LimitDecisions({ perMinute, maxConcurrent, probe });
  const answer = (sentAt: number, isProbe = false) => ({ now: sentAt + ROUND_TRIP, sentAt, probe: isProbe });
  return {
    core,
    /** Asks for room for ten waiting calls. */
    ask: (now: number) => core.acquire(now, 10),
    accept: (sentAt: number, calls = 1) => {
      for (let call = 0; call < calls; call += 1) core.ok(answer(sentAt));
    },
    refuse: (sentAt: number, hintMs?: number, isProbe = false) => core.limited({ ...answer(sentAt, isProbe), hintMs }),
  };
}

/** Told three per minute: three calls are accepted at 0, and the probe after them is refused. */
function usedUp(hintMs?: number) {
  const setting = setUp(3);
  setting.ask(0);
  setting.accept(0, 3);
  setting.ask(100);
  setting.refuse(100, hintMs, true);
  return setting;
}

test('sends as many as the told limit, then one beyond it to learn the window', () => {
  const { ask, accept } = setUp(3);

  expect(ask(0)).toEqual({ n: 3, probe: false, at: undefined });
  expect(ask(50)).toMatchObject({ n: 0 });
  accept(0, 3);
  expect(ask(100)).toEqual({ n: 1, probe: true, at: undefined });
});

test('not allowed to probe, it waits until its oldest call is a minute old', () => {
  const { ask, accept } = setUp(3, { probe: false });
  ask(0);
  accept(0, 3);

  expect(ask(100)).toEqual({ n: 0, probe: false, at: MINUTE + 100 });
  expect(ask(MINUTE + 100)).toMatchObject({ n: 3, probe: false });
});

test('a hint that our own oldest call explains: the window slides, and is known at once', () => {
  const { core, ask } = usedUp(59_900);

  expect(core.view()).toMatchObject({ window: 'sliding', perMinute: 3 });
  expect(ask(30_000)).toEqual({ n: 0, probe: false, at: 60_100 });
  expect(ask(60_100)).toMatchObject({ n: 3, probe: false });
});

test('another long hint: one call goes first, and the window starts there', () => {
  const { core, ask, accept } = usedUp(30_000);

  expect(ask(10_000)).toEqual({ n: 0, probe: false, at: 30_200 });
  expect(ask(30_200)).toMatchObject({ n: 1, probe: false });
  expect(ask(30_250)).toMatchObject({ n: 0, at: undefined });
  accept(30_200);
  expect(ask(30_300)).toMatchObject({ n: 2, probe: false });
  accept(30_300, 2);

  expect(core.view()).toMatchObject({ window: 'fixed', perMinute: 3 });
  expect(ask(30_400)).toEqual({ n: 0, probe: false, at: 90_200 });
});

test('short hints, and as much as trickles in: a bucket of the told rate', () => {
  const { core, ask, accept, refuse } = usedUp(20_000 - 200);
  ask(20_000);
  accept(20_000);
  ask(20_100);
  refuse(20_100, 20_000);

  expect(core.view()).toMatchObject({ window: 'token-bucket' });
  expect(ask(30_000)).toMatchObject({ n: 0 });
  expect(ask(40_250)).toMatchObject({ n: 1, probe: false });
});

test('of many refusals at once only the first says something new', () => {
  const { core, ask, refuse } = setUp(undefined);
  ask(0);
  refuse(0, 30_000);
  refuse(0, 5_000);
  refuse(0, 29_000);
  refuse(0);

  expect(core.view().gateAt).toBe(30_100);
  expect(ask(30_100)).toMatchObject({ n: 1 });
});

test('the longest of all waits that were asked for holds', () => {
  const { core, ask, refuse } = setUp(undefined);
  ask(0);
  refuse(0, 1_000);
  refuse(0, 30_000);

  expect(core.view().gateAt).toBe(30_100);
});

test('an unknown limit begins with four calls, and is what was accepted before the first refusal', () => {
  const { core, ask, accept, refuse } = setUp(undefined);

  expect(ask(0)).toMatchObject({ n: 4, probe: false });
  accept(0, 2);
  refuse(0, 30_000);
  accept(0);

  expect(core.view()).toMatchObject({ perMinute: 3, inFlight: 0 });
});

test('without a hint it tries after 1, 2, 4 … s, at the next full minute of the server, or when its own call ends', () => {
  const { core, ask, refuse } = setUp(undefined);
  ask(0);
  refuse(0);
  const opensAt = [core.view().gateAt];
  for (let tries = 0; tries < 4; tries += 1) {
    ask(opensAt.at(-1)!);
    refuse(opensAt.at(-1)!);
    opensAt.push(core.view().gateAt);
  }
  expect(opensAt).toEqual([1_100, 3_200, 7_300, 15_400, 31_500]);

  core.observeDate(55_000, { now: 31_500, sentAt: 31_400, probe: false });
  ask(31_500);
  refuse(31_500);
  // Its clock is at least 23.5 s ahead.
  expect(core.view().gateAt).toBe(36_500);
});

test.each([20_000, 55_000, 114_000, 3_600_000])(
  'a try that comes %i ms after its gate has opened leaves the next calls their slots',
  (lateMs) => {
    const { core, ask, accept, refuse } = setUp(3);
    ask(0);
    refuse(0);
    const sentAt = core.view().gateAt + lateMs;
    for (let call = 0; call < 3; call += 1) {
      ask(sentAt + call * 200);
      accept(sentAt + call * 200);
    }

    const slotAt = core.slotAt(sentAt + 1_000, 0);

    expect(core.view().window).not.toBe('unknown');
    expect(slotAt).toBeLessThanOrEqual(sentAt + 2 * MINUTE);
    expect(ask(slotAt).n).toBeGreaterThan(0);
  },
);

test('refused although it has not used its limit, it takes what it got for its share, and asks for more later', () => {
  const { core, ask, accept, refuse } = usedUp(59_900);
  ask(60_200);
  accept(60_200);
  refuse(60_200, 59_900);
  refuse(60_200, 59_900);

  expect(core.view()).toMatchObject({ perMinute: 1, window: 'sliding' });
  expect(core.slotAt(60_300, 0)).toBe(120_300);

  ask(120_300);
  accept(120_300);
  expect(ask(120_400)).toMatchObject({ n: 0, at: 180_300 });
  ask(180_400);
  accept(180_400);
  expect(ask(180_500)).toMatchObject({ n: 1, probe: true });
});

test('a slot that a call gives back is free again', () => {
  const { core, ask } = setUp(3);
  ask(0);

  core.unused();

  expect(core.view().inFlight).toBe(2);
  expect(ask(1)).toMatchObject({ n: 1, probe: false });
});

test('waits that were misread can be withdrawn', () => {
  const { core, ask, refuse } = setUp(undefined);
  ask(0);
  for (let call = 0; call < 4; call += 1) refuse(0, 50_000);

  core.reopen(200);

  expect(ask(200)).toMatchObject({ n: 1 });
});

test('the n-th call from now is told the window it falls into', () => {
  const { core } = usedUp(59_900);

  expect([0, 2, 3, 6].map((ahead) => core.slotAt(1_000, ahead))).toEqual([60_100, 60_100, 120_100, 180_100]);
});
