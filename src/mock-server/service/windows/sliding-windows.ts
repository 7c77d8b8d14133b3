import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/** Counts the requests of the last 60 seconds, each for itself: never more than the limit in any minute. */
export class SlidingLog implements RateWindow {
  /** Ascending; those before `first` have left the window and are cut off now and then. */
  #times: number[];
  #first = 0;

  constructor(saved: readonly number[] = []) {
    this.#times = saved.slice();
  }

  waitMs(limit: number, now: number): number {
    const over = this.used(limit, now) - limit;
    return over < 0 ? 0 : (this.#times[this.#first + over] ?? now) + WINDOW_MS - now;
  }

  count(limit: number, now: number): void {
    // A list made with its first element takes a sixth of the memory of one that is pushed to.
    if (this.used(limit, now) === 0) this.#times = [now];
    else this.#times.push(now);
    // Refused requests may count too; those beyond the newest `limit` never decide anything.
    this.#first = Math.max(this.#first, this.#times.length - limit);
  }

  used(_limit: number, now: number): number {
    this.#forget(now);
    return this.#times.length - this.#first;
  }

  fullAt(_limit: number, now: number): number {
    return (this.#times.at(-1) ?? now) + WINDOW_MS;
  }

  save(): readonly number[] {
    return this.#times.slice(this.#first);
  }

  #forget(now: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) + WINDOW_MS <= now) this.#first += 1;
    const isMostlyPast = this.#first > 16 && this.#first * 2 > this.#times.length;
    if (!isMostlyPast && this.#first < this.#times.length) return;
    this.#times = this.#times.slice(this.#first);
    this.#first = 0;
  }
}

/**
 * Two counters: this minute's, and the last minute's weighed by how much of it still lies in the last 60 seconds.
 * Everything is kept in whole milliseconds times requests, so nothing is lost to rounding.
 */
export class SlidingCounter implements RateWindow {
  #minute: number;
  #previous: number;
  #current: number;

  constructor([minute = -1, previous = 0, current = 0]: readonly number[] = []) {
    this.#minute = minute;
    this.#previous = previous;
    this.#current = current;
  }

  waitMs(limit: number, now: number): number {
    this.#turnTo(now);
    const start = this.#minute * WINDOW_MS;
    return fitsAt({ start, previous: this.#previous, current: this.#current, limit, from: now }) - now;
  }

  count(_limit: number, now: number): void {
    this.#turnTo(now);
    this.#current += 1;
  }

  used(limit: number, now: number): number {
    this.#turnTo(now);
    const leftMs = (this.#minute + 1) * WINDOW_MS - now;
    return Math.min(limit, Math.ceil((this.#previous * leftMs) / WINDOW_MS) + this.#current);
  }

  fullAt(_limit: number, now: number): number {
    this.#turnTo(now);
    return (this.#minute + (this.#current > 0 ? 2 : 1)) * WINDOW_MS;
  }

  save(): readonly number[] {
    return [this.#minute, this.#previous, this.#current];
  }

  #turnTo(now: number): void {
    const minute = Math.floor(now / WINDOW_MS);
    if (minute === this.#minute) return;
    this.#previous = minute === this.#minute + 1 ? this.#current : 0;
    this.#current = 0;
    this.#minute = minute;
  }
}

interface Counters {
  readonly start: number;
  readonly previous: number;
  readonly current: number;
  readonly limit: number;
  readonly from: number;
}

/** First millisecond from `from` on at which one more request keeps the weighed sum within the limit. */
function fitsAt({ start, previous, current, limit, from }: Counters): number {
  const end = start + WINDOW_MS;
  const room = limit - current - 1;
  if (room >= 0) {
    const remaining = previous === 0 ? WINDOW_MS : Math.floor((room * WINDOW_MS) / previous);
    const at = Math.max(from, end - remaining);
    if (at < end) return at;
  }
  return fitsAt({ start: end, previous: current, current: 0, limit, from: end });
}
