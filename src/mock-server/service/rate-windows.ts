import { type PlanName, plans } from '../../generated/service.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';

/** Length of the per-minute window. Windows are `[start, end)`: at `end` the next one applies. */
export const WINDOW_MS = 60_000;

/** Requests per minute that the plan of an account allows. */
export function limitPerMinute({ plan }: { readonly plan: PlanName }): number {
  return plans[plan].rateLimitPerMinute;
}

/**
 * The usage of a key's per-minute limit, for one kind of window.
 * `limit` is a parameter of each method, because a change of plan changes it within a window.
 * Times are milliseconds since the Unix epoch and never go back.
 */
export interface RateWindow {
  /** Milliseconds until a request is within the limit; 0 if one is at `now`. */
  waitMs(limit: number, now: number): number;
  /** Counts one request at `now`, also one above the limit. */
  count(limit: number, now: number): void;
  /** Requests that count at `now`. */
  used(limit: number, now: number): number;
  /** Time at which the full limit is available again if nothing more is sent; `now` if it is available. */
  fullAt(limit: number, now: number): number;
  /** Its state as numbers, from which a window of the same kind can be created. */
  save(): readonly number[];
}

/** Counts per minute from the first request: a window opens with a request and closes one minute later. */
class FixedFirstRequest implements RateWindow {
  #openedAt: number;
  #count: number;

  constructor([openedAt = Number.NEGATIVE_INFINITY, count = 0]: readonly number[] = []) {
    this.#openedAt = openedAt;
    this.#count = count;
  }

  /** When the window of a first request at `now` opens. */
  opensAt(now: number): number {
    return now;
  }

  waitMs(limit: number, now: number): number {
    return this.used(limit, now) < limit ? 0 : this.fullAt(limit, now) - now;
  }

  count(limit: number, now: number): void {
    const used = this.used(limit, now);
    if (used === 0) this.#openedAt = this.opensAt(now);
    this.#count = used + 1;
  }

  used(_limit: number, now: number): number {
    return now < this.#openedAt + WINDOW_MS ? this.#count : 0;
  }

  fullAt(limit: number, now: number): number {
    return this.used(limit, now) > 0 ? this.#openedAt + WINDOW_MS : now;
  }

  save(): readonly number[] {
    return this.#count === 0 ? [] : [this.#openedAt, this.#count];
  }
}

/** Counts per full UTC minute. Around the start of a minute, up to twice the limit is accepted. */
class FixedEpoch extends FixedFirstRequest {
  override opensAt(now: number): number {
    return now - (now % WINDOW_MS);
  }
}

/** Counts the requests of the last 60 seconds by their times, so no minute has more requests than the limit. */
class SlidingLog implements RateWindow {
  /** Ascending. Those before `first` are outside the window and removed from time to time. */
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
    // A list created with its first element takes a sixth of the memory of one that grows by `push`.
    if (this.#times.length === this.#first) this.#times = [now];
    else this.#times.push(now);
    // Refused requests may count too. Those before the newest `limit` requests have no effect.
    this.#first = Math.max(this.#first, this.#times.length - limit);
  }

  used(_limit: number, now: number): number {
    this.#forget(now);
    return this.#times.length - this.#first;
  }

  fullAt(_limit: number, now: number): number {
    return Math.max(now, (this.#times.at(-1) ?? now - WINDOW_MS) + WINDOW_MS);
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
 * Two counters: that of this minute, and that of the last minute, weighted by its part in the last 60 seconds.
 * The unit is milliseconds times requests, so that there are no rounding errors.
 */
class SlidingCounter implements RateWindow {
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
    // It fits at the latest in the minute after the next one, in which no request of the current minute counts.
    const counters = [this.#previous, this.#current, 0, 0];
    const waits = [0, 1, 2].map((later) => {
      const [previous = 0, current = 0] = counters.slice(later);
      const end = (this.#minute + later + 1) * WINDOW_MS;
      const room = limit - current - 1;
      const remaining = previous === 0 ? WINDOW_MS : Math.floor((room * WINDOW_MS) / previous);
      const at = Math.max(now, end - Math.min(remaining, WINDOW_MS));
      return room >= 0 && at < end ? at - now : Number.POSITIVE_INFINITY;
    });
    return Math.min(...waits);
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

  fullAt(limit: number, now: number): number {
    return this.used(limit, now) === 0 ? now : (this.#minute + (this.#current > 0 ? 2 : 1)) * WINDOW_MS;
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

/**
 * A bucket of `limit` tokens that refills evenly within a minute. A request uses one.
 * A token is 60 000 units, so that the bucket refills by `limit` units per millisecond, without rounding errors.
 */
class TokenBucket implements RateWindow {
  /** Units missing to a full bucket, at `missingAt`. Unlike the units left, they need no conversion for a new limit. */
  #missing: number;
  #missingAt: number;

  constructor([missing = 0, missingAt = 0]: readonly number[] = []) {
    this.#missing = missing;
    this.#missingAt = missingAt;
  }

  waitMs(limit: number, now: number): number {
    const tooMuch = this.#missingNow(limit, now) + TOKEN - limit * TOKEN;
    return tooMuch <= 0 ? 0 : Math.ceil(tooMuch / limit);
  }

  count(limit: number, now: number): void {
    this.#missing = Math.min(this.#missingNow(limit, now) + TOKEN, mostMissing(limit));
    this.#missingAt = now;
  }

  used(limit: number, now: number): number {
    return Math.min(limit, Math.ceil(this.#missingNow(limit, now) / TOKEN));
  }

  fullAt(limit: number, now: number): number {
    return now + Math.ceil(this.#missingNow(limit, now) / limit);
  }

  save(): readonly number[] {
    return [this.#missing, this.#missingAt];
  }

  #missingNow(limit: number, now: number): number {
    return Math.max(0, Math.min(this.#missing, mostMissing(limit)) - (now - this.#missingAt) * limit);
  }
}

const TOKEN = WINDOW_MS;

/** Limits the wait to one window, also if refused requests count or the limit of the plan becomes smaller. */
function mostMissing(limit: number): number {
  return (2 * limit - 1) * TOKEN;
}

/** The kinds of per-minute windows, by the value of the switch `rateWindow`. Created empty, or from `save()`. */
export const rateWindows: Readonly<
  Record<BehaviourValues['rateWindow'], new (saved?: readonly number[]) => RateWindow>
> = {
  'sliding-log': SlidingLog,
  'fixed-epoch': FixedEpoch,
  'fixed-first-request': FixedFirstRequest,
  'sliding-counter': SlidingCounter,
  'token-bucket': TokenBucket,
};
