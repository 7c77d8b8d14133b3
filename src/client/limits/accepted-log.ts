/** A call that the server accepted, or may have accepted. */
interface Accepted {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * The accepted calls of the last `keepMs`, in the order of their answers. A call leaves `keepMs` after its answer, not
 * after its sending: by then the server, which counted it somewhere in between, has certainly forgotten it.
 */
export class AcceptedLog {
  readonly #keepMs: number;
  #entries: Accepted[] = [];
  #head = 0;

  /** `saved`: of each call, the milliseconds since the answer before it, and its round trip. */
  constructor(keepMs: number, saved: readonly number[] = []) {
    this.#keepMs = keepMs;
    let answeredAt = 0;
    for (let place = 0; place < saved.length; place += 2) {
      answeredAt += saved[place] ?? 0;
      this.add(answeredAt - (saved[place + 1] ?? 0), answeredAt);
    }
  }

  /** Differences are short to write: a thousand calls take some 6 kB. */
  save(): number[] {
    let last = 0;
    return this.#entries.slice(this.#head).flatMap(({ sentAt, answeredAt }) => {
      const sinceLast = answeredAt - last;
      last = answeredAt;
      return [sinceLast, answeredAt - sentAt];
    });
  }

  get size(): number {
    return this.#entries.length - this.#head;
  }

  get oldest(): Accepted | undefined {
    return this.#entries[this.#head];
  }

  add(sentAt: number, answeredAt: number): void {
    this.#entries.push({ sentAt, answeredAt });
  }

  /** Forgets what is older than `keepMs`. Amortised O(1): every call is added once and dropped once. */
  expire(now: number): void {
    const { oldest } = this;
    if (oldest === undefined || oldest.answeredAt + this.#keepMs > now) return;
    while (this.oldest !== undefined && this.oldest.answeredAt + this.#keepMs <= now) this.#head += 1;
    if (this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }

  /** When the entry at `place` (0 = the oldest) leaves; `undefined` if there are not so many. */
  leavesAt(place: number): number | undefined {
    const entry = this.#entries[this.#head + place];
    return entry && entry.answeredAt + this.#keepMs;
  }

  /** How many were answered at or after `since`. O(log n). */
  answeredSince(since: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.answeredAt ?? Number.POSITIVE_INFINITY) < since) low = middle + 1;
      else high = middle;
    }
    return this.#entries.length - low;
  }
}
