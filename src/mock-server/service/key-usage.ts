import type { Switches } from '../behaviour/behaviour.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import { type QuotaUse, quotaUse } from './quota.ts';
import { limitPerMinute, WINDOW_MS } from './rate-windows.ts';
import type { KeyRecord } from './service-state.ts';

/** The per-minute window of a key, of the kind that the switch `rateWindow` names. Times are milliseconds since the Unix epoch. */
export interface MinuteUse {
  /** Kind of the window. */
  readonly kind: BehaviourValues['rateWindow'];
  /** Requests per minute. */
  readonly limit: number;
  /** Requests counted in the window. */
  readonly used: number;
  /** Milliseconds until a request is accepted; 0 if one is accepted now. */
  readonly waitMs: number;
  /** Time at which the full limit is available again, if no more requests are sent. */
  readonly fullAt: number;
  /** Start of the current window, or of the current minute of `sliding-counter`; `undefined` for other kinds. */
  readonly startedAt: number | undefined;
  /** For `sliding-counter`: requests of the previous minute, which count in part. */
  readonly previous: number | undefined;
  /** For `sliding-log`: requests in each of the last 60 seconds, oldest first. */
  readonly perSecond: readonly number[] | undefined;
}

/** Reads the usage without a request: nothing is charged, and no switch is recorded as used by the current request. */
export function keyUsage(key: KeyRecord, now: number, behaviour: Switches): { minute: MinuteUse; month: QuotaUse } {
  const { limit, used, startedAt, resetsAt } = quotaUse(key, now, behaviour);
  return { minute: minuteUse(key, now, behaviour), month: { limit, used, startedAt, resetsAt } };
}

function minuteUse({ window, account }: KeyRecord, now: number, behaviour: Switches): MinuteUse {
  const kind = behaviour.values.rateWindow;
  const limit = limitPerMinute(account);
  // Called first, because it removes requests outside the window, which `save()` would include.
  const used = window?.used(limit, now) ?? 0;
  const waitMs = window?.waitMs(limit, now) ?? 0;
  const fullAt = used === 0 ? now : (window?.fullAt(limit, now) ?? now);
  const saved = window?.save() ?? [];
  return { kind, limit, used, waitMs, fullAt, ...SHAPES[kind](saved, now) };
}

type Shape = Pick<MinuteUse, 'startedAt' | 'previous' | 'perSecond'>;

const NO_SHAPE: Shape = { startedAt: undefined, previous: undefined, perSecond: undefined };

/** The fields of each kind of window, from its saved numbers. */
const SHAPES: Readonly<Record<BehaviourValues['rateWindow'], (saved: readonly number[], now: number) => Shape>> = {
  'fixed-epoch': (_, now) => ({ ...NO_SHAPE, startedAt: startOfMinute(now) }),
  'fixed-first-request': ([openedAt = 0], now) => ({
    ...NO_SHAPE,
    startedAt: openedAt + WINDOW_MS > now ? openedAt : undefined,
  }),
  'sliding-counter': ([, previous = 0], now) => ({ ...NO_SHAPE, startedAt: startOfMinute(now), previous }),
  'sliding-log': (times, now) => ({ ...NO_SHAPE, perSecond: countPerSecond(times, now) }),
  'token-bucket': () => NO_SHAPE,
};

function startOfMinute(now: number): number {
  return Math.floor(now / WINDOW_MS) * WINDOW_MS;
}

function countPerSecond(times: readonly number[], now: number): readonly number[] {
  const counts = Array.from({ length: 60 }, () => 0);
  for (const at of times) {
    const second = 59 - Math.floor((now - at) / 1000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts;
}
