import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/** Counts per minute from the first request: a window opens with a request and closes one minute later. */
export function fixedFirstRequest([start = Number.NEGATIVE_INFINITY, count = 0]: readonly number[] = []): RateWindow {
  let openedAt = start;
  let counted = count;

  const isOpen = (now: number) => now < openedAt + WINDOW_MS;
  const used = (now: number) => (isOpen(now) ? counted : 0);
  return {
    waitMs: (limit, now) => (used(now) < limit ? 0 : openedAt + WINDOW_MS - now),
    count(_limit, now) {
      if (!isOpen(now)) {
        openedAt = now;
        counted = 0;
      }
      counted += 1;
    },
    used: (_limit, now) => used(now),
    fullAt: (_limit, now) => (isOpen(now) ? openedAt : now) + WINDOW_MS,
    save: () => (counted === 0 ? [] : [openedAt, counted]),
  };
}
