import type { AttemptFailure, Call, Refusal } from '../call/call.ts';
import {
  FxRatesError,
  NetworkError,
  RateLimitError,
  type RateLimitReason,
  ServerError,
  TimeoutError,
} from '../errors/errors.ts';
import { isPermanent, wasNeverSent } from '../errors/network-failure.ts';
import { LONGEST_OUTAGE_MS, type Permit, type RequestEnd } from '../limits/in-flight.ts';
import type { NotSent, Place, RateLimiter } from '../limits/rate-limiter.ts';
import { type RetryAfterUnit, retryAfterMs } from '../limits/retry-after.ts';
import type { KeyState } from '../state/key-state.ts';
import { type Lookup, lookUpLimit } from './quota-lookup.ts';
import type { StepContext } from './send.ts';

interface SlotContext extends Pick<StepContext, 'events'> {
  readonly limiter: RateLimiter;
  /** The last refusal of the call. */
  readonly refusal: Refusal | undefined;
  /** For the limit of the plan, if the limiter wants it. */
  readonly lookup: Lookup & { readonly state: KeyState };
}

/** Waits for the place of a call in the limit of its key. @throws an error with the reason if the call may not wait */
export async function waitForPermit(place: Place | Promise<Place>, options: SlotContext): Promise<Permit> {
  const { limiter, lookup, events, refusal } = options;
  const { call, state } = lookup;
  const learnLimit = () => {
    if (call.ownReason === undefined && limiter.isLimitWanted) lookUpLimit(lookup);
  };
  state.join(events);
  try {
    learnLimit();
    const sent = await place;
    learnLimit();
    // Not instanceof: another copy of the package may have created the limiter.
    if (!('reason' in sent)) return sent;
    const { reason, waitMs, failure } = sent;
    if (reason === 'in_flight') throw lateError(call);
    if (reason === 'outage' || failure !== undefined) throw unavailableError(call, sent);
    throw limitedError(call, { state, reason, waitMs, refusal });
  } finally {
    state.leave(events);
  }
}

/** Sent by a proxy in front of the service: the request was not counted. */
const NOT_COUNTED_STATUSES: readonly (number | undefined)[] = [502, 503];

interface FailedRequest {
  readonly wasSent: boolean;
  /** That of a Retry-After. */
  readonly unit: RetryAfterUnit;
}

/** How the request of a failed attempt ended for the limiter. */
export function endOf(failure: AttemptFailure, { wasSent: wasTried, unit }: FailedRequest): RequestEnd {
  if (failure.kind === 'rate_limited') return { kind: 'refused', retryAfter: failure.retryAfter };
  if (!wasTried) return { kind: 'unused' };
  const { error } = failure;
  const { status, retryAfter } = error instanceof FxRatesError ? error : {};
  const wasSent = !wasNeverSent(error);
  // Without a status, the caller aborted, or a function of the program failed.
  if (!isOutage(error)) return { kind: status !== undefined ? 'accepted' : wasSent ? 'lost' : 'unused' };
  const mayHaveCounted = wasSent && !NOT_COUNTED_STATUSES.includes(status);
  const hintMs = retryAfterMs(retryAfter, unit);
  return { kind: 'failed', hintMs, wasSent, mayHaveCounted, isTimeout: error instanceof TimeoutError, error };
}

/** Whether an error counts as a failure of the service. */
function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError) return !isPermanent(error);
  return error instanceof TimeoutError || (error instanceof FxRatesError && (error.status ?? 0) >= 500);
}

interface LimitedCall {
  readonly state: KeyState;
  readonly reason: RateLimitReason;
  /** Milliseconds until the next slot; `undefined` if unknown. */
  readonly waitMs: number | undefined;
  /** The last refusal of the call; `undefined` if there was none. */
  readonly refusal: Refusal | undefined;
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
