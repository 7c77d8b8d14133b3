import type { QuotaData } from '../../generated/types.ts';
import { type Cancellation, type CancelSignal, SharedWork } from '../cancellation.ts';
import type { Clock, SteadyTime } from '../clock.ts';
import { FxRatesError, QuotaExhaustedError } from '../errors/errors.ts';
import { isExhausted } from './quota-ledger.ts';

/** Not until the reset: a change of plan can end the exhaustion at any time, and one refused call a minute finds out. */
const HOLDS_FOR_MS = 60_000;

/** Remembers for a short time that the month is used up, so that queued calls fail at once instead of one by one at the service. */
export class ExhaustedLatch {
  readonly #clock: Clock;
  #stop: { readonly since: number; readonly until: number; readonly quota: QuotaData } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The service refused a call, and its quota says why. */
  refused(quota: QuotaData): void {
    const since = this.#clock.now();
    this.#stop = { since, until: Math.min(since + HOLDS_FOR_MS, Date.parse(quota.resets_at)), quota };
  }

  sawQuota(quota: QuotaData): void {
    if (!isExhausted(quota)) this.#stop = undefined;
  }

  /** The service refused the key itself, so the quota no longer matters. */
  keyRefused(): void {
    this.#stop = undefined;
  }

  /** @throws QuotaExhaustedError marked `local` while the stop holds. */
  check(): void {
    if (this.#stop === undefined) return;
    const { since, until, quota } = this.#stop;
    const now = this.#clock.now();
    const isOver = now < since || now >= until; // before its beginning: the clock was set back
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

/** Refusals that come within this time of an answer are explained by it. */
const FRESH_MS = 1000;

/** Asks for the quota once for many refused calls at a time: a burst refused together is one question. */
export class QuotaCheck {
  readonly #clock: Clock;
  readonly #asking = new SharedWork<QuotaData | undefined>();
  #answer: { readonly quota: QuotaData | undefined; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The quota, or `undefined` when it cannot be had: then the refusal stands as it is. */
  async ask(
    load: (cancellation: Cancellation) => Promise<QuotaData>,
    signal: CancelSignal,
  ): Promise<QuotaData | undefined> {
    const answer = this.#answer;
    const ageMs = this.#clock.now() - (answer?.at ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs <= FRESH_MS) return answer?.quota;
    return this.#asking.join(async (question) => {
      const quota = await load(question).catch(() => undefined);
      if (!question.aborted) this.#answer = { quota, at: this.#clock.now() };
      return quota;
    }, signal);
  }
}

/** An answer that arrives sooner than this after the one before tells nothing new. */
const AGAIN_AT_SOONEST_MS = 60_000;

/**
 * Asks `quota` for the per-minute limit when calls begin to wait: one request instead of the refusals that learning the
 * limit would cost. Not again where the service refused the question.
 */
export class LimitQuestion {
  readonly #time: SteadyTime;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isRefused = false;
  #ask: (() => Promise<unknown>) | undefined;

  constructor(time: SteadyTime) {
    this.#time = time;
  }

  /** How to ask, in the name of the latest call that waits. */
  set ask(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  /** The limiter would like to know: asks, unless that was done just now. */
  readonly wanted = (): void => {
    const ask = this.#ask;
    if (ask === undefined || this.#isRefused || this.#time.now() - this.#askedAt < AGAIN_AT_SOONEST_MS) return;
    this.#askedAt = this.#time.now();
    ask().catch((error: unknown) => {
      this.#isRefused = isRefusal(error);
    });
  };
}

/** Whether the service does not answer the question for this key: 4xx, but not for the rate. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof FxRatesError ? error.status : undefined;
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}
