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
import type { ResponseHeaders, TransportResponse } from '../transport/transport.ts';
import { intercept } from './intercept.ts';

interface SendOptions {
  readonly settings: ClientSettings;
  readonly timers: Timers;
  readonly events: ClientEvents;
  readonly states: KeyStates;
  readonly userAgent: string;
}

/** Values at the start of an attempt. */
interface Sending {
  readonly startedAt: number;
  readonly spentBefore: number;
  /** Whether its request was sent: a middleware can end the attempt without `next()`. */
  isSent: boolean;
}

/** One attempt within `timeoutMs`: authenticate, send, read, parse. It rejects with the client's errors only. */
export function send({ settings, timers, events, states, userAgent }: SendOptions): Handler {
  const { time, middleware, maxResponseBytes: maxBytes, auth: form, transport } = settings;
  const basePath = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
  const exchange = (call: Call, sending: Sending): Promise<TransportResponse> => {
    const { key, endpoint, signal, attempts } = call;
    const { timeoutMs } = call.settings;
    const target = `${settings.baseUrl}${endpoint.target}`;
    const plain = { accept: 'application/json', ...withUserAgent(call.settings.headers, userAgent) };
    const failed = (error: unknown) => {
      throw signal.aborted ? signal.reason : networkFailure(error, call, settings.baseUrl);
    };
    const transmit = (attempt: Cancellation, url: string, others: Readonly<Record<string, string>>) => {
      sending.isSent = true;
      const signed = authenticate(url, { key, form, others });
      return transport({ url: signed.url, headers: signed.headers, cancellation: attempt, maxBytes }).catch(failed);
    };
    const errorOf = () => new TimeoutError({ scope: 'attempt', limitMs: timeoutMs, attempts });
    const limits = { ms: timeoutMs, signal, errorOf };
    if (middleware.length === 0) return timers.withTimeout((attempt) => transmit(attempt, target, plain), limits);
    return timers.withTimeout((attempt) => {
      const next = (url: string, headers: Headers) => transmit(attempt, url, resolveHeaders('middleware', headers));
      const parts = { middleware, call, attempt, url: target, headers: plain, maxBytes, transmit: next };
      return abortable(intercept(parts), attempt); // a middleware may ignore the signal
    }, limits);
  };

  return async (call) => {
    // The last caller may have aborted since the end of the wait.
    if (call.signal.aborted) throw call.signal.reason;
    const sending = { startedAt: time.now(), spentBefore: states.of(call.key).quota.spent, isSent: false };
    let outcome: AttemptOutcome;
    try {
      outcome = parseResponse(await exchange(call, sending), call, { basePath, nowMs: settings.clock.now() });
    } catch (error) {
      outcome = { error };
    }
    report(call, outcome, {
      ...sending,
      durationMs: time.now() - sending.startedAt,
      state: states.of(call.key),
      events,
    });
    if ('rawBody' in outcome) return outcome;
    throw outcome.error;
  };
}

/** The user agent of the program is appended to that of the client. */
function withUserAgent(headers: Call['settings']['headers'], userAgent: string) {
  const program = headers['user-agent'];
  return { ...headers, 'user-agent': program === undefined ? userAgent : `${userAgent} ${program}` };
}

interface Sent extends Sending {
  readonly durationMs: number;
  readonly state: KeyState;
  readonly events: ClientEvents;
}

/** Reports the end of an attempt to the call, the hooks and the quota of the key. */
function report(call: Call, outcome: AttemptOutcome, { spentBefore, isSent, durationMs, state, events }: Sent): void {
  const { status, code } = resultOf(outcome);
  call.ended(status, code);
  events.request(state, call, { durationMs, headers: headersOf(outcome) });
  if (isSent) state.quota.sent(call, outcome);
  if (call.endpoint.name !== 'quota') return;
  if ('rawBody' in outcome) {
    const quota = outcome.data as QuotaData; // the endpoint has parsed it
    state.sawQuota(quota, spentBefore);
    events.quota(state, { reason: call.quotaReason, quota });
  } else if (outcome.error instanceof AuthenticationError) state.quota.keyRefused();
}

function headersOf(outcome: AttemptOutcome): ResponseHeaders | Headers | undefined {
  if ('rawBody' in outcome) return outcome.headers;
  return outcome.error instanceof FxRatesError ? outcome.error.headers : undefined;
}

/** Status and code of an outcome, for the log of attempts. */
function resultOf(outcome: AttemptOutcome): { readonly status: number | undefined; readonly code: string | undefined } {
  if ('rawBody' in outcome) return { status: outcome.status, code: undefined };
  const { error } = outcome;
  if (!(error instanceof FxRatesError)) return { status: undefined, code: undefined };
  return { status: error.status, code: error.code ?? error.kind };
}

interface Authentication {
  readonly key: ApiKey;
  readonly form: AuthForm;
  /** The other headers of the request. */
  readonly others: Readonly<Record<string, string>>;
}

/** URL and headers of a request with the key in the form of the option `auth` (docs/facts.md, Authentication). */
function authenticate(
  url: string,
  { key, form, others }: Authentication,
): { readonly url: string; readonly headers: Record<string, string> } {
  const secret = key.reveal();
  if (form === 'bearer') return { url, headers: { authorization: `Bearer ${secret}`, ...others } };
  if (form === 'header') return { url, headers: { authorization: secret, ...others } };
  const separator = url.includes('?') ? '&' : '?';
  return { url: `${url}${separator}api_key=${encodeURIComponent(secret)}`, headers: { ...others } };
}
