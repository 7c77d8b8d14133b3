import type { QuotaData } from '../../generated/types.ts';
import type { Cancellation } from '../cancellation.ts';
import { AuthenticationError, QuotaExhaustedError, RateLimitError, RequestError } from '../errors/errors.ts';
import { parseRetryAfter, retryAfterMs } from '../limits/retry-after.ts';
import { quotaMessage } from '../quota/quota-check.ts';
import { isExhausted, type QuotaEstimate } from '../quota/quota-ledger.ts';
import { AttemptLog, type Endpoint, type Handler, type KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';

/** What an exhausted quota looks like is not shown (SERVICE.md, Errors); these statuses could mean it. */
const COULD_BE_QUOTA: readonly (number | undefined)[] = [402, 403, 429];

/** A quota read within this time still tells whether the month can be used up. */
const FRESH_MS = 60_000;

/** The longest wait of a limit per minute, with the jitter that servers add. */
const LONGEST_RATE_WAIT_MS = 75_000;

interface ExplainOptions {
  readonly states: KeyStates;
  readonly quota: Endpoint;
}

/**
 * Asks for the quota, which is free and works when the month is used up, before a refusal without a known meaning is
 * taken for a rate limit, a bad key or a bad request. One question serves all calls refused together. It goes past the
 * queue: the queue cannot know yet whether to wait a minute or a month.
 */
export function explainRefusal({ states, quota }: ExplainOptions) {
  return (next: Handler): Handler => {
    const explain = async (error: Unexplained, request: KeyedRequest): Promise<Error> => {
      const { quotaCheck, exhaustedLatch, ledger } = states.of(request.key);
      // A 429 soon after a record with more left than a minute can use is for the rate, unless it asks for a longer wait.
      const isForRate = error instanceof RateLimitError && (waitMsOf(error) ?? 0) <= LONGEST_RATE_WAIT_MS;
      if (isForRate && ledger.isUpToDate(FRESH_MS) && isPlenty(ledger.estimate())) return error;
      const ask = async (question: Cancellation) => (await next(asking(quota, request, question))).data as QuotaData; // parsed by the endpoint
      const record = await quotaCheck.ask(ask, request.signal);
      if (record === undefined || !isExhausted(record)) return error;
      exhaustedLatch.refused(record);
      return exhaustedError(record, error);
    };

    return (request) =>
      next(request).catch(async (error: unknown) => {
        const isClear = !request.endpoint.consumesQuota || !isUnexplained(error) || isNameless(error, request);
        throw isClear ? error : await explain(error, request);
      });
  };
}

/** Whether more is left than the key can use in the time for which the record counts as fresh, and as much again. */
function isPlenty(estimate: QuotaEstimate | undefined): boolean {
  return estimate?.remaining !== undefined && estimate.remaining > 2 * estimate.quota.rate_limit_per_minute;
}

type Unexplained = RateLimitError | AuthenticationError | RequestError;

function exhaustedError(quota: QuotaData, refusal: Unexplained): QuotaExhaustedError {
  const { code, status, headers, attempts } = refusal;
  return new QuotaExhaustedError(quotaMessage(quota), { quota, code, status, headers, attempts, cause: refusal });
}

function isUnexplained(error: unknown): error is Unexplained {
  if (error instanceof RateLimitError) return error.code !== 'rate_limited';
  return (
    (error instanceof AuthenticationError || error instanceof RequestError) && COULD_BE_QUOTA.includes(error.status)
  );
}

/**
 * Whether a 429 has no code, as one of a proxy, and asks for a short wait: that is obeyed once before anything is asked,
 * because the service may count the question too.
 */
function isNameless(error: Unexplained, { log, settings }: KeyedRequest): boolean {
  if (!(error instanceof RateLimitError) || error.code !== undefined) return false;
  const refusals = log.attempts.filter(({ status }) => status === 429).length;
  const waitMs = waitMsOf(error);
  return refusals < 2 && settings.onLimit === 'wait' && waitMs !== undefined && waitMs <= LONGEST_RATE_WAIT_MS;
}

/** What a 429 asks for, if it counts in seconds. */
function waitMsOf({ retryAfterRaw, headers }: RateLimitError): number | undefined {
  const date = headers?.get('date') ?? undefined;
  // Without a `Date` header a moment tells no wait here.
  return retryAfterMs(parseRetryAfter(retryAfterRaw), { unit: 'seconds', date, serverNowMs: Number.NaN });
}

/** The question may outlive the call that asked first, since others wait for it too; its own timeout ends it. */
function asking(quota: Endpoint, { key, settings }: KeyedRequest, question: Cancellation): KeyedRequest {
  return {
    endpoint: { ...quota, purpose: 'refusal' },
    settings,
    key,
    signal: question,
    deadlineAt: () => Number.POSITIVE_INFINITY,
    log: new AttemptLog(),
  };
}
