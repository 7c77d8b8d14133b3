import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../src/client/limits/accepted-log.ts';
import { advanceWindow, freeSlots, nextSlotAt, type Window } from '../../../src/client/limits/window.ts';

function usage({ responses = [] as number[], limit = 3, inFlight = 0 }) {
  const log = new AcceptedLog();
  for (const respondedAt of responses) log.add(respondedAt - 100, respondedAt);
  return { log, limit, inFlight };
}

const LOG: Window = { kind: 'log' };
const FIXED: Window = { kind: 'fixed', startsAt: 60_000, guardMs: 500, boundary: 'assumed' };
const BUCKET: Window = { kind: 'bucket', perMs: 0.001, capacity: 5, tokens: 2, at: 60_000 };

test.each([
  ['the log counts accepted requests and those in flight', LOG, { responses: [59_000], inFlight: 1 }, 60_000, 1],
  ['a fixed window gives nothing before its guard has passed', FIXED, {}, 60_499, 0],
  ['a fixed window counts the responses since it started', FIXED, { responses: [59_000, 60_100] }, 60_500, 2],
  ['a bucket gives its whole tokens, whatever is in flight', BUCKET, { inFlight: 3 }, 60_000, 2],
  ['a bucket gives nothing before the time it was last seen', BUCKET, {}, 59_999, 0],
])('%s', (_title, window, used, now, free) => {
  expect(freeSlots(window, usage(used), now)).toBe(free);
});

test.each([
  ['a slot that is free', LOG, {}, 0, 60_000],
  ['the third call when one is logged waits for it', LOG, { responses: [59_000] }, 2, 119_000],
  ['the oldest logged call frees the first slot', LOG, { responses: [57_000, 58_000, 59_000] }, 0, 117_000],
  ['the fourth after a full log needs the first slot again', LOG, { responses: [57_000, 58_000, 59_000] }, 3, 177_000],
  ['the fourth call when one is logged waits for the calls sent now', LOG, { responses: [59_000] }, 3, 120_000],
  ['the sixth has the slot of the logged one once more', LOG, { responses: [59_000] }, 5, 179_000],
  [
    'a log beyond its limit gives one slot after another',
    LOG,
    { responses: [1, 2, 3, 4, 5].map((s) => s * 10_000) },
    1,
    100_000,
  ],
  ['a log with every slot in flight names no time', LOG, { inFlight: 3 }, 0, undefined],
  ['a fixed window opens after its guard', FIXED, {}, 0, 60_500],
  ['each window takes as many as the limit', FIXED, {}, 3, 120_500],
  ['a bucket refills one token after another', BUCKET, {}, 3, 62_000],
])('next slot: %s', (_title, window, used, ahead, at) => {
  expect(nextSlotAt(window, usage(used), 60_000, ahead)).toBe(at);
});

test('a fixed window that is used up opens again a minute later', () => {
  const used = usage({ responses: [60_600, 60_700, 60_800] });

  expect(nextSlotAt(FIXED, used, 61_000)).toBe(120_500);
});

test('a fixed window starts again every minute', () => {
  expect(advanceWindow(FIXED, 119_999)).toBe(FIXED);
  expect(advanceWindow(FIXED, 245_000)).toEqual({ ...FIXED, startsAt: 240_000, boundary: 'testing' });
});

test('the next slot of a bucket is never before its last update', () => {
  expect(nextSlotAt(BUCKET, usage({}), 59_000)).toBe(60_000);
});

test('a bucket refills up to its capacity', () => {
  expect(advanceWindow(BUCKET, 60_500)).toEqual({ ...BUCKET, tokens: 2.5, at: 60_500 });
  expect(advanceWindow(BUCKET, 100_000)).toEqual({ ...BUCKET, tokens: 5, at: 100_000 });
});

test('a fixed window starts again at the end of its minute, and stays confirmed', () => {
  const confirmed = { ...FIXED, boundary: 'confirmed' } as const;

  expect(advanceWindow(confirmed, 119_999)).toBe(confirmed);
  expect(advanceWindow(confirmed, 120_000)).toEqual({ ...confirmed, startsAt: 120_000 });
});

test('a bucket does not change before the time it was last seen', () => {
  expect(advanceWindow(BUCKET, 59_000)).toBe(BUCKET);
  expect(advanceWindow(LOG, 59_000)).toBe(LOG);
});

const TESTING: Window = { ...FIXED, startsAt: 120_000, boundary: 'testing' };
/** Of the minute before `TESTING`. */
const BEFORE = [100_000, 100_100, 100_200];

test.each([
  ['subtracts requests in flight', { ...TESTING, boundary: 'confirmed' }, { inFlight: 2 }, 1],
  ['forgets the minute before once it is confirmed', { ...TESTING, boundary: 'confirmed' }, { responses: BEFORE }, 3],
  ['gives one request more than a log while it is tested', TESTING, { responses: BEFORE }, 1],
  ['gives no other while that one is in flight', TESTING, { responses: BEFORE, inFlight: 1 }, 0],
  ['gives what a log has left while it is tested', TESTING, { responses: [100_000] }, 2],
  ['subtracts requests in flight while it is tested', TESTING, { responses: [100_000], inFlight: 1 }, 1],
  ['gives no more than its limit while it is tested', TESTING, { responses: [120_600, 120_700, 120_800] }, 0],
] as const)('a fixed window %s', (_title, window, used, free) => {
  expect(
    freeSlots(window, usage({ ...used, responses: [...('responses' in used ? used.responses : [])] }), 121_000),
  ).toBe(free);
});

test.each([
  ['the last free slot is free now', LOG, [], 0, 2, 121_000],
  ['while a fixed window is tested, the second call waits for a slot of the log', TESTING, BEFORE, 0, 1, 160_100],
  [
    'a fixed window that is used up while it is tested opens a minute later',
    TESTING,
    [120_600, 120_700],
    1,
    0,
    180_500,
  ],
  ['a fixed window with one slot left has the next ones a minute later', FIXED, [60_100, 60_200], 0, 1, 120_500],
  [
    'a fixed window that is used up has the third call with the next window',
    FIXED,
    [60_100, 60_200, 60_300],
    0,
    2,
    120_500,
  ],
  ['and the fourth with the one after it', FIXED, [60_100, 60_200, 60_300], 0, 3, 180_500],
] as const)('next slot: %s', (_title, window, responses, inFlight, ahead, at) => {
  const now = window === FIXED ? 60_500 : 121_000;

  expect(nextSlotAt(window, usage({ responses: [...responses], inFlight }), now, ahead)).toBe(at);
});
