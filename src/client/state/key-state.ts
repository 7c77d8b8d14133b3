import type { QuotaData } from '../../generated/types.ts';
import type { Clock } from '../clock.ts';
import type { ClientSettings, RateLimitSettings } from '../config/settings.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { UNKNOWN_UNIT, type UnitState } from '../limits/retry-after.ts';
import { ExhaustedLatch, QuotaCheck } from '../quota/exhausted-latch.ts';
import { LimitQuestion } from '../quota/limit-question.ts';
import { QuotaLedger } from '../quota/quota-ledger.ts';
import { QUEUED_RETRIES, RetryBudget, UNQUEUED_RETRIES } from '../retry-policy.ts';
import { type KeyLimits, keyLimits } from './key-limits.ts';
import { RetryAfterUnitTracker } from './retry-after-unit-tracker.ts';
import { sharedOptions } from './shared-options.ts';
import { Subscribers } from './subscribers.ts';

/** What all calls with one key share, whichever client they come from. */
export class KeyState {
  /** The key, masked. */
  readonly key: string;
  /** Those of the client that came first. */
  readonly options: ReturnType<typeof sharedOptions>;
  /** `undefined` with `rateLimit: false`. */
  readonly limiter: RateLimiter | undefined;
  readonly retryBudget: RetryBudget;
  readonly quotaCheck: QuotaCheck;
  readonly exhaustedLatch: ExhaustedLatch;
  readonly ledger: QuotaLedger;
  /** The clients that get the events of waits. */
  readonly subscribers: Subscribers;
  readonly limitQuestion: LimitQuestion;
  /** The unit of Retry-After, where there is no limiter to learn it. */
  unit: UnitState = UNKNOWN_UNIT;
  readonly unitTracker: RetryAfterUnitTracker;
  readonly #clock: Clock;
  readonly #learnsLimit: boolean;

  constructor({ masked, hash }: ApiKey, settings: ClientSettings) {
    const { clock, rateLimit } = settings;
    this.key = masked;
    this.retryBudget = new RetryBudget(rateLimit === false ? UNQUEUED_RETRIES : QUEUED_RETRIES);
    this.options = sharedOptions(settings);
    this.#clock = clock;
    this.subscribers = new Subscribers(this, clock);
    this.limitQuestion = new LimitQuestion(settings.time);
    this.unitTracker = new RetryAfterUnitTracker(masked);
    this.quotaCheck = new QuotaCheck(clock);
    this.exhaustedLatch = new ExhaustedLatch(clock);
    this.ledger = new QuotaLedger(clock);
    this.#learnsLimit = rateLimit !== false && rateLimit.perMinute === 'learn';
    this.limiter =
      rateLimit === false ? undefined : createLimiter(this, stateName(hash, settings), { ...settings, rateLimit });
  }

  /**
   * A quota record has arrived: it has the plan's limit, and says whether the month is used up.
   * `spentBefore`: `ledger.spent` when the request was sent.
   */
  sawQuota(quota: QuotaData, spentBefore: number): void {
    this.exhaustedLatch.sawQuota(quota);
    this.ledger.sawQuota(quota, spentBefore);
    const perMinute = quota.rate_limit_per_minute;
    // A larger number is no limit that a client could reach.
    if (this.#learnsLimit && perMinute >= 1 && Number.isSafeInteger(perMinute)) this.limiter?.configure(perMinute);
  }

  /** Which calls wait, for what and until when; `undefined` without a queue. */
  limits(): KeyLimits | undefined {
    const view = this.limiter?.limits();
    return view && keyLimits(view, this.#clock.now());
  }

  isIdle(): boolean {
    return this.limiter?.isIdle ?? true;
  }
}

function createLimiter(
  { subscribers, limitQuestion }: KeyState,
  name: string,
  {
    rateLimit,
    maxRetryAfterMs,
    retryAfterUnit,
    clock,
    random,
  }: ClientSettings & { readonly rateLimit: RateLimitSettings },
): RateLimiter {
  const { store, ...limit } = rateLimit;
  return new RateLimiter({
    ...limit,
    ...{ maxRetryAfterMs, retryAfterUnit, clock, random },
    onWait: subscribers.tell,
    onLimitWanted: limitQuestion.wanted,
    shared: store && { store, name },
    onOutage: (reason) =>
      subscribers.warn(
        `rateLimit.store: the store failed (${reason}); this process uses its share of the limit until the store responds again`,
      ),
  });
}

/** Names the state of a key; clients that queue and clients that do not cannot share one. */
export function stateName(hash: string, { baseUrl, rateLimit }: ClientSettings): string {
  return `${new URL(baseUrl).origin}#${hash}${rateLimit === false ? '#unqueued' : ''}`;
}
