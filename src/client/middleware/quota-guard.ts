import { abortable } from '../abortable.ts';
import type { Clock } from '../clock.ts';
import { QuotaExhaustedError } from '../errors/quota-exhausted-error.ts';
import type { QuotaGuardOptions } from '../options.ts';
import type { QuotaEstimate, QuotaLedger } from '../quota/quota-ledger.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** An estimate older than this is asked anew: other processes may use the key too. The question is free. */
const REFRESH_MS = 300_000;
/** Before it refuses, the guard asks again unless it did so just now: the plan may have changed. */
const CERTAIN_MS = 60_000;

interface QuotaGuardParts extends QuotaGuardOptions {
  readonly clock: Clock;
  readonly states: KeyStates;
  /** Asks the service for the quota; the answer goes into the ledger. */
  readonly askQuota: () => Promise<unknown>;
}

/**
 * Refuses calls by itself when only the reserve of the monthly quota is left. What it knows is an estimate: the last
 * quota record, and what this process used since.
 */
export function quotaGuard(parts: QuotaGuardParts) {
  let toldFor: string | undefined;
  const tellOnce = (estimate: QuotaEstimate) => {
    if (toldFor === estimate.quota.resets_at) return;
    toldFor = estimate.quota.resets_at;
    parts.onLow?.(estimate);
  };

  return (next: Handler): Handler =>
    async (request) => {
      if (!request.endpoint.consumesQuota || request.settings.useReserve) return next(request);
      const { ledger } = parts.states.of(request.key);
      let estimate = await estimateWithin(REFRESH_MS, request, { ledger, ...parts });
      if (isLow(estimate, parts)) estimate = await estimateWithin(CERTAIN_MS, request, { ledger, ...parts });
      if (!isLow(estimate, parts)) return holding(ledger, () => next(request));
      tellOnce(estimate);
      throw refusal(estimate, parts.reserve);
    };
}

async function estimateWithin(
  maxAgeMs: number,
  { signal }: KeyedRequest,
  { ledger, clock, askQuota }: QuotaGuardParts & { readonly ledger: QuotaLedger },
): Promise<QuotaEstimate | undefined> {
  const known = ledger.estimate();
  if (known !== undefined && clock.now() - known.asOf.getTime() <= maxAgeMs) return known;
  // A quota that cannot be asked refuses nobody: the call itself will tell what is wrong.
  await abortable(
    askQuota().catch(() => undefined),
    signal,
  );
  return ledger.estimate();
}

function isLow(
  estimate: QuotaEstimate | undefined,
  { reserve }: { readonly reserve: number },
): estimate is QuotaEstimate {
  return estimate?.remaining !== undefined && estimate.remaining <= reserve;
}

async function holding(ledger: QuotaLedger, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const release = ledger.hold();
  try {
    return await work();
  } finally {
    release();
  }
}

function refusal({ quota, remaining }: QuotaEstimate, reserve: number): QuotaExhaustedError {
  return new QuotaExhaustedError(
    `Only ${remaining} requests are left this month (an estimate) and ${reserve} are reserved (quotaGuard); not sent. ` +
      `The quota resets at ${quota.resets_at}; { useReserve: true } spends the reserve`,
    { quota, local: true },
  );
}
