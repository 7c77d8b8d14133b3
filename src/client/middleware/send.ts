import type { QuotaData } from '../../generated/types.ts';
import { abortable } from '../abortable.ts';
import { authenticate } from '../authenticate.ts';
import { Cancellation } from '../cancellation.ts';
import type { ClientSettings } from '../config/settings.ts';
import { FxRatesError } from '../errors/fxrates-error.ts';
import { NetworkError } from '../errors/network-error.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import { wasNeverSent } from '../errors/was-never-sent.ts';
import type { ClientEvents } from '../events.ts';
import { parseResponse } from '../parse-response.ts';
import type { Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { Timers } from '../timers.ts';
import type { TransportResponse } from '../transport/transport.ts';
import { redactCause } from './redact-cause.ts';
import { type Outcome, settle } from './settle.ts';

interface SendOptions {
  readonly settings: ClientSettings;
  readonly timers: Timers;
  readonly events: ClientEvents;
  readonly states: KeyStates;
  readonly userAgent: string;
}

/** One attempt: authenticate, send, read, parse, within `timeoutMs`. Every failure leaves it as one of the client's errors. */
export function send({ settings, timers, events, states, userAgent }: SendOptions): Handler {
  const { clock } = settings;

  const exchange = (request: KeyedRequest): Promise<TransportResponse> => {
    const { key, endpoint, signal } = request;
    const { url, headers } = authenticate(`${settings.baseUrl}${endpoint.target}`, { key, form: settings.auth });
    headers['accept'] = 'application/json';
    headers['user-agent'] = userAgent;
    return withinTimeout(request, timers, (attempt) =>
      settings.transport({ url, headers, cancellation: attempt, maxBytes: settings.maxResponseBytes }),
    ).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : failureOf(error, request, settings.baseUrl);
    });
  };

  return async (request) => {
    const startedAt = clock.now();
    const ended = (status: number | undefined, code: string | undefined) => {
      request.log.ended(status, code);
      events.request({ request, status, code, durationMs: clock.now() - startedAt });
    };
    const outcome = await settle(exchange(request).then((response) => parseResponse(response, request)));
    if (mayHaveCounted(outcome) && request.endpoint.consumesQuota) states.of(request.key).ledger.spent();
    if (!('rawBody' in outcome)) {
      const { error } = outcome;
      if (error instanceof FxRatesError) ended(error.status, error.code ?? error.kind);
      throw error;
    }
    ended(outcome.status, undefined);
    if (request.endpoint.name === 'quota') sawQuota(outcome.data as QuotaData, request); // parsed by the endpoint
    return outcome;
  };

  function sawQuota(quota: QuotaData, { key }: KeyedRequest): void {
    states.of(key).sawQuota(quota);
    events.quota(key, quota);
  }
}

/** The refusals that cost nothing: for the rate (SERVICE.md, Limits, rule 2), for the key, for the quota itself. */
const FREE_STATUSES: readonly (number | undefined)[] = [401, 402, 403, 429];

/** Whether a request counts toward the quota, or may do so: which failed ones do is not shown. */
function mayHaveCounted(outcome: Outcome): boolean {
  if ('rawBody' in outcome) return true;
  const { error } = outcome;
  return !(error instanceof FxRatesError && FREE_STATUSES.includes(error.status)) && !wasNeverSent(error);
}

/** Runs `work` until the attempt takes too long or nobody waits for it any more. */
async function withinTimeout<T>(
  { signal, settings: { timeoutMs }, log }: KeyedRequest,
  timers: Timers,
  work: (attempt: Cancellation) => Promise<T>,
): Promise<T> {
  const attempt = new Cancellation();
  const onAbort = () => attempt.cancel(signal.reason);
  signal.addEventListener('abort', onAbort);
  const cancel = timers.after(timeoutMs, () => {
    attempt.cancel(new TimeoutError({ scope: 'attempt', limitMs: timeoutMs, attempts: log.attempts }));
  });
  try {
    return await abortable(work(attempt), attempt);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** What a transport threw, as one of the client's errors, without the key. */
function failureOf(error: unknown, { key, log: { attempts } }: KeyedRequest, baseUrl: string): FxRatesError {
  if (error instanceof FxRatesError) return error;
  const cause = redactCause(error, key);
  const code = codeOf(error);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  return new NetworkError(`No valid HTTP response from ${new URL(baseUrl).host}: ${why}`, { cause, code, attempts });
}

/** The system's or undici's code; `fetch` hides it one `cause` deeper. */
function codeOf(error: unknown): string | undefined {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}
