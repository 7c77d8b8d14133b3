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
  readonly respondedAt: number;
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
  #respondedAt: number[] = [];
  /** Number of requests up to and including the entry, with expired ones. */
  #total: number[] = [];
  #expired = 0;
  /** Index of the oldest entry. */
  #head = 0;

  /**
   * `saved`: for each entry, the milliseconds since the previous response, its round trip, and its number of requests.
   */
  constructor(saved: readonly number[] = []) {
    let respondedAt = 0;
    for (let place = 0; place < saved.length; place += 3) {
      respondedAt += saved[place] ?? 0;
      this.#push(respondedAt - (saved[place + 1] ?? 0), respondedAt, saved[place + 2] ?? 1);
    }
  }

  /** Differences are short numbers: a thousand requests take about 8 kB. */
  toJSON(): number[] {
    const saved: number[] = [];
    let last = 0;
    for (let place = this.#head; place < this.#respondedAt.length; place += 1) {
      const respondedAt = this.#respondedAt[place] ?? 0;
      saved.push(
        respondedAt - last,
        respondedAt - (this.#sentAt[place] ?? 0),
        this.#totalAt(place) - this.#totalAt(place - 1),
      );
      last = respondedAt;
    }
    return saved;
  }

  /** A log of every `n`th entry; by default, a copy. */
  copy(n = 1): AcceptedLog {
    const copy = new AcceptedLog();
    for (let place = this.#head; place < this.#total.length; place += n) {
      const requests = this.#totalAt(place) - this.#totalAt(place - 1);
      copy.#push(this.#sentAt[place] ?? 0, this.#respondedAt[place] ?? 0, requests);
    }
    return copy;
  }

  get size(): number {
    return this.#totalAt(this.#total.length - 1) - this.#expired;
  }

  get oldest(): Entry | undefined {
    const sentAt = this.#sentAt[this.#head];
    const respondedAt = this.#respondedAt[this.#head];
    return sentAt === undefined || respondedAt === undefined ? undefined : { sentAt, respondedAt };
  }

  add(sentAt: number, respondedAt: number): void {
    const last = this.#respondedAt.length - 1;
    const isFull = last + 1 - this.#head >= MERGE_FROM;
    if (!isFull || Math.floor((this.#respondedAt[last] ?? 0) / SLICE_MS) !== Math.floor(respondedAt / SLICE_MS)) {
      this.#push(sentAt, respondedAt, 1);
      return;
    }
    this.#sentAt[last] = Math.min(this.#sentAt[last] ?? sentAt, sentAt);
    this.#respondedAt[last] = respondedAt;
    this.#total[last] = this.#totalAt(last) + 1;
  }

  /** Drops expired entries. Amortised O(1): every entry is added once and dropped once. */
  expire(now: number): void {
    const head = this.#head;
    while ((this.#respondedAt[this.#head] ?? Number.POSITIVE_INFINITY) + WINDOW_MS <= now) this.#head += 1;
    if (this.#head === head) return;
    this.#expired = this.#totalAt(this.#head - 1);
    if (this.#head * 2 < this.#respondedAt.length) return;
    this.#sentAt = this.#sentAt.slice(this.#head);
    this.#respondedAt = this.#respondedAt.slice(this.#head);
    this.#total = this.#total.slice(this.#head);
    this.#head = 0;
  }

  /** When the request at `place` (0 is the oldest) expires; `undefined` if the log has fewer. */
  expiresAt(place: number): number | undefined {
    const index = this.#firstIndex((entry) => this.#totalAt(entry) - this.#expired > place);
    const respondedAt = this.#respondedAt[index];
    return respondedAt === undefined ? undefined : respondedAt + WINDOW_MS;
  }

  /** Number of requests with a response at or after `since`. O(log n). */
  acceptedSince(since: number): number {
    const index = this.#firstIndex((entry) => (this.#respondedAt[entry] ?? 0) >= since);
    return this.size - (this.#totalAt(index - 1) - this.#expired);
  }

  #push(sentAt: number, respondedAt: number, requests: number): void {
    this.#total.push(this.#totalAt(this.#total.length - 1) + requests);
    this.#sentAt.push(sentAt);
    this.#respondedAt.push(respondedAt);
  }

  #totalAt(index: number): number {
    return this.#total[index] ?? this.#expired;
  }

  /** The first entry with a property that all later entries also have. */
  #firstIndex(hasProperty: (index: number) => boolean): number {
    let low = this.#head;
    let high = this.#respondedAt.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hasProperty(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
