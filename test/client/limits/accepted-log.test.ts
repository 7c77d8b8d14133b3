import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AcceptedLog } from '../../../src/client/limits/accepted-log.ts';

test('a call leaves a minute after its answer, not after its sending', () => {
  const log = new AcceptedLog(60_000);
  log.add(0, 200);

  log.expire(60_199);
  expect(log.size).toBe(1);
  expect(log.oldest).toEqual({ sentAt: 0, answeredAt: 200 });

  log.expire(60_200);
  expect(log.size).toBe(0);
  expect(log.oldest).toBeUndefined();
  expect(log.leavesAt(0)).toBeUndefined();
});

test('counts and forgets like a plain list', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 400 })), fc.nat({ max: 3_000 }), (gaps, age) => {
      const log = new AcceptedLog(1_000);
      const answers: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        log.expire(now);
        log.add(now - 10, now);
        answers.push(now);
      }

      const kept = answers.filter((answeredAt) => answeredAt + 1_000 > now);
      expect(log.size).toBe(kept.length);
      expect(log.answeredSince(now - age)).toBe(kept.filter((answeredAt) => answeredAt >= now - age).length);
      expect(log.leavesAt(kept.length - 1)).toBe(kept.length === 0 ? undefined : now + 1_000);
    }),
  );
});
