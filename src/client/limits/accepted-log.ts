/** Every limit of the service is per minute. */
export const WINDOW_MS = 60_000;

/**
 * Above this number of entries, responses of one slice of time share an entry: an unlimited key must not fill the
 * memory.
 */
const MERGE_FROM = 2_000;
const SLICE_MS = 25;

/** Requests that the server accepted, or may have accepted. */
interface Entry {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * The accepted requests of the last minute, in the order of their responses. An entry expires one minute after its
 * response, not after it was sent: the server counted it in between, so its slot is then certainly free.
 *
 * Only this part of the limiter's state is changed in place: a copy per response would cost more than the call.
 */
export class AcceptedLog {
  /** Three arrays of numbers: objects for the entries of a busy minute would be most of the client's memory. */
  #sentAt: number[] = [];
  #answeredAt: number[] = [];
  /** Number of requests up to and including the entry, with expired ones. */
  #total: number[] = [];
  #expired = 0;
  /** Index of the oldest entry. */
  #head = 0;

  /**
   * `saved`: for each entry, the milliseconds since the previous response, its round trip, and its number of requests.
   */
  constructor(saved: readonly number[] = []) {
    let answeredAt = 0;
    for (let place = 0; place < saved.length; place += 3) {
      answeredAt += saved[place] ?? 0;
      this.#push(answeredAt - (saved[place + 1] ?? 0), answeredAt, saved[place + 2] ?? 1);
    }
  }

  /** Differences are short numbers: a thousand requests take about 8 kB. */
  toJSON(): number[] {
    const saved: number[] = [];
    let last = 0;
    for (let place = this.#head; place < this.#answeredAt.length; place += 1) {
      const answeredAt = this.#answeredAt[place] ?? 0;
      saved.push(
        answeredAt - last,
        answeredAt - (this.#sentAt[place] ?? 0),
        this.#totalAt(place) - this.#totalAt(place - 1),
      );
      last = answeredAt;
    }
    return saved;
  }

  /** A log of every `n`th entry; by default, a copy. */
  copy(n = 1): AcceptedLog {
    const copy = new AcceptedLog();
    for (let place = this.#head; place < this.#total.length; place += n) {
      const requests = this.#totalAt(place) - this.#totalAt(place - 1);
      copy.#push(this.#sentAt[place] ?? 0, this.#answeredAt[place] ?? 0, requests);
    }
    return copy;
  }

  get size(): number {
    return this.#totalAt(this.#total.length - 1) - this.#expired;
  }

  get oldest(): Entry | undefined {
    const sentAt = this.#sentAt[this.#head];
    const answeredAt = this.#answeredAt[this.#head];
    return sentAt === undefined || answeredAt === undefined ? undefined : { sentAt, answeredAt };
  }

  add(sentAt: number, answeredAt: number): void {
    const last = this.#answeredAt.length - 1;
    const isFull = last + 1 - this.#head >= MERGE_FROM;
    if (!isFull || Math.floor((this.#answeredAt[last] ?? 0) / SLICE_MS) !== Math.floor(answeredAt / SLICE_MS)) {
      this.#push(sentAt, answeredAt, 1);
      return;
    }
    this.#sentAt[last] = Math.min(this.#sentAt[last] ?? sentAt, sentAt);
    this.#answeredAt[last] = answeredAt;
    this.#total[last] = this.#totalAt(last) + 1;
  }

  /** Drops expired entries. Amortised O(1): every entry is added once and dropped once. */
  expire(now: number): void {
    const head = this.#head;
    while ((this.#answeredAt[this.#head] ?? Number.POSITIVE_INFINITY) + WINDOW_MS <= now) this.#head += 1;
    if (this.#head === head) return;
    this.#expired = this.#totalAt(this.#head - 1);
    if (this.#head * 2 < this.#answeredAt.length) return;
    this.#sentAt = this.#sentAt.slice(this.#head);
    this.#answeredAt = this.#answeredAt.slice(this.#head);
    this.#total = this.#total.slice(this.#head);
    this.#head = 0;
  }

  /** When the request at `place` (0 is the oldest) expires; `undefined` if the log has fewer. */
  expiresAt(place: number): number | undefined {
    const index = this.#firstIndex((entry) => this.#totalAt(entry) - this.#expired > place);
    const answeredAt = this.#answeredAt[index];
    return answeredAt === undefined ? undefined : answeredAt + WINDOW_MS;
  }

  /** Number of requests with a response at or after `since`. O(log n). */
  answeredSince(since: number): number {
    const index = this.#firstIndex((entry) => (this.#answeredAt[entry] ?? 0) >= since);
    return this.size - (this.#totalAt(index - 1) - this.#expired);
  }

  #push(sentAt: number, answeredAt: number, requests: number): void {
    this.#total.push(this.#totalAt(this.#total.length - 1) + requests);
    this.#sentAt.push(sentAt);
    this.#answeredAt.push(answeredAt);
  }

  #totalAt(index: number): number {
    return this.#total[index] ?? this.#expired;
  }

  /** The first entry with a property that all later entries also have. */
  #firstIndex(hasProperty: (index: number) => boolean): number {
    let low = this.#head;
    let high = this.#answeredAt.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hasProperty(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
