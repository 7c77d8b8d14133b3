import type { SavedGate } from './saved-limit.ts';

/** In flight at once at the start, while no limit is known: between these, and a quarter of what was accepted. */
const FIRST_CALLS = 4;
const MANY_CALLS = 64;
/** So many refusals are the price of learning; what is refused beyond them must not become a hot loop. */
const REFUSALS_FOR_LEARNING = 4;
const BACKOFF_MS = 125;
const LONGEST_BACKOFF_MS = 16_000;

const NEVER_CLOSED: SavedGate = {
  opensAt: Number.NEGATIVE_INFINITY,
  newsFrom: Number.NEGATIVE_INFINITY,
  isHalfOpen: false,
  wasClosed: false,
  accepted: 0,
  pressure: 0,
};

/**
 * What every refusal closes for all calls. When it opens, one call goes first; then one more than were accepted since,
 * which doubles per round trip: a gate that opened too early costs one refusal, not one per waiting call.
 */
export class Gate {
  #opensAt: number;
  #newsFrom: number;
  #isHalfOpen: boolean;
  #wasClosed: boolean;
  #accepted: number;
  /** Refusals that no accepted call has made up for. */
  #pressure: number;

  constructor(saved: SavedGate = NEVER_CLOSED) {
    this.#opensAt = saved.opensAt;
    this.#newsFrom = saved.newsFrom;
    this.#isHalfOpen = saved.isHalfOpen;
    this.#wasClosed = saved.wasClosed;
    this.#accepted = saved.accepted;
    this.#pressure = saved.pressure;
  }

  save(): SavedGate {
    return {
      opensAt: this.#opensAt,
      newsFrom: this.#newsFrom,
      isHalfOpen: this.#isHalfOpen,
      wasClosed: this.#wasClosed,
      accepted: this.#accepted,
      pressure: this.#pressure,
    };
  }

  get opensAt(): number {
    return this.#opensAt;
  }

  /** Opened, and no answer yet from behind it. */
  get isHalfOpen(): boolean {
    return this.#isHalfOpen;
  }

  /** Accepted calls since the gate opened. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Requests sent before the gate opened belong to the episode that closed it: their answers say nothing new. */
  isNews(sentAt: number): boolean {
    return sentAt >= this.#newsFrom;
  }

  /** Never opens earlier than any answer asked for. */
  stayClosedUntil(at: number): void {
    this.#opensAt = Math.max(this.#opensAt, at);
  }

  /** A refusal that is news. Where more is refused than accepted, every further one closes twice as long. */
  startEpisode(now: number): void {
    this.#pressure += 1;
    const doublings = this.#pressure - REFUSALS_FOR_LEARNING;
    if (doublings > 0) this.stayClosedUntil(now + Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** doublings));
    this.#newsFrom = this.#opensAt;
  }

  /** Closes for a new try. */
  close(until: number): void {
    this.stayClosedUntil(until);
    this.#newsFrom = this.#opensAt;
    this.#wasClosed = true;
    this.#isHalfOpen = true;
    this.#accepted = 0;
  }

  /** What the answers asked for was misread as far too long. */
  reopen(at: number): void {
    this.#opensAt = Math.min(this.#opensAt, at);
    this.#newsFrom = Math.min(this.#newsFrom, at);
  }

  accept(): void {
    this.#isHalfOpen = false;
    this.#accepted += 1;
    this.#pressure = Math.max(0, this.#pressure - 1);
  }

  /** How many may be in flight; a known limit that has refused nothing needs no caution. */
  ramp(isLimitKnown: boolean): number {
    if (this.#isHalfOpen) return 1;
    if (this.#wasClosed) return 1 + this.#accepted;
    if (isLimitKnown) return Number.POSITIVE_INFINITY;
    return Math.min(MANY_CALLS, Math.max(FIRST_CALLS, Math.floor(this.#accepted / 4)));
  }
}
