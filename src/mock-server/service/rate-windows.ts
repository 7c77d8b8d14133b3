import { type PlanName, plans } from '../../generated/service.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';

export const MINUTE_MS = 60_000;

/** How many requests a key may send per window. Windows are `[start, end)`: at `end` the next one applies. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** The per-minute limit that the plan of an account allows. */
const planLimits = Object.fromEntries(
  Object.entries(plans).map(([plan, { rateLimitPerMinute }]) => [
    plan,
    { requests: rateLimitPerMinute, windowMs: MINUTE_MS },
  ]),
) as Readonly<Record<PlanName, RateLimit>>;

/** What the rate limit of a key depends on. */
interface LimitedKey {
  readonly account: { readonly plan: PlanName };
  readonly limits?: { readonly [Name in keyof RateLimit]?: number | undefined } | undefined;
}

/** The rate limit of a key: its own, or that of its plan. */
export function rateLimitOf({ account, limits }: LimitedKey): RateLimit {
  const ofPlan = planLimits[account.plan];
  return limits === undefined
    ? ofPlan
    : { requests: limits.requests ?? ofPlan.requests, windowMs: limits.windowMs ?? ofPlan.windowMs };
}

/**
 * The usage of a key's rate limit, for one kind of window.
 * `limit` is a parameter of each method, because a change of plan changes its `requests` within a window. The length of the
 * window of a key never changes.
 * Times are milliseconds since the Unix epoch and never go back.
 */
export interface RateWindow {
  /** Milliseconds until a request is within the limit; 0 if one is at `now`. */
  waitMs(limit: RateLimit, now: number): number;
  /** Counts `added` requests at `now`, also above the limit. Default: one. */
  count(limit: RateLimit, now: number, added?: number): void;
  /** Requests that count at `now`. */
  used(limit: RateLimit, now: number): number;
  /** Time at which the full limit is available again if nothing more is sent; `now` if it is available. */
  fullAt(limit: RateLimit, now: number): number;
  /** Its state as numbers, from which a window of the same kind can be created. */
  save(): readonly number[];
}

/** Counts from the first request: a window opens with a request and closes after its length. */
class FixedFirstRequest implements RateWindow {
  #openedAt: number;
  #count: number;

  constructor([openedAt = Number.NEGATIVE_INFINITY, count = 0]: readonly number[] = []) {
    this.#openedAt = openedAt;
    this.#count = count;
  }

  /** When the window of a first request at `now` opens. */
  opensAt(_limit: RateLimit, now: number): number {
    return now;
  }

  waitMs(limit: RateLimit, now: number): number {
    return this.used(limit, now) < limit.requests ? 0 : this.fullAt(limit, now) - now;
  }

  count(limit: RateLimit, now: number, added = 1): void {
    const used = this.used(limit, now);
    if (used === 0) this.#openedAt = this.opensAt(limit, now);
    this.#count = used + added;
  }

  used({ windowMs }: RateLimit, now: number): number {
    return now < this.#openedAt + windowMs ? this.#count : 0;
  }

  fullAt(limit: RateLimit, now: number): number {
    return this.used(limit, now) > 0 ? this.#openedAt + limit.windowMs : now;
  }

  save(): readonly number[] {
    return this.#count === 0 ? [] : [this.#openedAt, this.#count];
  }
}

/** Counts per full UTC minute, or other length since 1970. Around its start, up to twice the limit is accepted. */
class FixedEpoch extends FixedFirstRequest {
  override opensAt({ windowMs }: RateLimit, now: number): number {
    return now - (now % windowMs);
  }
}

/** Counts the requests of the last window by their times, so no window at all has more requests than the limit. */
class SlidingLog implements RateWindow {
  /** Ascending. Those before `first` are outside the window and removed from time to time. */
  #times: number[];
  #first = 0;

  constructor(saved: readonly number[] = []) {
    this.#times = saved.slice();
  }

  waitMs(limit: RateLimit, now: number): number {
    const over = this.used(limit, now) - limit.requests;
    return over < 0 ? 0 : (this.#times[this.#first + over] ?? now) + limit.windowMs - now;
  }

  count({ requests }: RateLimit, now: number, added = 1): void {
    // A list created with its first element takes a sixth of the memory of one that grows by `push`.
    if (this.#times.length === this.#first) this.#times = [now];
    else this.#times.push(now);
    for (let more = 1; more < added; more += 1) this.#times.push(now);
    // Refused requests may count too. Those before the newest `requests` have no effect.
    this.#first = Math.max(this.#first, this.#times.length - requests);
  }

  used({ windowMs }: RateLimit, now: number): number {
    this.#forget(now - windowMs);
    return this.#times.length - this.#first;
  }

  fullAt({ windowMs }: RateLimit, now: number): number {
    return Math.max(now, (this.#times.at(-1) ?? now - windowMs) + windowMs);
  }

  save(): readonly number[] {
    return this.#times.slice(this.#first);
  }

  #forget(until: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= until) this.#first += 1;
    const isMostlyPast = this.#first > 16 && this.#first * 2 > this.#times.length;
    if (!isMostlyPast && this.#first < this.#times.length) return;
    this.#times = this.#times.slice(this.#first);
    this.#first = 0;
  }
}

/**
 * Two counters: that of this minute, and that of the last minute, weighted by its part in the last 60 seconds. A "minute" has
 * the length of the window.
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

  waitMs(limit: RateLimit, now: number): number {
    const { requests, windowMs } = limit;
    this.#turnTo(windowMs, now);
    // It fits at the latest in the minute after the next one, in which no request of the current minute counts.
    const counters = [this.#previous, this.#current, 0, 0];
    const waits = [0, 1, 2].map((later) => {
      const [previous = 0, current = 0] = counters.slice(later);
      const end = (this.#minute + later + 1) * windowMs;
      const room = requests - current - 1;
      const remaining = previous === 0 ? windowMs : Math.floor((room * windowMs) / previous);
      const at = Math.max(now, end - Math.min(remaining, windowMs));
      return room >= 0 && at < end ? at - now : Number.POSITIVE_INFINITY;
    });
    return Math.min(...waits);
  }

  count({ windowMs }: RateLimit, now: number, added = 1): void {
    this.#turnTo(windowMs, now);
    this.#current += added;
  }

  used({ requests, windowMs }: RateLimit, now: number): number {
    this.#turnTo(windowMs, now);
    const leftMs = (this.#minute + 1) * windowMs - now;
    return Math.min(requests, Math.ceil((this.#previous * leftMs) / windowMs) + this.#current);
  }

  fullAt(limit: RateLimit, now: number): number {
    return this.used(limit, now) === 0 ? now : (this.#minute + (this.#current > 0 ? 2 : 1)) * limit.windowMs;
  }

  save(): readonly number[] {
    return [this.#minute, this.#previous, this.#current];
  }

  #turnTo(windowMs: number, now: number): void {
    const minute = Math.floor(now / windowMs);
    if (minute === this.#minute) return;
    this.#previous = minute === this.#minute + 1 ? this.#current : 0;
    this.#current = 0;
    this.#minute = minute;
  }
}

/**
 * A bucket of `requests` tokens that refills evenly within a window. A request uses one.
 * A token is `windowMs` units, so that the bucket refills by `requests` units per millisecond, without rounding errors.
 */
class TokenBucket implements RateWindow {
  /** Units missing to a full bucket, at `missingAt`. Unlike the units left, they need no conversion for a new limit. */
  #missing: number;
  #missingAt: number;

  constructor([missing = 0, missingAt = 0]: readonly number[] = []) {
    this.#missing = missing;
    this.#missingAt = missingAt;
  }

  waitMs(limit: RateLimit, now: number): number {
    const { requests, windowMs } = limit;
    const tooMuch = this.#missingNow(limit, now) + windowMs - requests * windowMs;
    return tooMuch <= 0 ? 0 : Math.ceil(tooMuch / requests);
  }

  count(limit: RateLimit, now: number, added = 1): void {
    this.#missing = Math.min(this.#missingNow(limit, now) + added * limit.windowMs, mostMissing(limit));
  }

  used(limit: RateLimit, now: number): number {
    return Math.min(limit.requests, Math.ceil(this.#missingNow(limit, now) / limit.windowMs));
  }

  fullAt(limit: RateLimit, now: number): number {
    return now + Math.ceil(this.#missingNow(limit, now) / limit.requests);
  }

  save(): readonly number[] {
    return [this.#missing, this.#missingAt];
  }

  #missingNow(limit: RateLimit, now: number): number {
    const refilled = (now - this.#missingAt) * limit.requests;
    this.#missing = Math.max(0, Math.min(this.#missing, mostMissing(limit)) - refilled);
    this.#missingAt = now;
    return this.#missing;
  }
}

/** Limits the wait to one window, also if refused requests count or the limit of the plan becomes smaller. */
function mostMissing({ requests, windowMs }: RateLimit): number {
  return (2 * requests - 1) * windowMs;
}

/** The kinds of windows, by the value of the switch `rateWindow`. Created empty, or from `save()`. */
export const rateWindows: Readonly<
  Record<BehaviourValues['rateWindow'], new (saved?: readonly number[]) => RateWindow>
> = {
  'sliding-log': SlidingLog,
  'fixed-epoch': FixedEpoch,
  'fixed-first-request': FixedFirstRequest,
  'sliding-counter': SlidingCounter,
  'token-bucket': TokenBucket,
};
