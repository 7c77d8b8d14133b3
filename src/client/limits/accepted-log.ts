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
  /** Side by side as numbers: as objects, the calls of a busy minute would be most of what the client keeps. */
  #sentAt: number[] = [];
  #answeredAt: number[] = [];
  /** Place of the oldest. */
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
    const saved: number[] = [];
    let last = 0;
    for (let place = this.#head; place < this.#answeredAt.length; place += 1) {
      const { sentAt, answeredAt } = this.#at(place) as Accepted; // within the bounds
      saved.push(answeredAt - last, answeredAt - sentAt);
      last = answeredAt;
    }
    return saved;
  }

  get size(): number {
    return this.#answeredAt.length - this.#head;
  }

  get oldest(): Accepted | undefined {
    return this.#at(this.#head);
  }

  add(sentAt: number, answeredAt: number): void {
    this.#sentAt.push(sentAt);
    this.#answeredAt.push(answeredAt);
  }

  /** Forgets what is older than `keepMs`. Amortised O(1): every call is added once and dropped once. */
  expire(now: number): void {
    const head = this.#head;
    while ((this.leavesAt(0) ?? Number.POSITIVE_INFINITY) <= now) this.#head += 1;
    if (this.#head === head || this.#head * 2 < this.#answeredAt.length) return;
    this.#sentAt = this.#sentAt.slice(this.#head);
    this.#answeredAt = this.#answeredAt.slice(this.#head);
    this.#head = 0;
  }

  /** When the entry at `place` (0 = the oldest) leaves; `undefined` if there are not so many. */
  leavesAt(place: number): number | undefined {
    const answeredAt = this.#answeredAt[this.#head + place];
    return answeredAt === undefined ? undefined : answeredAt + this.#keepMs;
  }

  /** How many were answered at or after `since`. O(log n). */
  answeredSince(since: number): number {
    let low = this.#head;
    let high = this.#answeredAt.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#answeredAt[middle] ?? Number.POSITIVE_INFINITY) < since) low = middle + 1;
      else high = middle;
    }
    return this.#answeredAt.length - low;
  }

  #at(place: number): Accepted | undefined {
    const sentAt = this.#sentAt[place];
    const answeredAt = this.#answeredAt[place];
    return sentAt === undefined || answeredAt === undefined ? undefined : { sentAt, answeredAt };
  }
}
