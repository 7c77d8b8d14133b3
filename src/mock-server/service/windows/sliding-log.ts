import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/** Counts the requests of the last 60 seconds, each for itself: never more than the limit in any minute. */
export function slidingLog(saved: readonly number[] = []): RateWindow {
  // Ascending times; those before `first` have left the window and are cut off now and then.
  let times = saved.slice();
  let first = 0;

  function forget(now: number): void {
    while (first < times.length && (times[first] ?? 0) + WINDOW_MS <= now) first += 1;
    if (first > 16 && first * 2 > times.length) {
      times = times.slice(first);
      first = 0;
    }
  }

  return {
    waitMs(limit, now) {
      forget(now);
      const over = times.length - first - limit;
      return over < 0 ? 0 : (times[first + over] ?? now) + WINDOW_MS - now;
    },
    count(limit, now) {
      forget(now);
      times.push(now);
      // Refused requests may count too; those beyond the newest `limit` never decide anything.
      first = Math.max(first, times.length - limit);
    },
    used(_limit, now) {
      forget(now);
      return times.length - first;
    },
    fullAt: (_limit, now) => Math.max(now, times.at(-1) ?? now) + WINDOW_MS,
    save: () => times.slice(first),
  };
}
