import type { QuotaData } from '../../generated/types.ts';
import { type Cancellation, type CancelSignal, SharedWork } from '../cancellation.ts';
import type { Clock, SteadyTime } from '../clock.ts';
import { FxRatesError, QuotaExhaustedError, RateLimitError } from '../errors/errors.ts';
import { isExhausted } from './quota-ledger.ts';

/** Shorter than the time until the reset: a change of plan can restore the quota, and one refused call a minute detects it. */
const LATCHED_FOR_MS = 60_000;

/** Rejects calls for a short time after a refusal with an exhausted quota, so that queued calls do not each send a request. */
export class ExhaustedLatch {
  readonly #clock: Clock;
  #exhausted: { readonly since: number; readonly until: number; readonly quota: QuotaData } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The service refused a call, and its quota is exhausted. */
  refused(quota: QuotaData): void {
    const since = this.#clock.now();
    this.#exhausted = { since, until: Math.min(since + LATCHED_FOR_MS, Date.parse(quota.resets_at)), quota };
  }

  sawQuota(quota: QuotaData): void {
    if (!isExhausted(quota)) this.#exhausted = undefined;
  }

  /** The service refused the key itself, so the quota no longer matters. */
  keyRefused(): void {
    this.#exhausted = undefined;
  }

  /** @throws QuotaExhaustedError marked `local`, for a minute after a refusal. */
  check(): void {
    if (this.#exhausted === undefined) return;
    const { since, until, quota } = this.#exhausted;
    const now = this.#clock.now();
    const isOver = now < since || now >= until; // before its beginning if the clock was set back
    if (isOver) return;
    throw new QuotaExhaustedError(
      `${quotaMessage(quota)}; not sent, because the service reported it less than a minute ago`,
      {
        quota,
        local: true,
      },
    );
  }
}

export function quotaMessage({ monthly_used: used, monthly_limit: limit, resets_at: resetsAt }: QuotaData): string {
  return `The monthly quota is used up: ${used} of ${limit} requests, resets at ${resetsAt}`;
}

/** A refusal within this time after a record is explained by it. */
const SAME_REFUSAL_MS = 1000;

/** Calls `quota()` once for many calls that are refused together. */
export class QuotaCheck {
  readonly #clock: Clock;
  readonly #loading = new SharedWork<QuotaData | undefined>();
  #known: { readonly quota: QuotaData | undefined; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The quota record; `undefined` if `quota()` fails: then the refusal is unchanged. */
  async check(
    load: (cancellation: Cancellation) => Promise<QuotaData>,
    signal: CancelSignal,
  ): Promise<QuotaData | undefined> {
    const known = this.#known;
    const ageMs = this.#clock.now() - (known?.at ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs <= SAME_REFUSAL_MS) return known?.quota;
    return this.#loading.join(async (cancellation) => {
      const quota = await load(cancellation).catch(() => undefined);
      if (!cancellation.aborted) this.#known = { quota, at: this.#clock.now() };
      return quota;
    }, signal);
  }
}

/** Minimum interval: the limit seldom changes. It doubles each time that the rate limit refuses the call. */
const MIN_INTERVAL_MS = 60_000;

/**
 * Calls `quota()` for the per-minute limit when calls begin to wait: one request instead of the refusals that learning the
 * limit would cause. Not again if the service refused it.
 */
export class LimitLookup {
  readonly #time: SteadyTime;
  #startedAt = Number.NEGATIVE_INFINITY;
  #intervalMs = MIN_INTERVAL_MS;
  #isRefused = false;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  /** Calls `quota()` on behalf of a call that waits, because the limiter wants the limit. */
  start(fetch: () => Promise<unknown>): void {
    if (this.#isRefused || this.#time.now() - this.#startedAt < this.#intervalMs) return;
    this.#startedAt = this.#time.now();
    fetch().catch((error: unknown) => {
      this.#isRefused = isRefusal(error);
      if (error instanceof RateLimitError) this.#intervalMs *= 2;
    });
  }
}

/** Whether the service refuses `quota()` for this key: 4xx, but not 429. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof FxRatesError ? error.status : undefined;
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}
