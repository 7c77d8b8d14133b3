import type { QuotaData } from '../../generated/types.ts';
import { type AttemptFailure, Call, type Handler, type OwnReason, type Refusal } from '../call/call.ts';
import { operationEndpoint } from '../call/endpoint.ts';
import {
  AbortError,
  AuthenticationError,
  FxRatesError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  TimeoutError,
} from '../errors/errors.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import type { ClientSettings } from '../options/resolve-options.ts';
import type { KeyState } from '../state/key-state.ts';
import { isExhausted, resetsAtMsIn } from '../state/quota-record.ts';
import type { Cancellation } from '../time/abort.ts';
import type { StepContext } from './send.ts';

/** The longest usual wait for a per-minute limit, with the jitter of servers. */
const LONGEST_RATE_WAIT_MS = 75_000;
/** The response to an exhausted quota is not documented; it could have one of these statuses, or 429. */
const COULD_BE_QUOTA: readonly (number | undefined)[] = [402, 403];

const QUOTA = operationEndpoint('quota');

/** A call that needs the record of `quota()`. */
export interface Lookup {
  readonly call: Call;
  /** That of its key. */
  readonly state: Pick<KeyState, 'quota' | 'lookups' | 'time' | 'stop' | 'limiter' | 'retryAfterUnit'>;
  /** Sends `quota()`. */
  readonly send: Handler;
}

/**
 * Calls `quota()` unless the record is younger than `maxAgeMs` or `quota()` has just failed. `false` if it fails now: the
 * calls continue with the known record, and the service decides. Warns once about options that then have no effect.
 */
export async function refreshQuota(
  { events, settings }: Pick<StepContext, 'events' | 'settings'>,
  lookup: Lookup,
  maxAgeMs: number,
): Promise<boolean> {
  const { call, state } = lookup;
  if (state.quota.isUpToDate(maxAgeMs)) return true;
  let { error, isOwn } = await tryUpdate(lookup);
  // The deadline and `onLimit` were those of another call, which may be one of another copy of the package.
  if (FxRatesError.is(error) && error.kind === 'rate_limited' && !isOwn) ({ error, isOwn } = await tryUpdate(lookup));
  if (error !== undefined && state.quota.estimate() === undefined)
    events.warnOnce(unknownQuotaWarning(call.key.masked, error, settings));
  return error === undefined;
}

function unknownQuotaWarning(key: string, error: unknown, { quotaGuard, cache }: ClientSettings): string {
  const { status, code, kind = 'error' } = FxRatesError.is(error) ? error : {};
  const why = status !== undefined && status >= 400 ? status : (code ?? kind);
  const effects = [
    ...(quotaGuard ? ['quotaGuard rejects no call'] : []),
    ...(cache?.maxAgeMs === 'snapshot' ? ["cache: 'snapshot' does not know its interval"] : []),
  ];
  return `quota() failed (${why}), so the quota of key ${key} is unknown; until it succeeds, ${effects.join(' and ')}`;
}

/** `isOwn`: the call started the `quota()`; otherwise, it joined that of another call. */
async function tryUpdate(lookup: Lookup): Promise<{ readonly error?: unknown; readonly isOwn: boolean }> {
  const { signal, deadlineAt, settings } = lookup.call;
  const { time } = lookup.state;
  let isOwn = false;
  const send: Handler = (call) => {
    isOwn = true;
    return lookup.send(call);
  };
  const join = (cancellation: Cancellation) => joinLookup({ ...lookup, send }, 'refresh', cancellation);
  // At most half of the time until the deadline, so that a `quota()` that hangs leaves time for the call itself.
  const half = {
    afterMs: (deadlineAt - time.now()) / 2,
    signal,
    errorOf() {
      return new TimeoutError({ scope: 'deadline', limitMs: settings.deadlineMs });
    },
  };
  try {
    await (deadlineAt === Number.POSITIVE_INFINITY ? join(signal) : time.withTimeout(join, half));
    return { isOwn };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { error, isOwn };
  }
}

/**
 * The limiter wants the per-minute limit of the plan, which the record of `quota()` has: one request instead of the
 * refusals that learning the limit would cause.
 */
export function lookUpLimit(lookup: Lookup): void {
  const { state, call } = lookup;
  if (!state.quota.startLimitLookup(state.time.now())) return;
  joinLookup(lookup, 'limit', call.signal).catch(() => undefined); // learned from the responses
}

/**
 * The failure, or that of a used-up quota. Without a documented code, a refusal could be for the rate, the key, the request, or
 * a used-up quota: then `quota()` decides, which works with an exhausted quota. `send` bypasses the queue, which cannot know
 * yet whether to wait for a minute or a month.
 */
export async function explainFailure(failure: AttemptFailure, lookup: Lookup): Promise<AttemptFailure> {
  const { call, state } = lookup;
  const refused = call.endpoint.consumesQuota ? quotaRefusal(failure, lookup) : undefined;
  if (refused === undefined) return failure;
  const quota = await recordAfterRefusal(lookup);
  if (quota === undefined || !isExhausted(quota)) return failure;
  state.stop(quota);
  const { code, status, headers, bodyExcerpt } = refused;
  const details = { code, status, headers, bodyExcerpt, attempts: call.attempts, cause: refused };
  const message = `${usedUpText(quota)}. ${refused.summary}`;
  return { kind: 'failed', error: new QuotaExhaustedError(message, { quota, ...details }) };
}

/** The error of a call that is not sent, for a minute after a refusal because of the quota. */
export function usedUpError(quota: QuotaData): QuotaExhaustedError {
  const message = `${usedUpText(quota)}; not sent, because the service reported it less than a minute ago`;
  return new QuotaExhaustedError(message, { quota, local: true });
}

function usedUpText(quota: QuotaData): string {
  const { monthly_used: used, monthly_limit: limit, resets_at: resetsAt } = quota;
  const reset = resetsAtMsIn(quota) === undefined ? '' : `, resets at ${resetsAt}`;
  return `The monthly quota is used up: ${used} of ${limit} requests${reset}`;
}

/** One `quota()` for all calls that are refused together. `undefined` if it fails: then the refusal is unchanged. */
async function recordAfterRefusal(lookup: Lookup): Promise<QuotaData | undefined> {
  const { call, state } = lookup;
  const { explained } = state.quota;
  if (explained !== undefined) return explained.quota;
  return state.lookups.explaining.join(async (signal) => {
    const quota = await lookUp(lookup, 'refusal', signal).catch(() => undefined);
    if (!signal.aborted) state.quota.explain(quota);
    return quota;
  }, call.signal);
}

/** One `quota()`, which waits in the queue, for all calls that need the record. It may outlive the call that caused it. */
function joinLookup(lookup: Lookup, reason: OwnReason, signal: Cancellation): Promise<QuotaData> {
  const { call, state } = lookup;
  // If every deadline is too short for `quota()`, the next call still gets its record. `timeoutMs` ends it. The limit is for
  // all calls that wait.
  const isForOthers = () => reason === 'limit' && state.limiter?.isLimitWanted === true;
  const continues = () => !call.signal.aborted || state.time.now() >= call.deadlineAt || isForOthers();
  return state.lookups.asking.join((cancellation) => lookUp(lookup, reason, cancellation), signal, continues);
}

/** The client's own call of `quota()`. It is not retried, because its result is less important than the call itself. */
async function lookUp(
  { call: { settings, key, deadlineAt }, state: { quota: ledger }, send }: Lookup,
  reason: OwnReason,
  signal: Cancellation,
): Promise<QuotaData> {
  const isBypass = reason === 'refusal'; // it may outlive its first call, because other calls wait for it
  const call = new Call({
    endpoint: QUOTA,
    key,
    settings: { ...settings, maxRetries: 0, maxAgeMs: undefined, priority: 'high' },
    signal,
    deadlineAt: isBypass ? Number.POSITIVE_INFINITY : deadlineAt,
    ownReason: reason,
  });
  try {
    const { data } = await send(call);
    const record = data as QuotaData; // an odd one as the service sent it
    ledger.lookedUp(record);
    return record;
  } catch (error) {
    if (!(error instanceof AbortError)) ledger.lookupFailed({ isRefused: error instanceof RateLimitError });
    throw error;
  }
}

/** The error of a refusal that may be for the quota; `undefined` for another failure. */
function quotaRefusal(failure: AttemptFailure, lookup: Lookup): AuthenticationError | RequestError | undefined {
  if (failure.kind === 'rate_limited') {
    const { said, code, status, headers, bodyExcerpt } = failure;
    const details = { code, status, headers, bodyExcerpt, attempts: lookup.call.attempts };
    return mayBeQuota(failure, lookup)
      ? new RequestError(`The service refused the request${said}`, details)
      : undefined;
  }
  const { error } = failure;
  const isRefusal = error instanceof AuthenticationError || error instanceof RequestError;
  return isRefusal && COULD_BE_QUOTA.includes(error.status) ? error : undefined;
}

/** Whether the refusal may be for the quota, and not for the rate. */
function mayBeQuota({ code, retryAfter }: Refusal, { call: { attempts, settings }, state }: Lookup): boolean {
  if (code === 'rate_limited') return false;
  const waitMs = retryAfterMs(retryAfter, state.retryAfterUnit) ?? 0;
  if (waitMs > LONGEST_RATE_WAIT_MS) return true;
  // Without a code, such as that of a proxy, the call waits once: the service may count a `quota()` too.
  const refusals = attempts.filter(({ status }) => status === 429).length;
  if (code === undefined && waitMs > 0 && refusals < 2 && settings.onLimit === 'wait') return false;
  return !state.quota.isPlenty; // soon after a record with many requests left, it is for the rate
}
