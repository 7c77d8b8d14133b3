import type { Clock, SteadyTime } from '../clock.ts';
import type { RateLimitError, RateLimitReason } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from '../limits/retry-after.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';
import type { KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import { hintedLimitMs, unhintedLimitMs } from './backoff.ts';
import { limitedError } from './limited-error.ts';

/** A 429 with `rateLimit: false`, where no limiter reads it. */
export interface RefusedAttempt {
  readonly state: KeyState;
  /** Number of 429s of the call before this one. */
  readonly refusals: number;
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

/** Milliseconds to wait after a 429. @throws RateLimitError with the reason, if the call does not wait */
export function waitAfterRefusal(
  error: RateLimitError,
  request: KeyedRequest,
  { state, refusals, clock, time, random, events, maxRetryAfterMs, retryAfterUnit }: RefusedAttempt,
): number {
  const { unitTracker, retryBudget } = state;
  const nowMs = clock.now();
  const reading = readRefusal(error, { nowMs, retryAfterUnit });
  unitTracker.saw(reading, error.retryAfterRaw, events);
  const hintMs = reading.waitMs;
  const waitMs = hintMs === undefined ? unhintedLimitMs(refusals, random) : hintedLimitMs(hintMs, random);
  const isTooLong = hintMs !== undefined && hintMs > maxRetryAfterMs;
  const reason =
    whyNotWait(request, { isTooLong, readyAt: time.now() + waitMs }) ?? (retryBudget.take() ? undefined : 'budget');
  if (reason === undefined) return waitMs;
  const unit = unitTracker.estimate;
  throw limitedError({ reason, retryAtMs: nowMs + (hintMs ?? waitMs), nowMs, request, unit, refused: error });
}

/** In seconds, unless the option sets the unit: without a queue, not one request but all would try milliseconds. */
function readRefusal(
  { retryAfterRaw, headers }: RateLimitError,
  { nowMs, retryAfterUnit }: Pick<RefusedAttempt, 'retryAfterUnit'> & { readonly nowMs: number },
): RetryAfterReading {
  const unit = retryAfterUnit === 'auto' ? 'seconds' : retryAfterUnit;
  const date = headers?.get('date') ?? undefined;
  return {
    waitMs: retryAfterMs(parseRetryAfter(retryAfterRaw), { unit, date, serverNowMs: nowMs }),
    unit,
    evidence: retryAfterUnit === 'auto' ? 'assumed' : 'set',
  };
}

function whyNotWait(
  { settings, deadlineAt }: KeyedRequest,
  { isTooLong, readyAt }: { readonly isTooLong: boolean; readonly readyAt: number },
): RateLimitReason | undefined {
  if (settings.onLimit === 'throw') return 'policy';
  if (isTooLong) return 'max_retry_after';
  return readyAt >= deadlineAt() ? 'deadline' : undefined;
}
