import type { QuotaData } from '../../generated/types.ts';
import type { Clock } from '../clock.ts';
import type { ClientSettings, RateLimitSettings } from '../config/settings.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { RetryAfterReader } from '../limits/retry-after-reader.ts';
import { Pacer } from '../quota/pacer.ts';
import { QuotaCheck } from '../quota/quota-check.ts';
import { QuotaLedger } from '../quota/quota-ledger.ts';
import { QuotaStop } from '../quota/quota-stop.ts';
import { RetryBudget } from '../retry-budget.ts';
import { Audience } from './audience.ts';
import { type KeyLimits, keyLimits } from './key-limits.ts';
import { sharedOptions } from './shared-options.ts';
import { UnitNotice } from './unit-notice.ts';

/** What all calls with one key share, whichever client they come from. */
export class KeyState {
  /** The key, masked. */
  readonly key: string;
  /** Those of the client that came first. */
  readonly options: ReturnType<typeof sharedOptions>;
  /** `undefined` with `rateLimit: false`. */
  readonly limiter: RateLimiter | undefined;
  readonly retryBudget = new RetryBudget();
  readonly quotaCheck: QuotaCheck;
  readonly quotaStop: QuotaStop;
  readonly ledger: QuotaLedger;
  readonly pacer: Pacer;
  /** The clients that want to hear of waits. */
  readonly audience: Audience;
  /** Reads Retry-After where there is no limiter to do it. */
  readonly reader: RetryAfterReader;
  readonly unitNotice: UnitNotice;
  readonly #clock: Clock;
  readonly #learnsLimit: boolean;

  constructor({ masked, hash }: ApiKey, settings: ClientSettings) {
    const { clock, rateLimit, retryAfterUnit } = settings;
    this.key = masked;
    this.options = sharedOptions(settings);
    this.#clock = clock;
    this.audience = new Audience(this, clock);
    this.reader = new RetryAfterReader(retryAfterUnit);
    this.unitNotice = new UnitNotice(masked);
    this.quotaCheck = new QuotaCheck(clock);
    this.quotaStop = new QuotaStop(clock);
    this.ledger = new QuotaLedger(clock);
    this.pacer = new Pacer(clock, this.ledger);
    this.#learnsLimit = rateLimit !== false && rateLimit.perMinute === 'learn';
    this.limiter =
      rateLimit === false
        ? undefined
        : createLimiter(this.audience, stateName(hash, settings), { ...settings, rateLimit });
  }

  /**
   * The service told the quota: the plan's limit is known from now on, and whether the month is used up.
   * `spentBefore`: what the ledger said when the question was sent.
   */
  sawQuota(quota: QuotaData, spentBefore: number): void {
    this.quotaStop.sawQuota(quota);
    this.ledger.sawQuota(quota, spentBefore);
    const perMinute = quota.rate_limit_per_minute;
    if (this.#learnsLimit && perMinute >= 1) this.limiter?.tellLimit(perMinute);
  }

  /** Who waits, for what and until when; `undefined` without a queue. */
  limits(): KeyLimits | undefined {
    const view = this.limiter?.limits();
    return view && keyLimits(view, { nowMs: this.#clock.now(), paced: this.pacer.waiting });
  }

  isIdle(): boolean {
    if (this.pacer.waiting > 0) return false;
    const view = this.limiter?.limits();
    return view === undefined || (view.waiting === 0 && view.inFlight === 0);
  }
}

function createLimiter(
  audience: Audience,
  name: string,
  { rateLimit, maxRetryAfterMs, retryAfterUnit, clock }: ClientSettings & { readonly rateLimit: RateLimitSettings },
): RateLimiter {
  const { store, ...limit } = rateLimit;
  return new RateLimiter({
    ...limit,
    ...{ maxRetryAfterMs, retryAfterUnit, clock },
    onWait: audience.tell,
    shared: store && { store, name },
    onOutage: (reason) =>
      audience.warn(
        `rateLimit.store: the shared limit cannot be used (${reason}); this process goes on with its share of it until the store answers again`,
      ),
  });
}

/** Names the state of a key; clients that queue and clients that do not cannot share one. */
export function stateName(hash: string, { baseUrl, rateLimit }: ClientSettings): string {
  return `${new URL(baseUrl).origin}#${hash}${rateLimit === false ? '#unqueued' : ''}`;
}
