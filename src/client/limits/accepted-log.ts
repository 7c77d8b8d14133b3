/** Every limit of the service is per minute. */
export const WINDOW_MS = 60_000;

/**
 * Requests of the last minute, by the times of their responses. The service counts a request before it responds, so one
 * minute after the response its slot is certainly free.
 *
 * Only the log of the limiter's state is changed in place: a copy per response would cost more than the call.
 */
export class AcceptedLog {
  #times: number[] = [];
  /** Index of the oldest request. */
  #head = 0;

  /** `saved`: the milliseconds between the responses. */
  constructor(saved: readonly number[] = []) {
    let at = 0;
    for (const ms of saved) {
      at += ms;
      this.#times.push(at);
    }
  }

  /** Differences are short numbers: a thousand requests take about 4 kB. */
  toJSON(): number[] {
    const times = this.#times.slice(this.#head);
    return times.map((at, place) => at - (times[place - 1] ?? 0));
  }

  /** A log of every `n`th request; by default, a copy. */
  copy(n = 1): AcceptedLog {
    const copy = new AcceptedLog();
    copy.#times = this.#times.slice(this.#head).filter((_, place) => place % n === 0);
    return copy;
  }

  get size(): number {
    return this.#times.length - this.#head;
  }

  add(now: number): void {
    this.#times.push(Math.max(now, this.#times.at(-1) ?? now));
  }

  /** Drops the requests that expired, and `forgotten` more. Amortised O(1): every request is dropped once. */
  expire(now: number, forgotten = 0): void {
    this.#head = Math.min(this.#times.length, this.#head + forgotten);
    while ((this.#times[this.#head] ?? Number.POSITIVE_INFINITY) + WINDOW_MS <= now) this.#head += 1;
    if (this.#head === 0 || this.#head * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#head);
    this.#head = 0;
  }

  /** When the request at `place` (0 is the oldest) expires; `undefined` if the log has fewer. */
  expiresAt(place: number): number | undefined {
    const at = this.#times[this.#head + place];
    return at === undefined ? undefined : at + WINDOW_MS;
  }
}
