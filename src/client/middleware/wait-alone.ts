import { abortable } from '../abortable.ts';
import { hintedLimitMs, unhintedLimitMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { RateLimitReason } from '../errors/rate-limit-error.ts';
import { RateLimitError } from '../errors/rate-limit-error.ts';
import type { ClientEvents } from '../events.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError } from './limited-error.ts';
import { settle } from './settle.ts';

interface WaitAloneOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly maxRetryAfterMs: number;
}

/**
 * What is left of `rateLimit` when that is turned off: each refused call waits for itself. Its repeats come out of the
 * key's retry budget, because nothing else keeps a crowd of such calls in check.
 */
export function waitAlone(options: WaitAloneOptions) {
  const { clock, states, events } = options;
  return (next: Handler): Handler =>
    async (request) => {
      const state = states.of(request.key);
      for (let refusals = 0; ; refusals += 1) {
        const sentAt = clock.now();
        const outcome = await settle(next(request));
        if ('rawBody' in outcome) {
          state.reader.accepted(sentAt);
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
  { state, sentAt, refusals, clock, random, events, maxRetryAfterMs }: RefusedCall,
): number {
  if (!(error instanceof RateLimitError)) throw error;
  const { reader, unitNotice, retryBudget } = state;
  const nowMs = clock.now();
  const { retryAfterRaw: retryAfter, headers } = error;
  const reading = reader.refused({ retryAfter, date: headers?.get('date') ?? undefined, sentAt, now: nowMs });
  unitNotice.saw(reading, retryAfter, events);
  const hintMs = reading.waitMs;
  const waitMs = hintMs === undefined ? unhintedLimitMs(refusals, random) : hintedLimitMs(hintMs, random);
  const isTooLong = hintMs !== undefined && hintMs > maxRetryAfterMs;
  const reason =
    whyNotWait(request, { isTooLong, readyAtMs: nowMs + waitMs }) ?? (retryBudget.take() ? undefined : 'budget');
  if (reason === undefined) return waitMs;
  const unit = unitNotice.belief;
  throw limitedError({ reason, retryAtMs: nowMs + (hintMs ?? waitMs), nowMs, request, unit, refused: error });
}

interface Wait {
  readonly isTooLong: boolean;
  readonly readyAtMs: number;
}

function whyNotWait(
  { settings, deadlineAt }: KeyedRequest,
  { isTooLong, readyAtMs }: Wait,
): RateLimitReason | undefined {
  if (settings.onLimit === 'throw') return 'policy';
  if (isTooLong) return 'max_retry_after';
  return readyAtMs >= deadlineAt() ? 'deadline' : undefined;
}
