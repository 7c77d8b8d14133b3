import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/**
 * Two counters: this minute's, and the last minute's weighed by how much of it still lies in the last 60 seconds.
 * Everything is kept in whole milliseconds times requests, so nothing is lost to rounding.
 */
export function slidingCounter([start = -1, last = 0, open = 0]: readonly number[] = []): RateWindow {
  let minute = start;
  let previous = last;
  let current = open;

  function turnTo(now: number): void {
    const minuteNow = Math.floor(now / WINDOW_MS);
    if (minuteNow === minute) return;
    previous = minuteNow === minute + 1 ? current : 0;
    current = 0;
    minute = minuteNow;
  }

  return {
    waitMs(limit, now) {
      turnTo(now);
      return fitsAt({ start: minute * WINDOW_MS, previous, current, limit, from: now }) - now;
    },
    count(_limit, now) {
      turnTo(now);
      current += 1;
    },
    used(limit, now) {
      turnTo(now);
      const weighed = (previous * (WINDOW_MS - (now - minute * WINDOW_MS))) / WINDOW_MS;
      return Math.min(limit, Math.ceil(weighed) + current);
    },
    fullAt(_limit, now) {
      turnTo(now);
      return (minute + (current > 0 ? 2 : 1)) * WINDOW_MS;
    },
    save: () => [minute, previous, current],
  };
}

interface Counters {
  readonly start: number;
  readonly previous: number;
  readonly current: number;
  readonly limit: number;
  readonly from: number;
}

/** First millisecond from `from` on at which one more request keeps the weighed sum within the limit. */
function fitsAt({ start, previous, current, limit, from }: Counters): number {
  const end = start + WINDOW_MS;
  const room = limit - current - 1;
  if (room >= 0) {
    const remaining = previous === 0 ? WINDOW_MS : Math.floor((room * WINDOW_MS) / previous);
    const at = Math.max(from, end - remaining);
    if (at < end) return at;
  }
  return fitsAt({ start: end, previous: current, current: 0, limit, from: end });
}
