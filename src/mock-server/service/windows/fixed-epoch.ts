import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/** Counts per minute of the clock: every window begins at a full UTC minute. Lets up to twice the limit pass around it. */
export function fixedEpoch([minute = -1, count = 0]: readonly number[] = []): RateWindow {
  let openMinute = minute;
  let counted = count;

  const used = (now: number) => (minuteOf(now) === openMinute ? counted : 0);
  const endOf = (now: number) => (minuteOf(now) + 1) * WINDOW_MS;
  return {
    waitMs: (limit, now) => (used(now) < limit ? 0 : endOf(now) - now),
    count(_limit, now) {
      counted = used(now) + 1;
      openMinute = minuteOf(now);
    },
    used: (_limit, now) => used(now),
    fullAt: (_limit, now) => endOf(now),
    save: () => [openMinute, counted],
  };
}

function minuteOf(now: number): number {
  return Math.floor(now / WINDOW_MS);
}
