import type { SavedBeliefs } from './saved-limit.ts';

/** Between these, whatever was measured: less is luck, more is a slow server and not jitter. */
const JITTER_AT_LEAST_MS = 50;
const JITTER_AT_MOST_MS = 1_000;

const NONE = { shortestMs: Number.POSITIVE_INFINITY, longestMs: 0 };

/** The shortest and the longest round trip so far. */
export class RoundTrips {
  #shortestMs: number;
  #longestMs: number;

  constructor({ shortestMs, longestMs }: SavedBeliefs['roundTrips'] = NONE) {
    this.#shortestMs = shortestMs;
    this.#longestMs = longestMs;
  }

  save(): SavedBeliefs['roundTrips'] {
    return { shortestMs: this.#shortestMs, longestMs: this.#longestMs };
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  /** How much earlier than meant a request may arrive, relative to others. */
  get jitterMs(): number {
    const spreadMs = this.#longestMs - this.#shortestMs;
    return Math.min(JITTER_AT_MOST_MS, Math.max(JITTER_AT_LEAST_MS, spreadMs));
  }

  observe(ms: number): void {
    this.#shortestMs = Math.min(this.#shortestMs, ms);
    this.#longestMs = Math.max(this.#longestMs, ms);
  }
}
