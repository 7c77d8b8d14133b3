/** Possible meanings of "n requests per minute" on a server. */
export type WindowKind = 'fixed-minute' | 'fixed-first-hit' | 'sliding' | 'bucket';

/** Forms of Retry-After. `floor` is too small by up to a second; `const60` is 60 for every wait. */
export type HintForm = 'seconds' | 'fraction' | 'milliseconds' | 'date' | 'absent' | 'floor' | 'const60';

export const WINDOW_KINDS: readonly WindowKind[] = ['fixed-minute', 'fixed-first-hit', 'sliding', 'bucket'];
export const HINT_FORMS: readonly HintForm[] = [
  'seconds',
  'fraction',
  'milliseconds',
  'date',
  'absent',
  'floor',
  'const60',
];

/** One limit: milliseconds until it accepts a request (0: now), and the change that an accepted request makes. */
interface Limit {
  waitMs(now: number): number;
  accept(now: number): void;
}

export interface ServerOptions {
  readonly window: WindowKind;
  readonly limit: number;
  readonly hint: HintForm;
  /** Size of the token bucket. Default: the limit. */
  readonly burst?: number;
  /** A second limit in a sliding window of one second. Default: none. */
  readonly perSecond?: number;
  /** Server clock minus client clock. Default: 0. */
  readonly skewMs?: number;
}

export interface SimulatedResponse {
  readonly status: 200 | 429;
  readonly date: string;
  readonly retryAfter: string | undefined;
}

/** A server that counts only accepted requests. Times are those of the simulation; its own clock is skewed. */
export class LimitedServer {
  readonly #limits: Limit[];
  readonly #hint: HintForm;
  readonly #skewMs: number;
  accepted = 0;
  refused = 0;

  constructor({ window, limit, hint, burst = limit, perSecond, skewMs = 0 }: ServerOptions) {
    this.#limits = [createLimit(window, limit, { burst, skewMs })];
    if (perSecond !== undefined) this.#limits.push(new SlidingLog(perSecond, 1_000));
    this.#hint = hint;
    this.#skewMs = skewMs;
  }

  waitMs(now: number): number {
    return Math.max(...this.#limits.map((limit) => limit.waitMs(now)));
  }

  receive(now: number): SimulatedResponse {
    const waitMs = this.waitMs(now);
    const date = httpDate(Math.floor((now + this.#skewMs) / 1000));
    if (waitMs <= 0) {
      this.accepted += 1;
      for (const limit of this.#limits) limit.accept(now);
      return { status: 200, date, retryAfter: undefined };
    }
    this.refused += 1;
    return { status: 429, date, retryAfter: this.#retryAfter(now, waitMs) };
  }

  #retryAfter(now: number, waitMs: number): string | undefined {
    switch (this.#hint) {
      case 'seconds':
        return String(Math.ceil(waitMs / 1000));
      case 'fraction':
        return (Math.ceil(waitMs) / 1000).toFixed(3);
      case 'milliseconds':
        return String(Math.ceil(waitMs));
      case 'date':
        return httpDate(Math.ceil((now + this.#skewMs + waitMs) / 1000));
      case 'floor':
        return String(Math.floor(waitMs / 1000));
      case 'const60':
        return '60';
      case 'absent':
        return undefined;
    }
  }
}

function httpDate(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toUTCString();
}

function createLimit(
  window: WindowKind,
  limit: number,
  { burst, skewMs }: { readonly burst: number; readonly skewMs: number },
): Limit {
  if (window === 'sliding') return new SlidingLog(limit, 60_000);
  if (window === 'bucket') return new TokenBucket(burst, limit / 60_000);
  return new FixedWindow(limit, window === 'fixed-minute' ? skewMs : undefined);
}

/** A window starts on the server's minute. Without `skewMs`, it starts with the first request after the last window. */
class FixedWindow implements Limit {
  readonly #limit: number;
  readonly #skewMs: number | undefined;
  #endsAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(limit: number, skewMs: number | undefined) {
    this.#limit = limit;
    this.#skewMs = skewMs;
  }

  waitMs(now: number): number {
    return now >= this.#endsAt || this.#count < this.#limit ? 0 : this.#endsAt - now;
  }

  accept(now: number): void {
    if (now >= this.#endsAt) {
      this.#count = 0;
      this.#endsAt =
        this.#skewMs === undefined
          ? now + 60_000
          : (Math.floor((now + this.#skewMs) / 60_000) + 1) * 60_000 - this.#skewMs;
    }
    this.#count += 1;
  }
}

class SlidingLog implements Limit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #times: number[] = [];
  #head = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  waitMs(now: number): number {
    while (this.#times[this.#head]! + this.#windowMs <= now) this.#head += 1;
    const over = this.#times.length - this.#head - this.#limit;
    return over < 0 ? 0 : this.#times[this.#head + over]! + this.#windowMs - now;
  }

  accept(now: number): void {
    this.#times.push(now);
  }
}

class TokenBucket implements Limit {
  readonly #capacity: number;
  readonly #perMs: number;
  #tokens: number;
  #at = 0;

  constructor(capacity: number, perMs: number) {
    this.#capacity = capacity;
    this.#perMs = perMs;
    this.#tokens = capacity;
  }

  waitMs(now: number): number {
    const tokens = this.#tokensAt(now);
    return tokens >= 1 - 1e-9 ? 0 : (1 - tokens) / this.#perMs;
  }

  accept(now: number): void {
    this.#tokens = this.#tokensAt(now) - 1;
    this.#at = now;
  }

  #tokensAt(now: number): number {
    return Math.min(this.#capacity, this.#tokens + (now - this.#at) * this.#perMs);
  }
}
