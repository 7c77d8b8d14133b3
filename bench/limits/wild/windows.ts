/**
 * `fixed-minute` starts with the clock's minute, `fixed-first-hit` with the first request. `sliding-log` keeps every
 * request. `sliding-counter` weighs the previous window's count. `bucket` refills evenly.
 */
export type WindowKind = 'fixed-minute' | 'fixed-first-hit' | 'sliding-log' | 'sliding-counter' | 'bucket';

export interface WindowOptions {
  readonly kind: WindowKind;
  readonly limit: number;
  /** Default: 60 000. */
  readonly windowMs?: number;
  /** Size of the bucket. Default: the limit. */
  readonly burst?: number;
}

export function createWindow({ kind, limit, windowMs = 60_000, burst }: WindowOptions): Window {
  switch (kind) {
    case 'fixed-minute':
      return new FixedWindow(limit, windowMs, (now) => now - (now % windowMs));
    case 'fixed-first-hit':
      return new FixedWindow(limit, windowMs, (now) => now);
    case 'sliding-log':
      return new SlidingLog(limit, windowMs);
    case 'sliding-counter':
      return new SlidingCounter(limit, windowMs);
    case 'bucket':
      return new TokenBucket(limit, windowMs, burst);
  }
}

/** One limit of a server. It counts only accepted requests. */
export abstract class Window {
  protected limit: number;
  protected readonly windowMs: number;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.windowMs = windowMs;
  }

  /** Milliseconds until a request would be accepted; 0 for now. */
  abstract waitMs(now: number): number;
  abstract accept(now: number): void;

  setLimit(limit: number, _now: number): void {
    this.limit = limit;
  }
}

class FixedWindow extends Window {
  readonly #startOf: (now: number) => number;
  #start = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(limit: number, windowMs: number, startOf: (now: number) => number) {
    super(limit, windowMs);
    this.#startOf = startOf;
  }

  waitMs(now: number): number {
    const endsAt = this.#start + this.windowMs;
    return now >= endsAt || this.#count < this.limit ? 0 : endsAt - now;
  }

  accept(now: number): void {
    if (now >= this.#start + this.windowMs) {
      this.#start = this.#startOf(now);
      this.#count = 0;
    }
    this.#count += 1;
  }
}

class SlidingLog extends Window {
  #accepted: number[] = [];

  waitMs(now: number): number {
    // The oldest request that must leave the window before another one fits.
    const blocking = this.#accepted[this.#accepted.length - this.limit];
    return blocking === undefined ? 0 : Math.max(0, blocking + this.windowMs - now);
  }

  accept(now: number): void {
    this.#accepted.push(now);
    if (this.#accepted.length > 2 * this.limit + 64) {
      this.#accepted = this.#accepted.filter((at) => at > now - this.windowMs);
    }
  }
}

/**
 * Counts as Cloudflare and Upstash do: this window plus the previous one, weighted by how much of it is less than a
 * window ago.
 */
class SlidingCounter extends Window {
  #start = Number.NEGATIVE_INFINITY;
  #count = 0;
  #previous = 0;

  waitMs(now: number): number {
    this.#roll(now);
    if (this.#fits(now)) return 0;
    const endsAt = this.#start + this.windowMs;
    const isFull = this.#count >= this.limit;
    // If the window is full, its own count decreases from the next window on.
    const fadesFrom = isFull ? endsAt : this.#start;
    const fading = isFull ? this.#count : this.#previous;
    const room = isFull ? this.limit : this.limit - this.#count;
    const part = Math.max(0, 1 - room / fading);
    return Math.floor(fadesFrom + part * this.windowMs) + 1 - now;
  }

  accept(now: number): void {
    this.#roll(now);
    this.#count += 1;
  }

  #fits(now: number): boolean {
    const weight = 1 - (now - this.#start) / this.windowMs;
    return Math.floor(this.#previous * weight) + this.#count < this.limit;
  }

  #roll(now: number): void {
    const start = now - (now % this.windowMs);
    if (start === this.#start) return;
    this.#previous = start === this.#start + this.windowMs ? this.#count : 0;
    this.#start = start;
    this.#count = 0;
  }
}

class TokenBucket extends Window {
  readonly #burst: number | undefined;
  #tokens: number;
  #at: number | undefined;

  constructor(limit: number, windowMs: number, burst: number | undefined) {
    super(limit, windowMs);
    this.#burst = burst;
    this.#tokens = this.#size();
  }

  waitMs(now: number): number {
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * this.windowMs) / this.limit;
  }

  accept(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  override setLimit(limit: number, now: number): void {
    this.#refill(now);
    this.limit = limit;
    this.#tokens = Math.min(this.#tokens, this.#size());
  }

  #size(): number {
    return this.#burst ?? this.limit;
  }

  #refill(now: number): void {
    if (this.#at !== undefined && now > this.#at) {
      const tokens = this.#tokens + ((now - this.#at) * this.limit) / this.windowMs;
      // A remainder below one token that is only a rounding error counts as a whole token.
      this.#tokens = Math.min(this.#size(), Math.abs(tokens - Math.round(tokens)) < 1e-6 ? Math.round(tokens) : tokens);
    }
    this.#at = Math.max(this.#at ?? now, now);
  }
}
