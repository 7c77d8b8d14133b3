import { abortable } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import type { RateLimitReason } from '../errors/errors.ts';
import { RateLimitError } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { parseRetryAfter, retryAfterMs } from '../limits/retry-after.ts';
import { unitOf, weighAcceptance, weighRefusal } from '../limits/retry-after-unit.ts';
import type { RetryAfterReading } from '../limits/transitions.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import { settle } from '../request.ts';
import { hintedLimitMs, unhintedLimitMs } from '../retry-policy.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { SteadyTime } from '../steady-time.ts';
import { limitedError } from './limited-error.ts';

interface WaitAloneOptions {
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly random: () => number;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: 'auto' | 'seconds' | 'milliseconds';
}

/**
 * What is left of `rateLimit` when that is turned off: each refused call waits for itself. Its repeats come out of the
 * key's retry budget, because nothing else keeps a crowd of such calls in check.
 */
export function waitAlone(options: WaitAloneOptions) {
  const { clock, time, states, events } = options;
  return (next: Handler): Handler =>
    async (request) => {
      const state = states.of(request.key);
      for (let refusals = 0; ; refusals += 1) {
        const sentAt = time.now();
        const outcome = await settle(next(request));
        if ('rawBody' in outcome) {
          state.unit = weighAcceptance(state.unit, sentAt);
          return outcome;
        }
        const waitMs = waitAfter(outcome.error, request, { state, sentAt, refusals, ...options });
        const until = new Date(clock.now() + waitMs);
        events.wait(state, { reason: 'retry_after', waitMs, until, waiting: 1 });
        await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
        request.log.waited(waitMs);
        request.log.again('rate_limited');
      }
    };
}

interface RefusedCall extends WaitAloneOptions {
  readonly state: KeyState;
  readonly sentAt: number;
  readonly refusals: number;
}

/** Milliseconds to wait after a refusal. @throws the error itself when it is none, or a RateLimitError that says why not to wait. */
function waitAfter(
  error: unknown,
  request: KeyedRequest,
  { state, sentAt, refusals, clock, time, random, events, maxRetryAfterMs, retryAfterUnit }: RefusedCall,
): number {
  if (!(error instanceof RateLimitError)) throw error;
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
  const unit = unitTracker.belief;
  throw limitedError({ reason, retryAtMs: nowMs + (hintMs ?? waitMs), nowMs, request, unit, refused: error });
}

function readRefusal(
  state: KeyState,
  { retryAfterRaw, headers }: RateLimitError,
  { sentAt, nowMs, time, retryAfterUnit }: Pick<RefusedCall, 'sentAt' | 'time' | 'retryAfterUnit'> & { nowMs: number },
): RetryAfterReading {
  const parsed = parseRetryAfter(retryAfterRaw);
  if (retryAfterUnit === 'auto') state.unit = weighRefusal(state.unit, parsed, { sentAt, now: time.now() });
  const unit = parsed?.form === 'integer' ? unitOf(state.unit, parsed.value, retryAfterUnit) : 'seconds';
  return {
    waitMs: retryAfterMs(parsed, { unit, date: headers?.get('date') ?? undefined, serverNowMs: nowMs }),
    unit,
    evidence: retryAfterUnit === 'auto' ? state.unit.evidence : 'set',
  };
}

interface PlannedWait {
  readonly isTooLong: boolean;
  readonly readyAt: number;
}

function whyNotWait(
  { settings, deadlineAt }: KeyedRequest,
  { isTooLong, readyAt }: PlannedWait,
): RateLimitReason | undefined {
  if (settings.onLimit === 'throw') return 'policy';
  if (isTooLong) return 'max_retry_after';
  return readyAt >= deadlineAt() ? 'deadline' : undefined;
}
