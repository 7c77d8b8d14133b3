import { FxRatesError, NetworkError, RateLimitError, type RateLimitReason, ServerError } from '../errors/errors.ts';
import type { ServiceDown } from '../limits/rate-limiter.ts';
import type { UnitEstimate } from '../limits/retry-after.ts';
import type { KeyedRequest } from '../request.ts';
import { unitInWords } from '../state/key-limits.ts';

interface LimitedCall {
  readonly reason: RateLimitReason;
  readonly request: KeyedRequest;
  readonly nowMs: number;
  /** Epoch milliseconds of the next slot; `undefined` if unknown. */
  readonly retryAtMs: number | undefined;
  /** How the key's Retry-After is read. */
  readonly unit: UnitEstimate | undefined;
  /** The previous 429 of the call; `undefined` if there was none. */
  readonly refused: RateLimitError | undefined;
}

const WHY: Record<RateLimitReason | ServiceDown['reason'], string> = {
  deadline: 'which is too late for the deadline of the call (deadlineMs)',
  max_retry_after: 'which is longer than maxRetryAfterMs',
  policy: "and onLimit is 'throw'",
  outage: 'and calls wait for an outage of at most 90 s',
  budget: 'and the retry budget of the key is used up',
};

/** The error of a call that may not wait for the rate limit: the time of the next slot, and the reason. */
export function limitedError({ reason, request, nowMs, retryAtMs, unit, refused }: LimitedCall): RateLimitError {
  const retryAfterMs = retryAtMs === undefined ? undefined : Math.ceil(Math.max(0, retryAtMs - nowMs));
  const wait = retryAfterMs === undefined ? 'the wait is unknown' : `the next slot is in ${seconds(retryAfterMs)} s`;
  const words = unit && unitInWords(unit);
  const message = `The per-minute limit of key ${request.key.masked} is reached; ${wait}, ${WHY[reason]}`;
  return new RateLimitError(words === undefined ? message : `${message}. ${words}`, {
    reason,
    retryAfterMs,
    retryAt: retryAtMs === undefined ? undefined : new Date(retryAtMs),
    retryAfterRaw: refused?.retryAfterRaw,
    retryAfterUnit: unit,
    code: refused?.code,
    status: refused?.status,
    headers: refused?.headers,
    attempts: request.log.attempts,
    cause: refused,
  });
}

interface UnavailableCall {
  readonly request: KeyedRequest;
  readonly waitMs: number;
}

/** The error of a call that was not sent because it may not wait until the service is expected to work again. */
export function unavailableError(
  { failure: cause, reason }: ServiceDown,
  { request, waitMs }: UnavailableCall,
): ServerError | NetworkError {
  const { code, status, headers } = cause instanceof FxRatesError ? cause : {};
  const shown = status ?? code ?? 'no response';
  const message = `The service is down (${shown}); the next attempt is in ${seconds(waitMs)} s, ${WHY[reason]}`;
  const Unavailable = status === undefined ? NetworkError : ServerError;
  return new Unavailable(message, { code, status, headers, attempts: request.log.attempts, cause });
}

function seconds(ms: number): string {
  return (Math.ceil(ms / 100) / 10).toString();
}
