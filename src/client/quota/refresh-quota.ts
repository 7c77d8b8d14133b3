import { RateLimitError } from '../errors/errors.ts';
import type { KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** Brings the ledger of a call's key up to date, unless what it knows is younger than `maxAgeMs`. */
export type RefreshQuota = (request: KeyedRequest, maxAgeMs: number) => Promise<void>;

/** An estimate older than this may miss what other processes use. */
export const SHARED_KEY_MS = 300_000;

interface RefreshParts {
  readonly states: KeyStates;
  /** Asks the service for the quota, for as long as the call can wait; the answer goes into the ledger. */
  readonly askQuota: (request: KeyedRequest) => Promise<unknown>;
}

/**
 * The question is free (SERVICE.md, quota). A call does not fail because the quota cannot be read: it continues with
 * what is known, and the service decides.
 */
export function quotaRefresher({ states, askQuota }: RefreshParts): RefreshQuota {
  return async (request, maxAgeMs) => {
    const { ledger } = states.of(request.key);
    if (ledger.isUpToDate(maxAgeMs)) return;
    try {
      await askQuota(request);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      // A question that the rate limit holds back says nothing about the service; the call will meet that limit too.
      if (!(error instanceof RateLimitError)) ledger.couldNotAsk();
    }
  };
}
