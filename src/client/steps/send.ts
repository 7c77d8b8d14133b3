import type { QuotaData } from '../../generated/types.ts';
import type { AttemptOutcome, Call, Handler } from '../call.ts';
import { resolveHeaders } from '../config/checks.ts';
import type { ClientSettings } from '../config/settings.ts';
import { AuthenticationError, FxRatesError, TimeoutError } from '../errors/errors.ts';
import { networkFailure } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import type { ApiKey } from '../key/api-key.ts';
import type { KeyState, KeyStates } from '../key/key-state.ts';
import type { AuthForm } from '../options.ts';
import { parseResponse } from '../parse-response.ts';
import { abortable, type Cancellation } from '../time/abort.ts';
import type { Timers } from '../time/timers.ts';
import type { TransportResponse } from '../transport/transport.ts';
import { intercept } from './intercept.ts';

interface SendOptions {
  readonly settings: ClientSettings;
  readonly timers: Timers;
  readonly events: ClientEvents;
  readonly states: KeyStates;
  readonly userAgent: string;
}

/** Values at the start of an attempt. */
interface StartedAttempt {
  readonly call: Call;
  readonly state: KeyState;
  readonly startedAt: number;
  readonly spentBefore: number;
  /** Whether its request was sent: a middleware can end the attempt without `next()`. */
  isSent: boolean;
}

/** One attempt within `timeoutMs`: authenticate, send, read, parse. It rejects with the client's errors only. */
export function send({ settings, timers, events, states, userAgent }: SendOptions): Handler {
  const { baseUrl, clock, time, middleware, maxResponseBytes: maxBytes, auth: form, transport } = settings;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');

  const exchange = (attempt: StartedAttempt, cancellation: Cancellation): Promise<TransportResponse> => {
    const { call } = attempt;
    const target = `${baseUrl}${call.endpoint.target}`;
    const plain = { accept: 'application/json', ...withUserAgent(call.settings.headers, userAgent) };
    const transmit = (url: string, others: Readonly<Record<string, string>>) => {
      attempt.isSent = true;
      const signed = authenticate(url, { key: call.key, form, others });
      return transport({ ...signed, cancellation, maxBytes }).catch((error) => {
        throw call.signal.aborted ? call.signal.reason : networkFailure(error, call, baseUrl);
      });
    };
    if (middleware.length === 0) return transmit(target, plain);
    const next = (url: string, headers: Headers) => transmit(url, resolveHeaders('middleware', headers));
    const parts = { middleware, call, attempt: cancellation, url: target, headers: plain, maxBytes, transmit: next };
    return abortable(intercept(parts), cancellation); // a middleware may ignore the signal
  };

  return async (call) => {
    const { signal, attempts } = call;
    // The last caller may have aborted since the end of the wait.
    if (signal.aborted) throw signal.reason;
    const state = states.of(call.key);
    const attempt = { call, state, startedAt: time.now(), spentBefore: state.quota.spent, isSent: false };
    const { timeoutMs } = call.settings;
    let outcome: AttemptOutcome;
    try {
      const response = await timers.withTimeout((cancellation) => exchange(attempt, cancellation), {
        at: attempt.startedAt + timeoutMs,
        signal,
        errorOf: () => new TimeoutError({ scope: 'attempt', limitMs: timeoutMs, attempts }),
      });
      outcome = parseResponse(response, call, { basePath, clock });
    } catch (error) {
      outcome = { error };
    }
    report(attempt, outcome, { durationMs: time.now() - attempt.startedAt, events });
    if ('rawBody' in outcome) return outcome;
    throw outcome.error;
  };
}

/** The user agent of the program is appended to that of the client. */
function withUserAgent(headers: Call['settings']['headers'], userAgent: string) {
  const program = headers['user-agent'];
  return { ...headers, 'user-agent': program === undefined ? userAgent : `${userAgent} ${program}` };
}

interface ReportParts {
  readonly durationMs: number;
  readonly events: ClientEvents;
}

/** Reports the end of an attempt to the call, the hooks and the quota of the key. */
function report(attempt: StartedAttempt, outcome: AttemptOutcome, { durationMs, events }: ReportParts): void {
  const { call, state, spentBefore, isSent } = attempt;
  const error = 'error' in outcome ? outcome.error : undefined;
  if (error instanceof FxRatesError) call.ended(error.status, error.code ?? error.kind);
  else call.ended('rawBody' in outcome ? outcome.status : undefined, undefined);
  events.request(state, call, { durationMs, outcome });
  if (isSent) state.quota.sent(call, outcome);
  if (call.endpoint.name !== 'quota') return;
  if ('rawBody' in outcome) {
    const quota = outcome.data as QuotaData; // the endpoint has parsed it
    state.sawQuota(quota, spentBefore);
    events.quota(state, { reason: call.quotaReason, quota });
  } else if (error instanceof AuthenticationError) state.quota.keyRefused();
}

interface KeyPlacement {
  readonly key: ApiKey;
  readonly form: AuthForm;
  /** The other headers of the request. */
  readonly others: Readonly<Record<string, string>>;
}

/** URL and headers of a request with the key in the form of the option `auth` (docs/facts.md, Authentication). */
function authenticate(
  url: string,
  { key, form, others }: KeyPlacement,
): { readonly url: string; readonly headers: Record<string, string> } {
  const secret = key.reveal();
  if (form === 'bearer') return { url, headers: { authorization: `Bearer ${secret}`, ...others } };
  if (form === 'header') return { url, headers: { authorization: secret, ...others } };
  const separator = url.includes('?') ? '&' : '?';
  return { url: `${url}${separator}api_key=${encodeURIComponent(secret)}`, headers: { ...others } };
}
