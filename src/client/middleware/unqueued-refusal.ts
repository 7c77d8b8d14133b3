import type { Clock, SteadyTime } from '../clock.ts';
import type { RateLimitError, RateLimitReason } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs, unitOf, weighRefusal } from '../limits/retry-after.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';
import type { KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import { hintedLimitMs, unhintedLimitMs } from './backoff.ts';
import { limitedError } from './limited-error.ts';

/** A 429 with `rateLimit: false`, where no limiter reads it. */
export interface RefusedAttempt {
  readonly state: KeyState;
  readonly sentAt: number;
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
  { state, sentAt, refusals, clock, time, random, events, maxRetryAfterMs, retryAfterUnit }: RefusedAttempt,
): number {
  const { unitTracker, retryBudget } = state;
  const nowMs = clock.now();
  const reading = readRefusal(state, error, { sentAt, nowMs, time, retryAfterUnit });
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

function readRefusal(
  state: KeyState,
  { retryAfterRaw, headers }: RateLimitError,
  {
    sentAt,
    nowMs,
    time,
    retryAfterUnit,
  }: Pick<RefusedAttempt, 'sentAt' | 'time' | 'retryAfterUnit'> & { nowMs: number },
): RetryAfterReading {
  const parsed = parseRetryAfter(retryAfterRaw);
  if (retryAfterUnit === 'auto')
    state.unqueuedUnit = weighRefusal(state.unqueuedUnit, parsed, { sentAt, now: time.now() });
  const unit = parsed?.form === 'integer' ? unitOf(state.unqueuedUnit, retryAfterUnit, parsed.value) : 'seconds';
  return {
    waitMs: retryAfterMs(parsed, { unit, date: headers?.get('date') ?? undefined, serverNowMs: nowMs }),
    unit,
    evidence: retryAfterUnit === 'auto' ? state.unqueuedUnit.evidence : 'set',
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
