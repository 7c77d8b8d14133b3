import type { BehaviourValues } from '../../../src/mock-server/index.ts';
import type { RateLimit } from '../../../src/mock-server/service/rate-windows.ts';

/**
 * Whether one more request fits at `now`, given the times of the counted ones. A slow, simple model to compare with.
 */
export type RateModel = (counted: readonly number[], limit: RateLimit, now: number) => boolean;

export const rateModels: Readonly<Record<BehaviourValues['rateWindow'], RateModel>> = {
  'sliding-log': (counted, { requests, windowMs }, now) =>
    counted.filter((time) => time > now - windowMs).length < requests,

  'fixed-epoch': (counted, { requests, windowMs }, now) =>
    inWindow(counted, windowMs, windowOf(now, windowMs)) < requests,

  'fixed-first-request': (counted, { requests, windowMs }, now) => {
    let start = Number.NEGATIVE_INFINITY;
    let used = 0;
    for (const time of counted) {
      if (time >= start + windowMs) {
        start = time;
        used = 0;
      }
      used += 1;
    }
    return now >= start + windowMs || used < requests;
  },

  'sliding-counter': (counted, { requests, windowMs }, now) => {
    const previous = inWindow(counted, windowMs, windowOf(now, windowMs) - 1);
    const current = inWindow(counted, windowMs, windowOf(now, windowMs));
    const shareOfPrevious = windowMs - (now % windowMs);
    return previous * shareOfPrevious + (current + 1) * windowMs <= requests * windowMs;
  },

  'token-bucket': (counted, { requests, windowMs }, now) => {
    let level = requests * windowMs;
    let since = counted[0] ?? now;
    for (const time of [...counted, now]) {
      level = Math.min(requests * windowMs, level + (time - since) * requests) - windowMs;
      since = time;
    }
    return level >= 0;
  },
};

function windowOf(time: number, windowMs: number): number {
  return Math.floor(time / windowMs);
}

function inWindow(counted: readonly number[], windowMs: number, index: number): number {
  return counted.filter((time) => windowOf(time, windowMs) === index).length;
}
