import { abortable } from '../abortable.ts';
import { hintedLimitMs, unhintedLimitMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { RateLimitReason } from '../errors/rate-limit-error.ts';
import { RateLimitError } from '../errors/rate-limit-error.ts';
import { parseRetryAfter, retryAfterMs } from '../limits/retry-after.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';
import { limitedError } from './limited-error.ts';
import { settle } from './settle.ts';

interface WaitAloneOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly states: KeyStates;
  readonly maxRetryAfterMs: number;
  readonly retryAfterUnit: 'auto' | 'seconds' | 'milliseconds';
}

/**
 * What is left of `rateLimit` when that is turned off: each refused call waits for itself. Its repeats come out of the
 * key's retry budget, because nothing else keeps a crowd of such calls in check.
 */
export function waitAlone(options: WaitAloneOptions) {
  const { clock } = options;
  return (next: Handler): Handler =>
    async (request) => {
      for (let refusals = 0; ; refusals += 1) {
        const outcome = await settle(next(request));
        if ('rawBody' in outcome) return outcome;
        const waitMs = waitAfter(outcome.error, request, { refusals, ...options });
        await abortable(clock.sleep(waitMs, request.signal.toSignal()), request.signal);
        request.log.waited(waitMs);
        request.log.again('rate_limited');
      }
    };
}

/** Milliseconds to wait after a refusal. @throws the error itself when it is none, or a RateLimitError that says why not to wait. */
function waitAfter(
  error: unknown,
  request: KeyedRequest,
  {
    refusals,
    clock,
    random,
    states,
    maxRetryAfterMs,
    retryAfterUnit,
  }: WaitAloneOptions & { readonly refusals: number },
): number {
  if (!(error instanceof RateLimitError)) throw error;
  const unit = retryAfterUnit === 'auto' ? 'seconds' : retryAfterUnit;
  const date = error.headers?.get('date') ?? undefined;
  const hintMs = retryAfterMs(parseRetryAfter(error.retryAfterRaw), { unit, date });
  const waitMs = hintMs === undefined ? unhintedLimitMs(refusals, random) : hintedLimitMs(hintMs, random);
  const nowMs = clock.now();
  const { retryBudget } = states.of(request.key);
  const isTooLong = hintMs !== undefined && hintMs > maxRetryAfterMs;
  const reason =
    whyNotWait(request, { isTooLong, readyAtMs: nowMs + waitMs }) ?? (retryBudget.take() ? undefined : 'budget');
  if (reason === undefined) return waitMs;
  throw limitedError({ reason, retryAtMs: nowMs + (hintMs ?? waitMs), nowMs, request, refused: error });
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
