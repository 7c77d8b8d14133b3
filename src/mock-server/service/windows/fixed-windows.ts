import { type RateWindow, WINDOW_MS } from './rate-window.ts';

/** Counts per minute of the clock: every window begins at a full UTC minute. Lets up to twice the limit pass around it. */
export class FixedEpoch implements RateWindow {
  #minute: number;
  #count: number;

  constructor([minute = -1, count = 0]: readonly number[] = []) {
    this.#minute = minute;
    this.#count = count;
  }

  waitMs(limit: number, now: number): number {
    return this.used(limit, now) < limit ? 0 : this.fullAt(limit, now) - now;
  }

  count(limit: number, now: number): void {
    this.#count = this.used(limit, now) + 1;
    this.#minute = minuteOf(now);
  }

  used(_limit: number, now: number): number {
    return minuteOf(now) === this.#minute ? this.#count : 0;
  }

  fullAt(_limit: number, now: number): number {
    return (minuteOf(now) + 1) * WINDOW_MS;
  }

  save(): readonly number[] {
    return [this.#minute, this.#count];
  }
}

function minuteOf(now: number): number {
  return Math.floor(now / WINDOW_MS);
}

/** Counts per minute from the first request: a window opens with a request and closes one minute later. */
export class FixedFirstRequest implements RateWindow {
  #openedAt: number;
  #count: number;

  constructor([openedAt = Number.NEGATIVE_INFINITY, count = 0]: readonly number[] = []) {
    this.#openedAt = openedAt;
    this.#count = count;
  }

  waitMs(limit: number, now: number): number {
    return this.used(limit, now) < limit ? 0 : this.#openedAt + WINDOW_MS - now;
  }

  count(limit: number, now: number): void {
    const used = this.used(limit, now);
    if (used === 0) this.#openedAt = now;
    this.#count = used + 1;
  }

  used(_limit: number, now: number): number {
    return now < this.#openedAt + WINDOW_MS ? this.#count : 0;
  }

  fullAt(limit: number, now: number): number {
    return (this.used(limit, now) > 0 ? this.#openedAt : now) + WINDOW_MS;
  }

  save(): readonly number[] {
    return this.#count === 0 ? [] : [this.#openedAt, this.#count];
  }
}
