import type { QuotaData } from '../../generated/types.ts';
import type { Call } from '../call/call.ts';
import { QuotaExhaustedError } from '../errors/errors.ts';
import { callHook } from '../errors/program-values.ts';
import type { QuotaEstimate, QuotaGuardOptions } from '../options/client-options.ts';
import type { KeyState } from '../state/key-state.ts';
import { type QuotaLedger, SHARED_KEY_MS } from '../state/quota-ledger.ts';
import { perMinuteIn, remainingOf, resetsAtMsIn } from '../state/quota-record.ts';
import { type Lookup, refreshQuota } from './quota-lookup.ts';
import type { StepContext } from './send.ts';

/** Before the guard rejects a call, it updates an older record, because the plan may have changed. */
const CERTAIN_MS = 60_000;
/** No record is young enough, not even one of this millisecond. */
const NO_AGE = -1;
/** A record that is younger is not updated: `quota()` uses the limit per minute as well. */
const YOUNG_MS = 1_000;
/** The limit of a plan whose record does not name it. */
const UNKNOWN_PER_MINUTE = 1_000;

/**
 * Rejects calls if only the reserve of the monthly quota is left, by an estimate: the last quota record and the requests
 * of this process since then. Calls of high priority may use the reserve.
 */
export class QuotaGuard {
  readonly #context: StepContext;
  readonly #options: QuotaGuardOptions;
  #reportedFor: string | undefined;

  constructor(context: StepContext, options: QuotaGuardOptions) {
    this.#context = context;
    this.#options = options;
  }

  /**
   * Reserves a request for a call, which may then wait for the limit. `false` if the record is too old and could not be
   * updated. @throws QuotaExhaustedError if only the reserve is left
   */
  async admit(lookup: Lookup): Promise<boolean> {
    const { call, state } = lookup;
    const { quota } = state;
    let isKnown = true;
    if (!isExempt(call)) {
      if (!this.#isCertain(quota, quota.available())) isKnown = await this.update(lookup);
      this.#require(quota, quota.available());
    }
    if (call.endpoint.consumesQuota) quota.reserve(call); // in the tick of the check, because other calls would pass it, too
    return isKnown;
  }

  /**
   * Before a call that has waited: starts an update of the record if it is not certain. `false` if the call must wait for an
   * update, because only the reserve is left by this record.
   */
  checkRecord(lookup: Lookup): boolean {
    const { call, state } = lookup;
    const { quota } = state;
    const left = quota.availableTo(call);
    if (isExempt(call) || this.#isCertain(quota, left)) return true;
    if (this.#isLow(left)) return false;
    this.update(lookup).catch(() => undefined); // the call was aborted
    return true;
  }

  /** The call is sent now. @throws QuotaExhaustedError if only the reserve is left: others have used the quota meanwhile */
  pass({ call, state: { quota } }: Lookup): void {
    if (!isExempt(call)) this.#require(quota, quota.availableTo(call));
    if (call.endpoint.consumesQuota) quota.sending(call);
  }

  /** Updates the record. `false` if that fails; the estimate is then used as it is. */
  update(lookup: Lookup): Promise<boolean> {
    return refreshQuota(this.#context, lookup, NO_AGE);
  }

  /** The call has ended. Reports once per period that only the reserve is left. */
  leave(call: Call, { quota }: KeyState): void {
    quota.release(call);
    const estimate = quota.estimate();
    if (estimate === undefined || !this.#isLow(estimate.remaining)) return;
    const period = String(estimate.quota.resets_at); // an odd record may have none
    if (this.#reportedFor === period) return;
    this.#reportedFor = period;
    callHook<QuotaEstimate>(this.#options.onLow, estimate);
  }

  #isLow(left: number | undefined): left is number {
    return left !== undefined && left <= this.#options.reserve;
  }

  #require(quota: QuotaLedger, left: number | undefined): void {
    if (this.#isLow(left)) throw reserveError(quota.estimate()?.quota, left, this.#options.reserve);
  }

  /** Whether all processes together, within the limit per minute, cannot have used up what the record has left. */
  #isCertain(quota: QuotaLedger, left: number | undefined): boolean {
    if (this.#isLow(left)) return this.#isLow(left + quota.doubtful) && quota.isUpToDate(CERTAIN_MS);
    const record = quota.estimate()?.quota;
    const inRecord = record && remainingOf(record);
    if (record === undefined || inRecord === undefined) return quota.isUpToDate(SHARED_KEY_MS);
    const minutes = (inRecord - this.#options.reserve) / (perMinuteIn(record) ?? UNKNOWN_PER_MINUTE);
    const lastsMs = 60_000 * (minutes - 1); // the requests of one minute can be sent at once
    return quota.isUpToDate(Math.max(YOUNG_MS, Math.min(lastsMs, SHARED_KEY_MS)));
  }
}

/** Whether the call may use the reserve, or uses no quota. */
function isExempt({ endpoint, settings }: Call): boolean {
  return !endpoint.consumesQuota || settings.priority === 'high';
}

function reserveError(record: QuotaData | undefined, left: number, reserve: number): QuotaExhaustedError {
  const reset = record && resetsAtMsIn(record) !== undefined ? `The quota resets at ${record.resets_at}; to` : 'To';
  return new QuotaExhaustedError(
    `Not sent: about ${Math.max(0, left)} requests of the monthly quota are left for new calls, and quotaGuard ` +
      `reserves ${reserve}. ${reset} use the reserve, pass { priority: 'high' }`,
    { quota: record, local: true },
  );
}
