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
