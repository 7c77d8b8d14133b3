import { hasConfiguredLimit, type LimiterState } from './limiter-state.ts';

/** Requests per minute of the smallest plan (SERVICE.md, Limits). */
const SMALLEST_LIMIT = 30;
/** While calls wait, the plan's limit is read again after this time: it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/**
 * Whether the plan's limit is worth a request that asks for it: unknown, contradicted by a refusal, or read long ago. Not
 * for a single call, nor for as few as every plan allows: the question would take the slot of one of them.
 */
export function isLimitWanted(
  state: LimiterState,
  { now, waiting }: { readonly now: number; readonly waiting: number },
): boolean {
  const calls = waiting + state.inFlight;
  const isMuch = state.phase !== 'unknown' || calls + state.log.size > SMALLEST_LIMIT;
  if (waiting === 0 || calls <= 1 || !isMuch) return false;
  const isKnown = hasConfiguredLimit(state) && !state.isContradicted;
  return !isKnown || now - state.configuredAt >= LIMIT_IS_OLD_MS;
}
