import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  nextServerMinute,
  observeServerDate,
  serverNow,
  UNKNOWN_SERVER_CLOCK,
} from '../../../src/client/limits/server-clock.ts';

test('knows no minute before the first answer', () => {
  expect(nextServerMinute(UNKNOWN_SERVER_CLOCK, 0)).toBeUndefined();
});

test('its next minute is never early, and soon less than a second and a round trip late', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -7_200_000, max: 7_200_000 }),
      fc.array(
        fc.record({
          gapMs: fc.nat({ max: 3_000 }),
          outMs: fc.integer({ min: 1, max: 200 }),
          backMs: fc.integer({ min: 1, max: 200 }),
        }),
        {
          minLength: 1,
        },
      ),
      (aheadMs, exchanges) => {
        let ahead = UNKNOWN_SERVER_CLOCK;
        let now = 1_700_000_000_000;
        for (const { gapMs, outMs, backMs } of exchanges) {
          const sentAt = now + gapMs;
          const serverDate = Math.floor((sentAt + outMs + aheadMs) / 1000) * 1000;
          now = sentAt + outMs + backMs;
          ahead = observeServerDate(ahead, serverDate, { sentAt, now });
        }

        const believed = nextServerMinute(ahead, now)!;

        const actual = Math.ceil((now + aheadMs) / 60_000) * 60_000 - aheadMs;
        const offBy = (((believed - actual) % 60_000) + 60_000) % 60_000;
        expect(offBy).toBeGreaterThanOrEqual(0);
        expect(offBy).toBeLessThanOrEqual(1_000 + 400);
      },
    ),
    // The minute before may be the one believed in: it has just gone by.
    { examples: [[-7_100_002, [{ gapMs: 0, outMs: 1, backMs: 2 }]]] },
  );
});

test.each([
  ['forward', 90_000, 120_000 - 19_900],
  ['back', 40_000, 60_000 + 30_100],
])('a server whose clock was set %s is believed again', (_direction, serverDate, minuteAt) => {
  const before = observeServerDate(UNKNOWN_SERVER_CLOCK, 60_000, { sentAt: 60_000, now: 60_100 });

  const ahead = observeServerDate(before, serverDate, { sentAt: 70_000, now: 70_100 });

  expect(nextServerMinute(ahead, 70_100)).toBe(minuteAt);
});

test('the time of the server is ours until a `Date` header shows the difference', () => {
  const ahead = observeServerDate(UNKNOWN_SERVER_CLOCK, 90_000, { sentAt: 60_000, now: 60_200 });

  expect(serverNow(UNKNOWN_SERVER_CLOCK, 1_000)).toBe(1_000);
  expect(serverNow(ahead, 61_000)).toBe(90_800);
});
