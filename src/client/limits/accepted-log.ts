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
    return this.#times.map((at, place) => at - (this.#times[place - 1] ?? 0));
  }

  /** A log of every `n`th request; by default, a copy. */
  copy(n = 1): AcceptedLog {
    const copy = new AcceptedLog();
    copy.#times = this.#times.filter((_, place) => place % n === 0);
    return copy;
  }

  get size(): number {
    return this.#times.length;
  }

  add(now: number): void {
    this.#times.push(Math.max(now, this.#times.at(-1) ?? now));
  }

  /** Drops the oldest `forgotten` requests, and all that expired. */
  expire(now: number, forgotten = 0): void {
    let dropped = forgotten;
    while ((this.#times[dropped] ?? Number.POSITIVE_INFINITY) + WINDOW_MS <= now) dropped += 1;
    if (dropped > 0) this.#times.splice(0, dropped);
  }

  /** When the request at `place` (0 is the oldest) expires; `undefined` if the log has fewer. */
  expiresAt(place: number): number | undefined {
    const at = this.#times[place];
    return at === undefined ? undefined : at + WINDOW_MS;
  }
}
