import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/**
 * A bucket of `limit` tokens that refills evenly within a minute; a request takes one.
 * A token is 60 000 units, so that `limit` units come back each millisecond: whole numbers, no drift.
 */
export function tokenBucket([saved = 0, at = Number.NEGATIVE_INFINITY]: readonly number[] = []): RateWindow {
  // What is missing to a full bucket, at `missingAt`; a debt, so that a new limit needs no conversion.
  let missing = saved;
  let missingAt = at;

  function missingNow(limit: number, now: number): number {
    if (missing === 0) return 0;
    return Math.max(0, Math.min(missing, mostMissing(limit)) - (now - missingAt) * limit);
  }

  return {
    waitMs(limit, now) {
      const tooMuch = missingNow(limit, now) + TOKEN - limit * TOKEN;
      return tooMuch <= 0 ? 0 : Math.ceil(tooMuch / limit);
    },
    count(limit, now) {
      missing = Math.min(missingNow(limit, now) + TOKEN, mostMissing(limit));
      missingAt = now;
    },
    used: (limit, now) => Math.min(limit, Math.ceil(missingNow(limit, now) / TOKEN)),
    fullAt: (limit, now) => now + Math.max(1, Math.ceil(missingNow(limit, now) / limit)),
    save: () => (missing === 0 ? [] : [missing, missingAt]),
  };
}

const TOKEN = WINDOW_MS;

/** Refused requests may count too, and a plan may shrink: yet nobody waits longer than one window. */
function mostMissing(limit: number): number {
  return (2 * limit - 1) * TOKEN;
}
