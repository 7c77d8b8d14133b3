import type { Clock } from '../clock.ts';
import { Pacer } from '../quota/pacer.ts';
import type { QuotaLedger } from '../quota/quota-ledger.ts';
import type { Handler } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { Timers } from '../timers.ts';
import { limitedError } from './limited-error.ts';

interface PaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly states: KeyStates;
  /** Requests that are not spread: the guard keeps them. */
  readonly reserve: number;
  readonly askQuota: () => Promise<unknown>;
}

/** Spreads what is left of the monthly quota evenly over the time until it resets. */
export function pace({ clock, timers, states, reserve, askQuota }: PaceOptions) {
  const pacers = new WeakMap<KeyState, Pacer>();
  const pacerOf = (state: KeyState): Pacer => {
    const pacer = pacers.get(state) ?? new Pacer({ clock, timers, intervalMs: () => intervalMs(state.ledger) });
    pacers.set(state, pacer);
    return pacer;
  };
  const intervalMs = (ledger: QuotaLedger): number => {
    const estimate = ledger.estimate();
    if (estimate?.remaining === undefined) return 0;
    return (Date.parse(estimate.quota.resets_at) - clock.now()) / Math.max(1, estimate.remaining - reserve);
  };

  return (next: Handler): Handler =>
    async (request) => {
      if (!request.endpoint.consumesQuota) return next(request);
      const state = states.of(request.key);
      // Without a quota there is no pace; the call itself will tell what is wrong.
      if (state.ledger.estimate() === undefined) await askQuota().catch(() => undefined);
      const pacer = pacerOf(state);
      const retryAtMs = pacer.slotAt();
      const nowMs = clock.now();
      if (retryAtMs > request.deadlineAt()) {
        throw limitedError({ reason: 'deadline', retryAtMs, nowMs, request, refused: undefined });
      }
      await pacer.turn(request.signal);
      request.log.waited(clock.now() - nowMs);
      return next(request);
    };
}
