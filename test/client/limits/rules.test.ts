import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { earliestSlotAt, expectedSlotAt, LocalLimit } from '../../../src/client/limits/key-limit.ts';
import { advancePace } from '../../../src/client/limits/limit-rules.ts';
import {
  AcceptedLog,
  type Gate,
  type LimiterSettings,
  type LimiterState,
  type Pace,
  windowKind,
} from '../../../src/client/limits/limit-state.ts';
import { DEFAULT_LIMITER_SETTINGS, hint, stateWithLimit } from '../../helpers/strict-limiter.ts';

/** The rules of src/client/limits/README.md that are about the limit alone, without a queue. Times are in milliseconds. */

const demandOf = (calls: number) => ({ wanted: calls, low: 0, queued: calls, deadlineAt: Number.POSITIVE_INFINITY });

/** A limit whose requests are answered by the test. */
class Probed extends LocalLimit {
  constructor(settings: Partial<LimiterSettings> = {}) {
    super({ ...DEFAULT_LIMITER_SETTINGS, ...settings });
  }

  /** Sends as many of the calls as may be sent, and returns their number. */
  send(now: number, calls = 1_000): number {
    return this.grant(now, demandOf(calls)).count;
  }

  /** When the next call may be sent, if none may now. */
  nextAt(now: number): number | undefined {
    return this.grant(now, demandOf(1)).askAgainAt;
  }

  accept(now: number, calls = 1, sentAt = now): void {
    for (let call = 0; call < calls; call += 1) this.report({ kind: 'accepted', now, sentAt });
  }

  refuse(now: number, retryAfter?: string, sentAt = now): void {
    this.report({ kind: 'refused', now, sentAt, retryAfter: hint(retryAfter) });
  }

  /** Sends a call, which is refused at once. */
  sendRefused(now: number, retryAfter?: string): void {
    this.send(now, 1);
    this.refuse(now, retryAfter);
  }

  /** Sends and accepts calls until none may be sent. */
  use(now: number, calls = 1_000): void {
    for (let left = calls, sent = -1; left > 0 && sent !== 0; left -= sent) {
      sent = this.send(now, left);
      this.accept(now, sent);
    }
  }
}

const PACE = { perMs: 0.001, capacity: 1, tokens: 0, at: 0, step: 1.5, growsAt: 0, grew: false };

/** A log with `calls` requests of just before the end of the first minute. */
function logOf(calls: number): AcceptedLog {
  const log = new AcceptedLog();
  for (let call = 0; call < calls; call += 1) log.add(59_000);
  return log;
}

/** `quota()` has shown the limit. */
function told(perMinute: number): Probed {
  const limit = new Probed();
  limit.report({ kind: 'configured', perMinute, now: 0 });
  return limit;
}

describe('1 limit', () => {
  test('a number is a cap on all requests of any minute, refused ones included', () => {
    const limit = new Probed({ perMinute: 3 });
    limit.sendRefused(0, '1');
    for (let now = 1_000; now < 60_000; now += 500) limit.use(now);

    expect(limit.state.log.size).toBe(3); // one of them is the refused one
    expect(limit.send(60_000)).toBe(1);
  });

  test('quota() is wanted if calls may exceed the smallest plan, and again after two minutes', () => {
    const limit = new Probed();
    limit.use(0, 29);

    expect(limit.isWanted(0, 1)).toBe(false);
    expect(limit.isWanted(0, 2)).toBe(true);
    limit.report({ kind: 'configured', perMinute: 30, now: 0 });
    expect([119_999, 120_000].map((now) => limit.isWanted(now, 2))).toEqual([false, true]);
    expect(new Probed({ perMinute: 30 }).isWanted(0, 100)).toBe(false);
  });
});

test('2 log: at an even rate, a cap counts the requests in flight, too', () => {
  const limit = new Probed({ perMinute: 10 });
  limit.state = { ...limit.state, pace: { ...PACE, capacity: 8, tokens: 8 }, log: logOf(6), inFlight: 3 };

  expect(limit.send(59_500)).toBe(1);
});

test('2 log: the requests of the last minute and those in flight are at most the limit', () => {
  const limit = new Probed({ perMinute: 3 });

  expect(limit.send(0)).toBe(3);
  expect(limit.send(1_000)).toBe(0);
  limit.accept(2_000, 1);
  limit.report({ kind: 'unused', now: 2_000, sentAt: 0 });
  expect(limit.send(2_000)).toBe(1);
  limit.accept(3_000, 2);
  expect(limit.nextAt(3_000)).toBe(62_000);
});

test('2 log: it keeps its requests when the limit becomes smaller', () => {
  const limit = told(30);
  limit.use(0, 20);
  limit.report({ kind: 'configured', perMinute: 10, now: 0 });
  limit.accept(0);

  expect(limit.state.log.size).toBe(21);
});

describe('3 gate', () => {
  test('a refusal closes the gate for all calls until the longest hint has elapsed', () => {
    const limit = told(30);
    limit.use(0, 1);
    limit.send(0, 3);
    limit.refuse(0, '85');
    limit.refuse(1_000, '5', 0);

    expect(limit.nextAt(1_000)).toBe(85_000);
    expect(limit.send(84_999)).toBe(0);
    limit.refuse(2_000, '90', 0);
    expect(limit.nextAt(2_000)).toBe(92_000);
  });

  test.each([
    ['600', 600_000, Number.NEGATIVE_INFINITY],
    ['601', Number.NEGATIVE_INFINITY, 601_000],
    ['999999', Number.NEGATIVE_INFINITY, 86_400_000],
  ])('a Retry-After of %s s closes the gate, or is about a longer quota', (hinted, opensAt, blockedUntil) => {
    const limit = told(30);
    limit.sendRefused(0, hinted);

    expect(limit.state).toMatchObject({ gate: { opensAt }, blockedUntil });
  });

  test('refusals of requests that were sent together count once', () => {
    const limit = told(30);
    const sent = limit.send(0);
    for (let call = 0; call < sent; call += 1) limit.refuse(0, '1', 0);

    expect([sent, limit.nextAt(0)]).toEqual([30, 1_000]);
  });

  test('without a hint the waits double, and are the least for one from the fourth refusal on', () => {
    const waitsFor = (accepted: number, retryAfter?: string, refusals = 7, limit = told(30)) => {
      limit.use(0, accepted);
      let now = 1_000;
      return Array.from({ length: refusals }, () => {
        limit.sendRefused(now, retryAfter);
        const waitMs = limit.state.gate.opensAt - now;
        now += waitMs;
        return waitMs;
      });
    };

    expect(waitsFor(30)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
    expect(waitsFor(30, '1')).toEqual([1_000, 1_000, 1_000, 1_000, 2_000, 4_000, 8_000]);
    // Without an accepted request, the service may count those that it refuses.
    expect(waitsFor(0)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000]);
    expect(waitsFor(0, undefined, 12).at(-1)).toBe(300_000);
    expect(waitsFor(0, undefined, 12, new Probed({ perMinute: 30 })).at(-1)).toBe(300_000);
    // A hint says when it accepts again: others have used the limit.
    expect(waitsFor(0, '1', 12).slice(3)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000, 16_000, 16_000]);
  });
});

test('4 ramp: behind a gate one request is sent, then one more per accepted request', () => {
  const limit = told(30);
  limit.use(0, 30);
  limit.sendRefused(1_000, '60');

  expect(limit.send(61_000)).toBe(1);
  limit.accept(61_010);
  expect(limit.send(61_010)).toBe(2);
  limit.accept(61_020, 2);
  expect(limit.send(61_020)).toBe(4);
});

test('4 ramp: of an unknown limit, it ends when it is as large as any', () => {
  const limit = new Probed();
  limit.sendRefused(0, '1');

  for (let now = 1_000; now < 1_200; now += 10) limit.accept(now, limit.send(now, 64));

  expect(limit.send(1_200, 64)).toBe(64);
});

test('4 ramp: beyond as many as in the window before, it begins again: others may use the rest', () => {
  const limit = told(30);
  limit.use(0, 6);
  limit.sendRefused(1_000, '60');
  const atOnce: number[] = [];

  for (let now = 61_000; now < 61_060; now += 10) {
    const sent = limit.send(now);
    atOnce.push(sent);
    limit.accept(now, sent);
  }
  expect(atOnce).toEqual([1, 2, 3, 1, 2, 4]);
  limit.sendRefused(61_100, '60');

  expect(limit.state.gate).toMatchObject({ acceptedBefore: 13, accepted: 0, room: 1 });
});

test.each([
  ['an unknown limit', () => new Probed(), 1_000],
  ['a limit that quota() shows', () => told(30), 30],
  ['a cap', () => new Probed({ perMinute: 30 }), 30],
])('4 ramp: before the first refusal, %s holds back no request', (_, limitOf, atOnce) => {
  expect(limitOf().send(0)).toBe(atOnce);
});

test('4 ramp: one request tries milliseconds, also at equal intervals', () => {
  const limit = told(30);
  const pace = { ...PACE, tokens: 5, capacity: 5 };
  limit.state = { ...limit.state, pace, unit: { evidence: 'on-trial', endsAt: 1_000 } };

  expect([limit.send(2_000), limit.send(3_000)]).toEqual([1, 0]);
});

test('4 ramp: the gate is passed when as many requests as the limit were accepted behind it', () => {
  const limit = told(3);
  limit.use(0, 3);
  limit.sendRefused(1_000, '30');

  limit.use(31_000, 2);
  expect(limit.state.gate).toMatchObject({ accepted: 2, room: 3, test: 'window' });
  limit.use(31_000, 1);
  expect(limit.state.gate).toMatchObject({ room: Number.POSITIVE_INFINITY, test: 'none' });
});

describe('5 window test', () => {
  test('once the log is full, one request tests whether the window of the service has ended', () => {
    const limit = told(3);
    limit.use(0, 3);

    expect(limit.send(100)).toBe(1);
    expect(limit.send(100)).toBe(0);
    limit.accept(200);
    expect(limit.send(200)).toBe(2); // it has: the requests since the test count, not the log
    limit.accept(300, 2);
    expect(earliestSlotAt(limit.state, 300, 0)).toBe(60_200); // the log has forgotten the others
  });

  test.each<[string, object, Partial<Gate>, 'due' | 'done' | 'sliding']>([
    ['after a minute without requests', {}, {}, 'due'],
    ['if less than half of the limit was used', { log: logOf(1) }, {}, 'due'],
    ['if half of it was free before the next test', { log: logOf(1), testAt: 60_001 }, {}, 'done'],
    ['if more was used', { log: logOf(2) }, {}, 'done'],
    ['if more is in flight', { log: logOf(1), inFlight: 1 }, {}, 'done'],
    ['less than a minute after the gate has opened', {}, { opensAt: 1 }, 'done'],
    ['if the service counts like the log', { test: 'sliding' }, {}, 'sliding'],
  ])('%s, the state of the test is right', (_, changes, gate, expected) => {
    const limit = told(3);
    const { state } = limit;
    limit.state = { ...state, test: 'done', gate: { ...state.gate, opensAt: 0, ...gate }, ...changes };

    limit.freeSlots(60_000);

    expect(limit.state.test).toBe(expected);
  });

  test.each(['due', 'done', 'sliding'] as const)('one request tests a learned limit when it is time (%s)', (before) => {
    const limit = told(60);
    limit.use(30_000, 30);
    limit.state = { ...limit.state, limit: 30, test: before, testAt: 60_000 };

    expect([limit.send(59_999), limit.send(60_000), limit.send(60_000)]).toEqual([0, 1, 0]);
    expect(limit.state.test).toBe(before === 'sliding' ? 'sliding' : 'done');
  });

  test.each([
    ['spread over the minute', [9_999, 20_000, 40_000], 1],
    ['none of its first quarter', [10_001, 20_000, 40_000], 0],
    ['none of its last quarter', [10_000, 20_000, 39_999], 0],
  ])('later in a busy period, one request tests the window if those of the log are %s', (_, requests, expected) => {
    const limit = told(3);
    for (const at of requests) limit.use(at, 1);
    limit.state = { ...limit.state, test: 'sliding', testAt: 55_000 };

    expect([limit.send(54_999), limit.send(55_000), limit.send(55_000)]).toEqual([0, expected, 0]);
    expect(limit.state).toMatchObject({ test: 'sliding', testAt: expected === 1 ? 115_000 : 55_000 });
    if (expected === 0) return;
    limit.accept(55_100);
    expect(limit.state.test).toBe('done'); // the service counts in windows
    expect(limit.send(55_100)).toBe(2);
  });

  test.each([
    ['shown by quota()', () => told(30), 30, '13', 'done', 3_650_000],
    ['shown by quota()', () => told(30), 30, '12', 'done', 170_000],
    ['shown by quota()', () => told(30), 29, '13', 'done', 170_000], // others have used the rest
    ['learned', () => new Probed(), 30, '13', 'done', 3_650_000],
    ['learned', () => new Probed(), 30, '12', 'done', 122_000],
  ])('a block that is longer than a window ends the tests for an hour: limit %s, %3$i used, %4$s s', (...row) => {
    const [, limitOf, calls, retryAfter, kind, testAt] = row;
    const limit = limitOf();
    limit.use(-9_000, 2); // `quota()` or others can have used their places
    limit.use(0, 1);
    limit.use(45_000, calls - 3);
    limit.sendRefused(50_000, retryAfter);

    expect(limit.state).toMatchObject({ test: kind, testAt });
  });

  test.each([
    [3_650_000, '43'],
    [170_000, '42'],
  ])('behind a gate, a window with the requests since can last a minute (%i)', (testAt, retryAfter) => {
    const limit = told(30);
    limit.use(0, 30);
    limit.sendRefused(1_000, '29');
    limit.use(30_000, 10); // in the next window, or in that of others
    limit.sendRefused(50_000, retryAfter);

    expect(limit.state).toMatchObject({ test: 'done', testAt });
  });

  test('no test starts if no call wants a slot', () => {
    const limit = told(3);
    limit.use(0, 3);

    expect([limit.send(100, 0), limit.send(100, 1)]).toEqual([0, 1]);
  });

  test('a cap has no test', () => {
    const limit = new Probed({ perMinute: 3 });
    limit.use(0, 3);

    expect(limit.send(100)).toBe(0);
  });
});

test('6 own slot: a gate that opens when the requests of the log expire shows a sliding log', () => {
  const limit = told(30);
  limit.use(0, 14);
  limit.use(1_000, 13);
  limit.sendRefused(30_000, '29');

  expect(limit.state).toMatchObject({ test: 'sliding', pace: null, limit: 27, testAt: 180_000 });
  expect(windowKind(limit.state)).toBe('sliding');
  expect(limit.nextAt(30_000)).toBe(60_000);
  limit.use(60_000);
  expect(limit.state.log.size).toBe(27); // only the places of those that expired
  expect(limit.nextAt(60_000)).toBe(61_000);
});

test.each([
  ['sliding', '20', 0],
  ['done', undefined, 2],
])('6 own slot: if only the oldest request expires then, those behind the gate decide (%s)', (kind, hinted, more) => {
  const limit = told(30);
  limit.use(0, 1);
  limit.use(20_000, 2);
  limit.use(40_000, 24);
  limit.sendRefused(45_000, '15');
  expect(limit.state).toMatchObject({ test: 'done', limit: 30 });

  limit.use(60_000, 1);
  if (hinted !== undefined) limit.sendRefused(60_000, hinted);

  expect(limit.state.test).toBe(kind);
  expect(limit.send(60_000)).toBe(more);
});

test('6 own slot: later, that of one request confirms a sliding log', () => {
  const limit = told(30);
  limit.use(0, 1);
  limit.use(45_000, 29);
  limit.state = { ...limit.state, test: 'sliding' };
  limit.send(55_000, 1);

  limit.refuse(55_000, '5');

  expect(limit.state).toMatchObject({ test: 'sliding', testAt: 180_000 });
  expect(limit.send(60_000)).toBe(1);
});

test.each([
  [26, true],
  [27, false],
])('1 limit: quota() is wanted again if a limit is refused after %i of 30 requests: %j', (calls, isWanted) => {
  const limit = told(30);
  limit.use(0, calls);
  limit.send(1_000, 1);

  limit.refuse(1_000, '40');

  expect(limit.isWanted(1_000, 2)).toBe(isWanted);
});

test.each([
  ['this process', 30, '40', 41_000],
  ['this process', 27, undefined, 2_000],
  ['an earlier one', 5, '40', 41_000],
])('7 at the limit: if %s has used the limit, calls only wait for the window', (_, calls, retryAfter, nextAt) => {
  const limit = told(30);
  limit.use(0, calls);
  limit.sendRefused(1_000, retryAfter);

  expect(limit.state).toMatchObject({ pace: null, limit: 30, test: 'done' });
  expect(limit.nextAt(1_000)).toBe(nextAt);
});

test.each([
  ['5 of 30', () => told(30), 0, '40', 'wait', 30],
  ['5 of 30', () => told(30), 5, '40', 'wait', 30], // others have used the rest
  ['5 of 30', () => told(30), 5, '3', 'are sent evenly', 30],
  ['5 of 30', () => told(30), 5, undefined, 'are sent evenly', 30],
  ['5 of 30', () => told(30), 0, undefined, 'wait', 30],
  ['5 of 30', () => told(30), 27, '40', 'wait', 30],
  ['10 of an unknown limit', () => new Probed(), 0, '40', 'wait', 10],
  ['10 of an unknown limit', () => new Probed(), 5, '40', 'wait', 10],
  ['10 of an unknown limit', () => new Probed(), 9, undefined, 'wait', 10],
  ['10 of an unknown limit', () => new Probed(), 5, undefined, 'are sent evenly', 10],
  ['10 of an unknown limit', () => new Probed(), 5, '7', 'are sent evenly', 10],
] as const)(
  '7 at the limit: refused after %s, then after %4$i more with Retry-After %5$s, calls %6$s',
  (before, limitOf, behind, retryAfter, then, expected) => {
    const limit = limitOf();
    limit.use(0, Number.parseInt(before, 10));
    limit.sendRefused(1_000, '40');
    limit.use(41_000, behind);
    limit.sendRefused(41_000, retryAfter);

    expect([limit.state.pace === null, limit.state.limit]).toEqual([then === 'wait', expected]);
    // Without a hint, a refusal beyond a known limit may have been a block.
    const mayBeBlock = retryAfter === undefined && limit.state.configured === 30;
    if (then === 'wait') expect(limit.state.testAt).toBe(mayBeBlock ? 3_641_000 : 161_000);
  },
);

test.each([
  ['due', 'done'],
  ['sliding', 'sliding'],
] as const)('7 at the limit: if the state of the test was %s, it is then %s', (before, after) => {
  const limit = told(30);
  limit.use(0, 29);
  limit.state = { ...limit.state, test: before };

  limit.sendRefused(1_000, '40');

  expect(limit.state.test).toBe(after);
});

test('8 evenly: after another refusal, requests are sent at equal intervals', () => {
  const limit = told(30);
  limit.use(0, 10);
  limit.sendRefused(1_000, '2'); // the time for one slot of a bucket that refills 30 per minute

  expect(limit.state.pace?.perMs).toBe(30 / 60_000);
  expect(windowKind(limit.state)).toBe('token-bucket');
  expect(limit.send(3_000)).toBe(1);
  limit.report({ kind: 'unused', now: 3_000, sentAt: 3_000 });
  expect(limit.send(3_000)).toBe(1); // another call uses its slot
  limit.accept(3_010);
  expect(limit.nextAt(3_010)).toBe(5_000);
});

test.each([
  [1, 'the service frees single slots', '2', expect.any(Object)],
  [27, 'a window had ended', '57', null],
])(
  '8 evenly: beyond the full log, a short hint decides nothing; %i requests later, the next shows that %s',
  (then, _, retryAfter, pace) => {
    const limit = told(30);
    limit.use(0, 30);
    limit.sendRefused(1_000, '2');
    expect(limit.state.pace).toBe(null);

    limit.use(3_000, then);
    limit.sendRefused(3_000, retryAfter);

    expect(limit.state.pace).toEqual(pace);
  },
);

test('8 evenly: a short hint for the test of a learned limit decides nothing either', () => {
  const limit = told(60);
  limit.use(30_000, 30);
  limit.state = { ...limit.state, limit: 30, test: 'done', testAt: 60_000 };

  limit.sendRefused(60_000, '2');

  expect(limit.state).toMatchObject({ pace: null, limit: 30 });
});

test.each([
  ['a longer wait shows a window that is full', 10, '20', null, 'fixed'],
  ['the wait for one slot does not', 10, '2', expect.any(Object), 'token-bucket'],
  ['no wait does not, although the limit is used', 28, undefined, expect.any(Object), 'token-bucket'],
])('8 evenly: at equal intervals, a refusal with %s', (_, calls, retryAfter, pace, kind) => {
  const limit = told(30);
  limit.use(0, calls);
  limit.sendRefused(1_000, '2');

  limit.sendRefused(3_000, retryAfter);

  expect(limit.state).toMatchObject({ pace, limit: 30 });
  expect(windowKind(limit.state)).toBe(kind);
});

test('9 rate: a part of a burst of one is one', () => {
  const limit = told(60);
  limit.use(0, 10);
  limit.sendRefused(1_000, '1');
  const { pace } = limit.state;
  limit.state = { ...limit.state, pace: pace && { ...pace, capacity: 1.5, grew: false } };

  limit.sendRefused(3_000, '1');

  expect(limit.state.pace?.capacity).toBe(1);
});

test.each<[string, number, Partial<LimiterState>, number, number]>([
  ['a free slot', 30, {}, 19, 1_000],
  ['the oldest request', 30, {}, 20, 60_000],
  ['the second oldest', 30, {}, 21, 60_100],
  ['a slot that this minute will use', 30, {}, 49, 61_000],
  ['the oldest request, a minute later', 30, {}, 51, 120_100],
  ['the oldest request, two minutes later', 30, {}, 80, 180_000],
  ['the rate, whatever the log has', 10, { pace: { ...PACE, tokens: 3 } }, 5, 3_000],
  ['the log of a cap at an even rate', 10, { isCap: true, pace: { ...PACE, tokens: 3 } }, 0, 60_000],
  ['nothing, without a limit', Number.POSITIVE_INFINITY, {}, 500, 1_000],
])('15 deadlines: a call is expected to wait for %s', (_, limit, changes, ahead, expected) => {
  const log = new AcceptedLog();
  for (let call = 0; call < 10; call += 1) log.add(100 * call);
  const state = { ...stateWithLimit(limit), log, ...changes };

  expect(expectedSlotAt(state, 1_000, ahead)).toBe(expected);
});

test('15 deadlines: the test of a learned limit is the next slot if it is earlier than that of the log', () => {
  const limit = told(60);
  limit.use(30_000, 30);
  limit.state = { ...limit.state, limit: 30, test: 'done', testAt: 60_000 };

  expect([0, 29, 30].map((ahead) => limit.slotAt(40_000, ahead, {}))).toEqual([60_000, 60_000, 120_000]);
});

test.each([
  ['a second, which can be rounded up', '1', 300],
  ['two seconds', '2', 30],
])('8 evenly: after a hint of %s, the limit of quota() makes the rate %3$i', (_, retryAfter, rate) => {
  const limit = new Probed();
  limit.use(0, 10);
  limit.sendRefused(1_000, retryAfter);

  limit.report({ kind: 'configured', perMinute: 300, now: 1_100 });

  expect(rateOf(limit)).toBe(rate);
});

/** Requests per minute that a limit sends at equal intervals. */
function rateOf({ state: { pace } }: Probed): number {
  return Number(((pace?.perMs ?? 0) * 60_000).toFixed(3));
}

test.each([
  ['the hint', told(30), 10, '3', 20],
  ['the hint, at most the limit', told(30), 10, '1', 30],
  ['the limit, because a second can be rounded up', told(300), 10, '1', 300],
  ['the last minute, if it had one request per second', told(300), 60, '1', 60],
  ['a hint of a second, while the limit is unknown', new Probed(), 10, '1', 60],
  ['the last minute, if it had more requests', told(60), 40, '2', 40],
  ['the limit, without a hint', told(30), 10, undefined, 30],
  ['the limit, if the first request is refused without a hint', told(30), 0, undefined, 30],
])('8 evenly: the rate is first that of %s', (_, limit, calls, retryAfter, rate) => {
  limit.use(0, calls);
  limit.sendRefused(1_000, retryAfter);

  expect(rateOf(limit)).toBe(rate);
  expect(limit.state.pace?.growsAt).toBe(8_500);
});

describe('9 rate', () => {
  function evenly(): Probed {
    const limit = told(600);
    limit.use(0, 10);
    limit.sendRefused(1_000, '1');
    const { pace } = limit.state;
    limit.state = { ...limit.state, pace: pace && { ...pace, perMs: 60 / 60_000 } };
    return limit;
  }

  test('the rate grows while it is used up, and a refusal undoes the growth', () => {
    const limit = evenly();
    /** The rate after whatever may be sent was sent until a time. */
    const rateAt = (from: number, to: number) => {
      for (let now = from; now <= to; now += 500) limit.use(now);
      return rateOf(limit);
    };
    const fast = [rateAt(2_000, 8_000), rateAt(8_500, 15_500), rateAt(16_000, 16_000)];
    limit.sendRefused(16_500, '1');
    const undone = [rateOf(limit), rateAt(17_500, 31_000)];
    const slow = [rateAt(31_500, 38_500), rateAt(39_000, 46_000), rateAt(46_500, 46_500)];

    expect(fast).toEqual([60, 90, 135]);
    expect(undone).toEqual([90, 90]); // not again for a while
    expect(slow).toEqual([94.5, 101.588, 113.016]); // in steps of 5, 7.5 and 11.25 %
  });

  test.each<[string, Partial<Pace>, number, Partial<Pace>]>([
    ['gains tokens', {}, 2_000, { tokens: 2, at: 2_000, perMs: 0.001 }],
    ['gains as many tokens as can be saved', {}, 5_000, { tokens: 4, at: 5_000, perMs: 0.001 }],
    [
      'grows at its time',
      { at: 9_000 },
      10_000,
      { perMs: expect.closeTo(0.00105, 9), growsAt: 17_500, grew: true, tokens: 1, step: 1.05 },
    ],
    ['does not grow earlier', { at: 9_000 }, 9_999, { perMs: 0.001, growsAt: 10_000, grew: false }],
    ['does not grow while a burst is saved', { at: 6_000 }, 9_999, { perMs: 0.001, grew: false, capacity: 4 }],
    [
      'grows in larger steps',
      { at: 9_000, grew: true },
      10_000,
      { perMs: expect.closeTo(0.001075, 9), step: expect.closeTo(1.075, 6) },
    ],
    ['grows by a half at most', { at: 9_000, grew: true, step: 1.5 }, 10_000, { perMs: 0.0015, step: 1.5 }],
    ['grows to the limit', { at: 9_999, perMs: 0.0019, step: 1.5 }, 10_000, { perMs: 0.002 }],
    ['does not grow at the limit', { at: 9_999, perMs: 0.002 }, 10_000, { perMs: 0.002, grew: false }],
    ['stays the same in the past', { at: 3_000 }, 2_999, { at: 3_000, tokens: 0 }],
    ['has a larger burst after a pause', { at: 4_000 }, 10_000, { capacity: 8, tokens: 6, grew: false }],
    ['saves all of a larger burst', { at: 0 }, 10_000, { capacity: 8, tokens: 8 }],
    ['has the same burst after a shorter pause', { at: 5_000 }, 10_000, { capacity: 4, tokens: 4 }],
    ['has the same burst if most of it was not used', { at: 4_000, tokens: 2.1 }, 10_000, { capacity: 4, tokens: 4 }],
    ['has the same burst soon after a refusal', { at: 3_999 }, 9_999, { capacity: 4 }],
    ['has a burst of a minute at most', { perMs: 0.0001, at: -90_000 }, 10_000, { capacity: 6, tokens: 6 }],
    ['keeps a burst of more than a minute', { perMs: 0.00001, at: -900_000 }, 10_000, { capacity: 4 }],
    ['sends single requests without a burst', { capacity: 1, at: 8_000 }, 10_000, { capacity: 1, tokens: 1 }],
  ])('a rate %s', (_, changes, now, expected) => {
    const pace = { ...{ perMs: 0.001, capacity: 4, tokens: 0, at: 0, step: 1.05 }, growsAt: 10_000, grew: false };

    expect(advancePace({ ...pace, ...changes }, 120, now)).toMatchObject(expected);
  });

  test.each([
    [20, 24_000], // of 8 requests
    [600, 15_000],
  ])('after a refusal, a rate of %i per minute stays for %i ms', (perMinute, stays) => {
    const limit = told(600);
    limit.state = { ...limit.state, pace: { ...PACE, perMs: perMinute / 60_000 } };

    limit.sendRefused(1_000, '1');

    expect(Math.round(limit.state.pace?.growsAt ?? 0)).toBe(1_000 + stays);
  });

  test('a refusal that no growth explains halves the burst, then lowers the rate', () => {
    const limit = evenly();
    const { perMs = 0, capacity } = limit.state.pace ?? {};
    expect(capacity).toBe(2);

    limit.sendRefused(2_000, '1');
    expect(limit.state.pace).toMatchObject({ capacity: 1, perMs });
    limit.sendRefused(3_000, '1');
    expect(limit.state.pace).toMatchObject({ capacity: 1, perMs: 0.9 * perMs });
  });

  test.each([undefined, '1'])(
    'after any number of refusals, the next call waits for at most a minute (%s)',
    (hinted) => {
      const limit = evenly();
      let now = 2_000;
      for (let refusal = 0; refusal < 1_000; refusal += 1) {
        limit.sendRefused(now, hinted);
        now = limit.state.gate.opensAt;
      }
      limit.use(now, 1);

      expect((limit.nextAt(now) ?? 0) - now).toBeLessThanOrEqual(60_000);
    },
  );

  test('the rate is at most a limit that quota() shows; a larger one is tried without a rate', () => {
    const limit = evenly();

    limit.report({ kind: 'configured', perMinute: 30, now: 2_000 });
    expect(limit.state.pace?.perMs).toBe(30 / 60_000);
    limit.report({ kind: 'configured', perMinute: 1_200, now: 3_000 });
    expect(limit.state.pace).toBeNull();
  });
});

describe('10 unknown limit', () => {
  test('the requests accepted before the first refusal are the limit, and later a test raises it', () => {
    const limit = new Probed();
    limit.use(0, 10);
    limit.sendRefused(1_000, '30');

    expect(limit.state).toMatchObject({ limit: 10, pace: null });
    limit.use(31_000, 10);
    expect(limit.send(32_000)).toBe(0);
    limit.use(91_000, 10);
    expect(limit.send(92_000)).toBe(1); // beyond the log
    limit.accept(92_010);
    expect(limit.send(92_010)).toBe(2);
    limit.accept(92_020, 2);
    limit.use(153_000, 1); // the log has room again, so the test is over

    expect(limit.state).toMatchObject({ limit: 13, gate: { test: 'none' } });
  });

  test('a refusal during the test of a learned limit leaves what the test has shown', () => {
    const limit = new Probed();
    limit.use(0, 10);
    limit.sendRefused(1_000, '30');
    limit.use(91_000, 13);

    limit.sendRefused(92_000, '30');

    expect(limit.state).toMatchObject({ limit: 13, testAt: 212_000 });
  });

  test('requests that were in flight when the limit was learned raise it', () => {
    const limit = new Probed();
    limit.use(0, 10);
    limit.send(1_000, 3);
    limit.refuse(1_000, '30');

    limit.accept(1_010, 2, 1_000);

    expect(limit.state).toMatchObject({ limit: 12, gate: { opensAt: 31_000, accepted: 0 } });
  });

  test('requests in flight do not raise a limit that is lower than that of quota()', () => {
    const limit = told(30);
    limit.use(0, 27);
    limit.send(1_000, 2);
    limit.refuse(1_000, '59');

    limit.accept(1_010, 1, 1_000);

    expect(limit.state.limit).toBe(27);
  });

  test.each([
    [2, Number.POSITIVE_INFINITY],
    [3, 3],
  ])('a refusal after %i accepted requests shows the limit %d: below three, others have used it', (calls, shown) => {
    const limit = new Probed();
    limit.use(0, calls);
    limit.sendRefused(1_000, '59');

    expect(limit.state).toMatchObject({ limit: shown, test: calls === 3 ? 'sliding' : 'due' });
  });
});

test('15 deadlines: a slot is judged by the most optimistic window that fits what was seen', () => {
  const limit = told(30);
  limit.use(0, 30);
  limit.sendRefused(1_000, '20');

  // A new fixed window at the end of the hint has thirty slots at once; a sliding one would have the first at 60 s.
  expect(earliestSlotAt(limit.state, 1_000, 29)).toBe(21_000);
  expect(earliestSlotAt(limit.state, 1_000, 30)).toBe(81_000);
});

test('15 deadlines: a slot of the log is that of its place in the order of expiry, however full the log is', () => {
  const states = fc.record({
    limit: fc.integer({ min: 1, max: 20 }),
    ages: fc.array(fc.nat({ max: 59_999 }), { maxLength: 60 }),
    inFlight: fc.nat({ max: 10 }),
    ahead: fc.nat({ max: 70 }),
  });
  fc.assert(
    fc.property(states, ({ limit, ages, inFlight, ahead }) => {
      const now = 100_000;
      const log = new AcceptedLog();
      const used = ages.sort((a, b) => b - a).map((age) => now - age);
      for (const at of used) log.add(at);
      // Each call waits until all but `limit - 1` of the requests before it have expired.
      const sent = [...used, ...Array.from({ length: inFlight }, () => now)];
      for (let call = 0; call <= ahead; call += 1) sent.push(Math.max(now, expiryOf(sent.at(-limit)) ?? now));

      expect(expectedSlotAt({ ...stateWithLimit(limit), log, inFlight }, now, ahead)).toBe(sent.at(-1));
    }),
  );
});

test('a log has the requests of the last minute, however many have expired', () => {
  const requests = fc.array(fc.record({ afterMs: fc.nat({ max: 9_000 }), forgotten: fc.boolean() }));
  fc.assert(
    fc.property(requests, (added) => {
      const log = new AcceptedLog();
      let now = 0;
      let kept: number[] = [];
      for (const { afterMs, forgotten } of added) {
        now += afterMs;
        log.add(now);
        kept.push(now);
        log.expire(now, forgotten ? 1 : 0);
        kept = kept.slice(forgotten ? 1 : 0).filter((at) => at + 60_000 > now);

        expect([log.size, log.expiresAt(0)]).toEqual([kept.length, expiryOf(kept[0])]);
        expect(log.copy().toJSON()).toBe(log.toJSON());
        expect(new AcceptedLog(log.toJSON()).expiresAt(kept.length - 1)).toBe(expiryOf(kept.at(-1)));
      }
    }),
  );
});

function expiryOf(at: number | undefined): number | undefined {
  return at === undefined ? undefined : at + 60_000;
}

test('2 log: it keeps its order even if the clock goes back', () => {
  const log = new AcceptedLog();
  for (const at of [5, 3, 7]) log.add(at);

  expect([log.toJSON(), new AcceptedLog(log.toJSON()).toJSON()]).toEqual(['5,0,2', '5,0,2']);
});

test('6 own slot: a cap that others have lowered is tested again, but never exceeded', () => {
  const limit = new Probed({ perMinute: 60 });
  limit.state = { ...limit.state, limit: 45, test: 'sliding', testAt: 60_000 };
  const most: number[] = [];
  for (let now = 60_000; now < 600_000; now += 1_000) {
    limit.use(now, 60);
    most.push(limit.state.log.size);
  }

  expect(limit.state.limit).toBe(60);
  expect(Math.max(...most)).toBe(60);
});

test('15 deadlines: a cap that others have lowered has its next slot at the test, if fewer than the cap are used', () => {
  const slotAfter = (calls: number) => {
    const limit = new Probed({ perMinute: 60 });
    limit.use(0, calls);
    limit.state = { ...limit.state, limit: 45, test: 'sliding', testAt: 20_000 };
    return limit.slotAt(10_000, 0, {});
  };

  expect([45, 60].map(slotAfter)).toEqual([20_000, 60_000]);
});

test.each<[string, Partial<LimiterState>, number]>([
  ['the test of a lowered limit', {}, 60_000],
  ['the oldest request, if the test is later', { testAt: 95_000 }, 90_000],
  ['the oldest request, while another one is in flight', { inFlight: 1 }, 90_000],
  ['the oldest request, if no limit was lowered', { configured: 30 }, 90_000],
  ['the even rate, which has no test', { pace: { ...PACE, perMs: 0.0001, at: 40_000 } }, 50_000],
  ['the test, below a cap', { isCap: true }, 60_000],
  ['the oldest request, at a cap', { isCap: true, configured: 30 }, 90_000],
])('10 unknown limit: calls are asked for again at the time of %s', (_, changes, expected) => {
  const limit = told(60);
  limit.use(30_000, 30);
  limit.state = { ...limit.state, limit: 30, test: 'done', testAt: 60_000, ...changes };

  expect(limit.grant(40_000, demandOf(1))).toEqual({ count: 0, askAgainAt: expected });
});

test('1 limit: a cap of another number replaces that of a stored state, and the same number keeps what was learned', () => {
  const stored = { ...new Probed({ perMinute: 60 }).state, limit: 45 };
  const limitOf = (perMinute: number) => new LocalLimit({ ...DEFAULT_LIMITER_SETTINGS, perMinute }, stored).state.limit;

  expect([limitOf(60), limitOf(30)]).toEqual([45, 30]);
});

test('15 deadlines: a learned limit whose test is not due has no earlier slot', () => {
  const limit = new Probed();
  limit.use(0, 10);
  limit.state = { ...limit.state, limit: 10, test: 'due', testAt: 50_000 };

  expect([limit.send(1_000), limit.slotAt(1_000, 0, {})]).toEqual([0, 50_000]);
});

test('15 deadlines: behind a gate, a call of low priority beside others has the slot that it gets', () => {
  const limit = told(30);
  limit.report({ kind: 'called', now: 0 });
  limit.use(0, 30);
  limit.sendRefused(10_000, '5');

  expect(limit.slotAt(10_000, 0, { priority: 'low' })).toBe(15_000);
  expect(limit.grant(15_000, { ...demandOf(1), low: 1 }).count).toBe(1);
});

test('16 low priority: a process with a cap of its own postpones no call of a shared limit', () => {
  const limit = told(300);
  limit.report({ kind: 'called', now: 540_000 });
  limit.grant(540_000, { ...demandOf(5), low: 5 });

  const capped = new LocalLimit({ ...DEFAULT_LIMITER_SETTINGS, perMinute: 60 }, limit.state);

  expect(capped.state.lowAt).toBe(limit.state.lowAt);
});

describe('16 low priority', () => {
  /** Sends as many as possible of many. */
  const lowOf = (limit: Probed, now: number) => {
    const { count } = limit.grant(now, { ...demandOf(1_000), low: 1_000 });
    for (let call = 0; call < count; call += 1) limit.report({ kind: 'accepted', now, sentAt: now });
    return count;
  };

  test.each([
    ['nobody has called', undefined, 30],
    ['others have just called', 0, 23],
    ['others called almost two minutes ago', -119_999, 23],
    ['others called two minutes ago', -120_000, 30],
  ])('if %s, so many of 30 slots are for calls of low priority', (_, calledAt, expected) => {
    const limit = told(30);
    if (calledAt !== undefined) limit.report({ kind: 'called', now: calledAt });

    expect(lowOf(limit, 0)).toBe(expected);
  });

  test('the slots that others have used are not kept free for them again', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    limit.use(0, 5);

    expect(lowOf(limit, 0)).toBe(23);
    expect(limit.send(0)).toBe(2);
  });

  test('few calls are sent at once, also in parts', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    const low = (now: number, wanted: number) => limit.grant(now, { ...demandOf(wanted), low: wanted }).count;

    expect([low(0, 10), low(1_000, 10), low(2_000, 4)]).toEqual([10, 10, 3]);
  });

  test('if no other has called since, those that wait are sent at once after the minute', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    lowOf(limit, 1_000);

    expect(limit.grant(2_000, { ...demandOf(1), low: 1 })).toEqual({ count: 0, askAgainAt: 61_000 });
    expect([limit.slotAt(2_000, 0, { priority: 'low' }), lowOf(limit, 61_000)]).toEqual([61_000, 23]);
  });

  test.each([
    ['known', () => told(30)],
    ['that quota() shows when they wait', () => new Probed()],
  ])('calls that arrive one by one use no more of a minute, under a limit %s', (_, limitOf) => {
    const limit = limitOf();
    const sent = Array.from({ length: 120 }, (_, second) => {
      limit.report({ kind: 'called', now: second * 1_000 });
      const { count } = limit.grant(second * 1_000, { ...demandOf(1), low: 1 });
      if (count === 1) limit.report({ kind: 'accepted', now: second * 1_000, sentAt: second * 1_000 });
      else limit.report({ kind: 'configured', perMinute: 30, now: second * 1_000 });
      return count;
    });

    expect(sent.slice(0, 60).reduce((sum, count) => sum + count)).toBe(23);
    expect(sent.slice(60).reduce((sum, count) => sum + count)).toBe(23);
  });

  test('with a cap, they are due when the state of another process says', () => {
    const limit = new Probed({ perMinute: 30 });
    limit.report({ kind: 'called', now: 0 });
    lowOf(limit, 0);

    expect(new LocalLimit(limit.settings, limit.state).state.lowAt).toBe(60_000);
  });

  test('if more wait, they are due at equal intervals after the minute, and one that is late makes the next no later', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    lowOf(limit, 0);
    limit.report({ kind: 'called', now: 60_000 });
    const intervalMs = 60_000 / 23;

    expect(limit.grant(1_000, { ...demandOf(1), low: 1 })).toEqual({ count: 0, askAgainAt: 60_000 });
    expect(limit.slotAt(1_000, 2, { priority: 'low' })).toBeCloseTo(60_000 + 2 * intervalMs);
    expect(lowOf(limit, 60_000)).toBe(1);
    expect(limit.grant(60_001, { ...demandOf(1), low: 1 }).askAgainAt).toBeCloseTo(60_000 + intervalMs);
    expect(lowOf(limit, 64_000)).toBe(1);
    limit.report({ kind: 'configured', perMinute: 30, now: 64_000 });
    expect(limit.grant(64_001, { ...demandOf(1), low: 1 }).askAgainAt).toBeCloseTo(60_000 + 2 * intervalMs);
  });

  test('after a minute without any of them, they are sent at once again', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    lowOf(limit, 0);
    limit.report({ kind: 'called', now: 60_000 });
    lowOf(limit, 60_000);

    limit.report({ kind: 'called', now: 125_000 });

    expect(lowOf(limit, 125_000)).toBe(23);
  });

  test('whenever they ask, they use their part of the limit, and at most that of one minute in advance', () => {
    const asked = fc.array(fc.tuple(fc.nat({ max: 20_000 }), fc.integer({ min: 1, max: 40 })), { maxLength: 60 });
    fc.assert(
      fc.property(asked, (demands) => {
        const limit = told(30);
        let sent = 0;
        let now = 0;
        for (const [afterMs, wanted] of demands) {
          now += afterMs;
          limit.report({ kind: 'called', now });
          const { count } = limit.grant(now, { ...demandOf(wanted), low: wanted });
          for (let call = 0; call < count; call += 1) limit.report({ kind: 'accepted', now, sentAt: now });
          sent += count;
          expect(sent).toBeLessThanOrEqual(23 + (now * 23) / 60_000);
        }
      }),
    );
  });

  test.each([
    [0, 23, 216],
    [7, 23, 216],
    [50, 39, 168],
  ])('an unknown limit counts as the smallest, or as what was accepted of it: %i by others', (others, first, then) => {
    const limit = new Probed();
    limit.report({ kind: 'called', now: 0 });
    limit.use(0, others);
    expect([lowOf(limit, 50), lowOf(limit, 60)]).toEqual([first, 0]);

    limit.report({ kind: 'configured', perMinute: 300, now: 100 });

    expect(lowOf(limit, 110)).toBe(then); // 239, less those in advance
  });

  test('beside others, a limit of one a minute leaves them a slot', () => {
    const limit = told(1);
    limit.report({ kind: 'called', now: 0 });

    expect(limit.slotAt(0, 0, { priority: 'low' })).toBe(0);
    expect([lowOf(limit, 0), lowOf(limit, 60_000)]).toEqual([1, 0]);
  });

  const pace = { ...PACE, capacity: 15, tokens: 15, at: 6_000, growsAt: 600_000 };

  test.each<[string, Probed, number, Partial<LimiterState>]>([
    ['when the log has room, not for a test that is due', told(60), 30, { limit: 30, test: 'done', testAt: 1_000 }],
    ['when the cap has room', new Probed({ perMinute: 60 }), 60, { pace }],
  ])('beside others, they ask again %s', (_, limit, used, changes) => {
    limit.state = { ...limit.state, ...changes };
    for (let call = 0; call < used; call += 1) limit.state.log.add(4_000);
    limit.report({ kind: 'called', now: 5_000 });

    expect(limit.grant(6_000, { ...demandOf(1), low: 1 })).toEqual({ count: 0, askAgainAt: 64_000 });
  });

  test('requests of more than a minute ago do not keep them from a window that was tested', () => {
    const limit = told(30);
    limit.use(0);
    limit.sendRefused(1_000, '30');
    let sent = 0;
    for (let now = 31_000; now < 331_000; now += 500) {
      if (now % 50_000 === 31_000) {
        limit.report({ kind: 'called', now });
        limit.use(now, 1);
      }
      sent += lowOf(limit, now);
    }

    expect(sent).toBeGreaterThan(100); // about 23 a minute
  });

  test('beside others, they do not test the window, and their next slot is not that of a test', () => {
    const limit = told(30);
    limit.report({ kind: 'called', now: 0 });
    limit.use(0, 30);

    expect(limit.slotAt(1_000, 0, { priority: 'low' })).toBe(60_000);
    expect([lowOf(limit, 1_000), limit.send(1_000)]).toEqual([0, 1]);
  });

  test.each<[string, number, string, number[], (number | undefined)?, number?]>([
    ['that the requests of this process do not explain shows others', 20, '30', [], 1_000],
    ['of a limit that this process has used shows none', 30, '30', [], undefined],
    ['of a limit that its requests in flight use shows none', 15, '30', [], undefined, 16],
    ['with a short hint shows none, because a bucket may have sent it', 20, '1', [], undefined],
    ['that follows another one after a minute shows others for eight minutes', 20, '30', [-70_000], 481_000],
    ['that follows another one after eight minutes does not', 20, '30', [-480_000], 1_000],
    ['that follows another one within a minute does not', 20, '30', [-10_000], 1_000],
    ['while others are expected changes nothing', 20, '30', [400_000], 400_000],
  ])('a refusal %s', (_, used, hint, before, calledAt = Number.NEGATIVE_INFINITY, inFlight = 0) => {
    const limit = told(30);
    for (const at of before) limit.report({ kind: 'called', now: at });
    limit.use(0, used);
    limit.state = { ...limit.state, inFlight };

    limit.sendRefused(1_000, hint);

    expect(limit.state.calledAt).toBe(calledAt);
  });
});
