import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../src/client/limits/accepted-log.ts';

test('a request expires a minute after its response, not after its sending', () => {
  const log = new AcceptedLog();
  log.add(0, 200);

  log.expire(60_199);
  expect(log.size).toBe(1);
  expect(log.oldest).toEqual({ sentAt: 0, respondedAt: 200 });

  log.expire(60_200);
  expect(log.size).toBe(0);
  expect(log.oldest).toBeUndefined();
  expect(log.expiresAt(0)).toBeUndefined();
});

test('counts and expires like a plain list', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20_000 })), fc.nat({ max: 90_000 }), (gaps, age) => {
      const log = new AcceptedLog();
      const responses: number[] = [];
      const sent: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        log.expire(now);
        log.add(now - 10 - (gap % 7), now);
        responses.push(now);
        sent.push(now - 10 - (gap % 7));
      }

      const kept = responses.filter((respondedAt) => respondedAt + 60_000 > now);
      const copy = new AcceptedLog(JSON.parse(JSON.stringify(log)));

      expect(log.size).toBe(kept.length);
      expect(log.oldest).toEqual(
        kept[0] === undefined ? undefined : { sentAt: sent.at(-kept.length), respondedAt: kept[0] },
      );
      expect([copy.size, copy.oldest]).toEqual([log.size, log.oldest]);
      expect(log.acceptedSince(kept[0] ?? now)).toBe(kept.length);
      expect(log.acceptedSince(now - age)).toBe(kept.filter((respondedAt) => respondedAt >= now - age).length);
      expect([0, kept.length - 1, kept.length].map((place) => log.expiresAt(place))).toEqual(
        [kept[0], kept.at(-1), undefined].map((respondedAt) =>
          respondedAt === undefined ? undefined : respondedAt + 60_000,
        ),
      );
    }),
  );
});

test('saving and reading it removes only expired requests', () => {
  const log = new AcceptedLog();
  for (const respondedAt of [100, 30_000, 30_000, 61_000]) log.add(respondedAt - 50, respondedAt);
  log.expire(60_500);

  const copy = new AcceptedLog(JSON.parse(JSON.stringify(log)));

  expect(copy.size).toBe(3);
  expect(copy.oldest).toEqual({ sentAt: 29_950, respondedAt: 30_000 });
  expect([0, 1, 2].map((place) => copy.expiresAt(place))).toEqual([90_000, 90_000, 121_000]);
});

test('from two thousand entries on, responses of the same 25 ms share one entry and are all counted', () => {
  const log = new AcceptedLog();
  for (let call = 0; call < 2_000; call += 1) log.add(call - 5, call);
  for (let call = 0; call < 500; call += 1) log.add(2_000 - 7, 2_000 + (call % 25));

  expect(log.size).toBe(2_500);
  expect(log.toJSON()).toHaveLength(3 * 2_001);
  expect(log.acceptedSince(2_000)).toBe(500);
  expect(new AcceptedLog(log.toJSON()).size).toBe(2_500);
  log.expire(61_999);
  expect(log.oldest).toEqual({ sentAt: 1_993, respondedAt: 2_024 });
  log.expire(62_024);
  expect(log.size).toBe(0);
});
