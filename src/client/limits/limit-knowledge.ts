import { NEARLY_ALL } from './learn-window.ts';
import { hasConfiguredLimit, type LimiterState } from './limiter-state.ts';

/** Requests per minute of the smallest plan (SERVICE.md, Limits). */
const SMALLEST_LIMIT = 30;
/** While calls wait, the plan's limit is read again after this time: it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

/** Decides when the plan's limit is worth a request that asks for it: unknown, contradicted by a refusal, or read long ago. */
export class LimitKnowledge {
  #configuredAt = Number.NEGATIVE_INFINITY;
  #isContradicted = false;

  /** The plan's limit was read. */
  configured(now: number): void {
    this.#configuredAt = now;
    this.#isContradicted = false;
  }

  /** A request was refused; `state`: before that. */
  refused(state: LimiterState): void {
    if (hasConfiguredLimit(state) && state.log.size < NEARLY_ALL * state.configured) this.#isContradicted = true;
  }

  /**
   * Whether to ask now. `calls`: waiting and in flight. Not for a single call, nor for as few as every plan allows: the
   * question would take the slot of one of them.
   */
  isWanted(state: LimiterState, { now, calls }: { readonly now: number; readonly calls: number }): boolean {
    const isMuch = state.phase !== 'unknown' || calls + state.log.size > SMALLEST_LIMIT;
    if (calls <= 1 || !isMuch) return false;
    const isKnown = hasConfiguredLimit(state) && !this.#isContradicted;
    return !isKnown || now - this.#configuredAt >= LIMIT_IS_OLD_MS;
  }
}
