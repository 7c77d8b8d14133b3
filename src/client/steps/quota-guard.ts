import type { Call, Handler } from '../call/call.ts';
import { FxRatesError, QuotaExhaustedError } from '../errors/errors.ts';
import { callHook } from '../errors/program-values.ts';
import type { QuotaEstimate, QuotaGuardOptions } from '../options/client-options.ts';
import type { ClientSettings } from '../options/resolve-options.ts';
import type { KeyState } from '../state/key-state.ts';
import { type QuotaLedger, SHARED_KEY_MS } from '../state/quota-ledger.ts';
import { resetsAtMsIn } from '../state/quota-record.ts';
import { updateRecord } from './quota-lookup.ts';
import type { StepContext } from './send.ts';

/**
 * Updates the quota record of a call's key, unless it is younger than `maxAgeMs`. Warns once about options that have no
 * effect, because `quota()` failed. `send` sends `quota()`.
 */
export async function refreshQuota(
  { states, events, settings }: StepContext,
  call: Call,
  { maxAgeMs, send }: { readonly maxAgeMs: number; readonly send: Handler },
): Promise<void> {
  const state = states.of(call.key);
  const error = await updateRecord({ call, state, send }, maxAgeMs);
  if (error === undefined || state.quota.estimate() !== undefined) return;
  events.warnOnce(unknownQuotaWarning(state.key, error, settings));
}

function unknownQuotaWarning(key: string, error: unknown, { quotaGuard, cache }: ClientSettings): string {
  const { status, code, kind = 'error' } = FxRatesError.is(error) ? error : {};
  const why = status !== undefined && status >= 400 ? status : (code ?? kind);
  const effects = [
    ...(quotaGuard ? ['quotaGuard rejects no call'] : []),
    ...(cache?.maxAgeMs === 'snapshot' ? ["cache: 'snapshot' does not know its interval"] : []),
  ];
  return `quota() failed (${why}), so the quota of key ${key} is unknown; until it succeeds, ${effects.join(' and ')}`;
}

/** Before the guard rejects a call, it updates an older record, because the plan may have changed. */
const CERTAIN_MS = 60_000;

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

  /** @throws QuotaExhaustedError if the call is not sent */
  async admit(call: Call, send: Handler): Promise<void> {
    if (!call.endpoint.consumesQuota) return;
    const { quota } = this.#context.states.of(call.key);
    if (call.settings.priority !== 'high') {
      const maxAgeMs = this.#isLow(quota.available()) ? CERTAIN_MS : SHARED_KEY_MS;
      await refreshQuota(this.#context, call, { maxAgeMs, send });
      if (this.#isLow(quota.available())) throw refusal(quota, this.#options.reserve);
    }
    quota.reserve(call); // in the same tick as the check, because otherwise concurrent calls would all pass it
  }

  /** The call has ended. Reports once per period that only the reserve is left. */
  leave(call: Call, { quota }: KeyState): void {
    quota.release(call);
    const estimate = quota.estimate();
    if (estimate === undefined || !this.#isLow(estimate.remaining)) return;
    if (this.#reportedFor === estimate.quota.resets_at) return;
    this.#reportedFor = estimate.quota.resets_at;
    callHook<QuotaEstimate>(this.#options.onLow, estimate);
  }

  #isLow(left: number | undefined): boolean {
    return left !== undefined && left <= this.#options.reserve;
  }
}

function refusal(quota: QuotaLedger, reserve: number): QuotaExhaustedError {
  const record = quota.estimate()?.quota;
  const reset = record && resetsAtMsIn(record) !== undefined ? `The quota resets at ${record.resets_at}; to` : 'To';
  return new QuotaExhaustedError(
    `Not sent: about ${quota.available()} requests of the monthly quota are left for new calls, and quotaGuard ` +
      `reserves ${reserve}. ${reset} use the reserve, pass { priority: 'high' }`,
    { quota: record, local: true },
  );
}
