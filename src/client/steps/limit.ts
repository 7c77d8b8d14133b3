import type { Call, Refusal } from '../call/call.ts';
import {
  FxRatesError,
  NetworkError,
  RateLimitError,
  type RateLimitReason,
  ServerError,
  TimeoutError,
} from '../errors/errors.ts';
import { LONGEST_OUTAGE_MS } from '../limits/in-flight.ts';
import type { NotSent } from '../limits/rate-limiter.ts';
import type { KeyState } from '../state/key-state.ts';

interface NotSentParts {
  readonly state: KeyState;
  /** The last refusal of the call; `undefined` if there was none. */
  readonly refusal: Refusal | undefined;
}

/** The error of a call that the limiter does not admit. */
export function notSentError(call: Call, sent: NotSent, { state, refusal }: NotSentParts): FxRatesError {
  const { reason, waitMs, failure } = sent;
  if (reason === 'in_flight') return lateError(call);
  if (reason === 'outage' || failure !== undefined) return unavailableError(call, sent);
  return limitedError(call, { state, reason, waitMs, refusal });
}

interface LimitedCall extends NotSentParts {
  readonly reason: RateLimitReason;
  /** Milliseconds until the next slot; `undefined` if unknown. */
  readonly waitMs: number | undefined;
}

const WHY: Record<RateLimitReason | NotSent['reason'], string> = {
  deadline: 'which is too late for the deadline of the call (deadlineMs)',
  max_retry_after: 'which is longer than maxRetryAfterMs',
  policy: "and onLimit is 'throw'",
  outage: `and calls wait for an outage of at most ${LONGEST_OUTAGE_MS / 1000} s`,
  retries: 'and maxRetries is used up',
  in_flight: 'because requests in flight must end first, or a response takes longer',
};

/** The error of a call that may not wait for the rate limit: the time of the next slot, and the reason. */
export function limitedError(call: Call, { state, reason, waitMs, refusal }: LimitedCall): RateLimitError {
  const leftMs = waitMs === undefined ? undefined : Math.ceil(Math.max(0, waitMs));
  const wait = leftMs === undefined ? 'the wait is unknown' : `the next slot is in ${seconds(leftMs)} s`;
  const advice = `${wait}, ${WHY[reason]}`;
  const unit = state.unitInWords && `${state.unitInWords.summary}; ${state.unitInWords.advice}`;
  const { attempts } = call;
  const { code, status, headers, bodyExcerpt } = refusal ?? {};
  const answer = { reason, code, status, headers, bodyExcerpt, attempts };
  return new RateLimitError(`The per-minute limit of key ${call.key.masked} is reached${refusal?.said ?? ''}`, {
    advice: unit === undefined ? advice : `${advice}. ${unit}`,
    retryAfterMs: leftMs,
    retryAt: leftMs === undefined ? undefined : new Date(state.time.toEpoch(state.time.datedNow() + leftMs)),
    ...answer,
    cause: refusal && new RateLimitError(`The per-minute limit of the key is reached${refusal.said}`, answer),
  });
}

/** The error of a call whose deadline is too early for a response after those of the requests in flight. */
function lateError({ settings: { deadlineMs: limitMs }, attempts }: Call): TimeoutError {
  const message = `The call would not end within ${limitMs} ms (deadlineMs), ${WHY.in_flight}`;
  return new TimeoutError({ message, scope: 'deadline', limitMs, attempts });
}

/** The error of a call that was not sent because it may not wait until the service is expected to work again. */
function unavailableError({ attempts }: Call, { failure: cause, reason, waitMs }: NotSent): ServerError | NetworkError {
  // Not instanceof: the call that failed may be one of another copy of the package.
  const { kind, why, code, status, headers, bodyExcerpt } = FxRatesError.is(cause) ? cause : {};
  const shown = (kind === 'server' && why) || ` (${status ?? code ?? 'no response'})`;
  const advice = `the next attempt is in ${seconds(waitMs)} s, ${WHY[reason]}`;
  const Unavailable = status === undefined ? NetworkError : ServerError;
  const retryAfter = { form: 'wait', ms: waitMs } as const;
  return new Unavailable(`The service is down${shown}`, {
    code,
    status,
    headers,
    bodyExcerpt,
    attempts,
    cause,
    advice,
    retryAfter,
  });
}

function seconds(ms: number): string {
  return (Math.ceil(ms / 100) / 10).toString();
}
