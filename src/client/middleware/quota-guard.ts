import { callHook } from '../call-hook.ts';
import { QuotaExhaustedError } from '../errors/errors.ts';
import type { QuotaGuardOptions } from '../options.ts';
import { type QuotaEstimate, type QuotaLedger, type RefreshQuota, SHARED_KEY_MS } from '../quota/quota-ledger.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** Before the guard rejects a call, it updates an older record, because the plan may have changed. */
const CERTAIN_MS = 60_000;

interface QuotaGuardParts extends QuotaGuardOptions {
  readonly states: KeyStates;
  readonly refreshQuota: RefreshQuota;
}

/**
 * Rejects calls if only the reserve of the monthly quota is left, by an estimate: the last quota record and the requests
 * of this process since then.
 */
export function quotaGuard({ reserve, onLow, states, refreshQuota }: QuotaGuardParts) {
  const reportLow = oncePerPeriod(onLow);
  const isLow = (left: number | undefined) => left !== undefined && left <= reserve;

  const admit = async (request: KeyedRequest, ledger: QuotaLedger): Promise<void> => {
    if (!request.settings.useReserve) {
      await refreshQuota(request, SHARED_KEY_MS);
      if (isLow(ledger.available())) await refreshQuota(request, CERTAIN_MS);
      if (isLow(ledger.available())) throw refusal(ledger, reserve);
    }
    ledger.reserveRequest(request.log); // in the same tick as the check, because otherwise concurrent calls would all pass it
  };

  return (next: Handler): Handler =>
    async (request) => {
      const { ledger } = states.of(request.key);
      try {
        if (request.endpoint.consumesQuota) await admit(request, ledger);
        return await next(request);
      } finally {
        ledger.releaseRequest(request.log);
        const estimate = ledger.estimate();
        if (estimate !== undefined && isLow(estimate.remaining)) reportLow(estimate);
      }
    };
}

/** Calls `onLow` once per period. */
function oncePerPeriod(onLow: QuotaGuardOptions['onLow']) {
  let reportedFor: string | undefined;
  return (estimate: QuotaEstimate): void => {
    if (reportedFor === estimate.quota.resets_at) return;
    reportedFor = estimate.quota.resets_at;
    callHook(onLow, estimate);
  };
}

function refusal(ledger: QuotaLedger, reserve: number): QuotaExhaustedError {
  const quota = ledger.estimate()?.quota;
  return new QuotaExhaustedError(
    `Not sent: about ${ledger.available()} requests of the monthly quota are left for new calls, and quotaGuard ` +
      `reserves ${reserve}. The quota resets at ${quota?.resets_at}; to use the reserve, pass { useReserve: true }`,
    { quota, local: true },
  );
}
