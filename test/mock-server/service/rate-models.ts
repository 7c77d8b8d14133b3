import type { BehaviourValues } from '../../../src/mock-server/index.ts';

/**
 * Whether one more request fits at `now`, given the times of the counted ones. A slow, simple model to compare with.
 */
export type RateModel = (counted: readonly number[], limit: number, now: number) => boolean;

const MINUTE_MS = 60_000;

export const rateModels: Readonly<Record<BehaviourValues['rateWindow'], RateModel>> = {
  'sliding-log': (counted, limit, now) => counted.filter((time) => time > now - MINUTE_MS).length < limit,

  'fixed-epoch': (counted, limit, now) => inMinute(counted, minuteOf(now)) < limit,

  'fixed-first-request': (counted, limit, now) => {
    let start = Number.NEGATIVE_INFINITY;
    let used = 0;
    for (const time of counted) {
      if (time >= start + MINUTE_MS) {
        start = time;
        used = 0;
      }
      used += 1;
    }
    return now >= start + MINUTE_MS || used < limit;
  },

  'sliding-counter': (counted, limit, now) => {
    const previous = inMinute(counted, minuteOf(now) - 1);
    const current = inMinute(counted, minuteOf(now));
    const shareOfPrevious = MINUTE_MS - (now % MINUTE_MS);
    return previous * shareOfPrevious + (current + 1) * MINUTE_MS <= limit * MINUTE_MS;
  },

  'token-bucket': (counted, limit, now) => {
    let level = limit * MINUTE_MS;
    let since = counted[0] ?? now;
    for (const time of [...counted, now]) {
      level = Math.min(limit * MINUTE_MS, level + (time - since) * limit) - MINUTE_MS;
      since = time;
    }
    return level >= 0;
  },
};

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS);
}

function inMinute(counted: readonly number[], minute: number): number {
  return counted.filter((time) => minuteOf(time) === minute).length;
}
