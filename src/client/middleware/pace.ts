import type { Clock } from '../clock.ts';
import { RateLimitError, type RateLimitReason } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { type RefreshQuota, SHARED_KEY_MS } from '../quota/refresh-quota.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { SteadyTime } from '../steady-time.ts';

interface PaceOptions {
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  /** Requests that are not spread: the guard keeps them, and calls with `useReserve` do not wait. */
  readonly reserve: number;
  readonly refreshQuota: RefreshQuota;
}

/** Spreads what is left of the monthly quota evenly over the time until it resets. */
export function pace(options: PaceOptions) {
  const { refreshQuota } = options;
  return (next: Handler): Handler =>
    async (request) => {
      if (!request.endpoint.consumesQuota || request.settings.useReserve) return next(request);
      await refreshQuota(request, SHARED_KEY_MS);
      await takeTurn(request, options);
      // The turn may have come hours later; the next one is computed from this.
      await refreshQuota(request, SHARED_KEY_MS);
      return next(request);
    };
}

async function takeTurn(request: KeyedRequest, { clock, time, states, events, reserve }: PaceOptions): Promise<void> {
  const { key, signal, log } = request;
  const state = states.of(key);
  const { pacer } = state;
  const askedAtMs = clock.now();
  const slotAtMs = pacer.slotAt(reserve);
  const waitMs = slotAtMs - askedAtMs;
  const reason = whyNotWait(request, { waitMs, until: time.now() + waitMs });
  if (reason !== undefined) throw tooEarly(request, { reason, slotAtMs, nowMs: askedAtMs });
  const onWait = ({ untilMs, waiting }: { readonly untilMs: number; readonly waiting: number }) =>
    events.wait(state, { reason: 'pace', waitMs: untilMs - clock.now(), until: new Date(untilMs), waiting });
  // A bigger quota may make it an earlier one.
  log.waits(() => Math.min(slotAtMs, pacer.slotAt(reserve)) - clock.now() + time.now());
  try {
    await pacer.turn({ reserve, signal, onWait });
  } finally {
    log.waited(clock.now() - askedAtMs);
  }
}

interface PacedWait {
  readonly waitMs: number;
  /** Time of `SteadyTime`. */
  readonly until: number;
}

interface Slot {
  readonly slotAtMs: number;
  readonly nowMs: number;
}

function whyNotWait({ settings, deadlineAt }: KeyedRequest, { waitMs, until }: PacedWait): RateLimitReason | undefined {
  if (waitMs <= 0) return undefined;
  if (settings.onLimit === 'throw') return 'policy';
  return until > deadlineAt() ? 'deadline' : undefined;
}

function tooEarly(
  { key, log }: KeyedRequest,
  { reason, slotAtMs, nowMs }: Slot & { readonly reason: RateLimitReason },
): RateLimitError {
  const why = reason === 'policy' ? "and onLimit is 'throw'" : 'after the deadline of the call (deadlineMs)';
  const retryAt = new Date(slotAtMs);
  return new RateLimitError(
    `Spread until the quota resets (pace), the next request of key ${key.masked} is due at ${retryAt.toISOString()}, ${why}`,
    { reason, retryAfterMs: slotAtMs - nowMs, retryAt, attempts: log.attempts },
  );
}
