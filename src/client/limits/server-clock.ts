import type { SavedBeliefs } from './saved-limit.ts';

/** `Date` headers are whole seconds, rounded down. */
const DATE_STEP_MS = 1_000;

const UNKNOWN = { atLeast: Number.NEGATIVE_INFINITY, atMost: Number.POSITIVE_INFINITY };

/**
 * How far the server's clock is ahead of ours, as an interval that every `Date` header narrows: the server wrote its
 * time after we sent the request and before we had the answer.
 */
export class ServerClock {
  #aheadAtLeast: number;
  #aheadAtMost: number;

  constructor({ atLeast, atMost }: SavedBeliefs['serverAhead'] = UNKNOWN) {
    this.#aheadAtLeast = atLeast;
    this.#aheadAtMost = atMost;
  }

  save(): SavedBeliefs['serverAhead'] {
    return { atLeast: this.#aheadAtLeast, atMost: this.#aheadAtMost };
  }

  observe(serverDate: number, { sentAt, receivedAt }: { readonly sentAt: number; readonly receivedAt: number }): void {
    const atLeast = serverDate - receivedAt;
    const atMost = serverDate + DATE_STEP_MS - sentAt;
    const narrowedLeast = Math.max(this.#aheadAtLeast, atLeast);
    const narrowedMost = Math.min(this.#aheadAtMost, atMost);
    // An empty intersection means that one of the clocks was set: only the newest answer still counts.
    const isConsistent = narrowedLeast <= narrowedMost;
    this.#aheadAtLeast = isConsistent ? narrowedLeast : atLeast;
    this.#aheadAtMost = isConsistent ? narrowedMost : atMost;
  }

  /** Our time at which the server's clock has certainly passed its next full minute; `undefined` before any answer. */
  nextMinuteAfter(now: number): number | undefined {
    if (this.#aheadAtLeast === Number.NEGATIVE_INFINITY) return undefined;
    const minute = (Math.floor((now + this.#aheadAtLeast) / 60_000) + 1) * 60_000;
    return minute - this.#aheadAtLeast;
  }
}
