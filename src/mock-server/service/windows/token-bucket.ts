import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/**
 * A bucket of `limit` tokens that refills evenly within a minute; a request takes one.
 * A token is 60 000 units, so that `limit` units come back each millisecond: whole numbers, no drift.
 */
export class TokenBucket implements RateWindow {
  /** Units missing to a full bucket, at `missingAt`: a debt, so that a new limit needs no conversion. */
  #missing: number;
  #missingAt: number;

  constructor([missing = 0, missingAt = 0]: readonly number[] = []) {
    this.#missing = missing;
    this.#missingAt = missingAt;
  }

  waitMs(limit: number, now: number): number {
    const tooMuch = this.#missingNow(limit, now) + TOKEN - limit * TOKEN;
    return tooMuch <= 0 ? 0 : Math.ceil(tooMuch / limit);
  }

  count(limit: number, now: number): void {
    this.#missing = Math.min(this.#missingNow(limit, now) + TOKEN, mostMissing(limit));
    this.#missingAt = now;
  }

  used(limit: number, now: number): number {
    return Math.min(limit, Math.ceil(this.#missingNow(limit, now) / TOKEN));
  }

  fullAt(limit: number, now: number): number {
    return now + Math.max(1, Math.ceil(this.#missingNow(limit, now) / limit));
  }

  save(): readonly number[] {
    return [this.#missing, this.#missingAt];
  }

  #missingNow(limit: number, now: number): number {
    return Math.max(0, Math.min(this.#missing, mostMissing(limit)) - (now - this.#missingAt) * limit);
  }
}

const TOKEN = WINDOW_MS;

/** Refused requests may count too, and a plan may shrink: yet nobody waits longer than one window. */
function mostMissing(limit: number): number {
  return (2 * limit - 1) * TOKEN;
}
