import type { QuotaData } from '../../generated/types.ts';
import { abortable, type Cancellation } from '../cancellation.ts';
import { resolveHeaders } from '../config/request-headers.ts';
import type { ClientSettings } from '../config/settings.ts';
import { AbortError, AuthenticationError, FxRatesError, RateLimitError, TimeoutError } from '../errors/errors.ts';
import { networkFailure, wasNeverSent } from '../errors/network-failure.ts';
import type { ClientEvents } from '../events.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { AuthForm } from '../options.ts';
import { parseResponse } from '../parse-response.ts';
import type { AttemptOutcome, Endpoint, Handler, KeyedRequest } from '../request.ts';
import type { KeyState } from '../state/key-state.ts';
import type { KeyStates } from '../state/key-states.ts';
import type { Timers } from '../timers.ts';
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
  const exchange = (request: KeyedRequest, sending: Sending): Promise<TransportResponse> => {
    const { key, endpoint, signal, log } = request;
    const { timeoutMs } = request.settings;
    const target = `${settings.baseUrl}${endpoint.target}`;
    const plain = { accept: 'application/json', ...withUserAgent(request.settings.headers, userAgent) };
    const failed = (error: unknown) => {
      throw signal.aborted ? signal.reason : networkFailure(error, request, settings.baseUrl);
    };
    const transmit = (attempt: Cancellation, url: string, others: Readonly<Record<string, string>>) => {
      sending.isSent = true;
      const signed = authenticate(url, { key, form, others });
      return transport({ url: signed.url, headers: signed.headers, cancellation: attempt, maxBytes }).catch(failed);
    };
    const errorOf = () => new TimeoutError({ scope: 'attempt', limitMs: timeoutMs, attempts: log.attempts });
    const limits = { ms: timeoutMs, signal, errorOf };
    if (middleware.length === 0) return timers.withTimeout((attempt) => transmit(attempt, target, plain), limits);
    return timers.withTimeout((attempt) => {
      const next = (url: string, headers: Headers) => transmit(attempt, url, resolveHeaders('middleware', headers));
      const parts = { middleware, request, attempt, url: target, headers: plain, maxBytes, transmit: next };
      return abortable(intercept(parts), attempt); // a middleware may ignore the signal
    }, limits);
  };

  const report = (request: KeyedRequest, outcome: AttemptOutcome, { startedAt, spentBefore, isSent }: Sending) => {
    const { status, code } = resultOf(outcome);
    const { endpoint, key, log } = request;
    const state = states.of(key);
    log.recordAttempt(status, code);
    log.lastHeaders = headersOf(outcome);
    events.request(state, request, time.now() - startedAt);
    if (isSent && endpoint.consumesQuota && mayHaveCounted(outcome)) state.ledger.spend();
    if ('rawBody' in outcome) state.ledger.releaseRequest(log); // the reserved request is used now
    if (endpoint.name === 'quota') reportQuota(state, endpoint, { outcome, spentBefore, events, settings });
  };

  return async (request) => {
    // The last caller may have aborted since the end of the wait.
    if (request.signal.aborted) throw request.signal.reason;
    const sending = { startedAt: time.now(), spentBefore: states.of(request.key).ledger.spent, isSent: false };
    let outcome: AttemptOutcome;
    try {
      outcome = parseResponse(await exchange(request, sending), request, { basePath, nowMs: settings.clock.now() });
    } catch (error) {
      outcome = { error };
    }
    report(request, outcome, sending);
    if ('rawBody' in outcome) return outcome;
    throw outcome.error;
  };
}

/** The user agent of the program is appended to that of the client. */
function withUserAgent(headers: KeyedRequest['settings']['headers'], userAgent: string) {
  const program = headers['user-agent'];
  return { ...headers, 'user-agent': program === undefined ? userAgent : `${userAgent} ${program}` };
}

interface QuotaOutcome extends Pick<Sending, 'spentBefore'> {
  readonly outcome: AttemptOutcome;
  readonly events: ClientEvents;
  readonly settings: ClientSettings;
}

function reportQuota(
  state: KeyState,
  { purpose }: Endpoint,
  { outcome, spentBefore, events, settings }: QuotaOutcome,
): void {
  if ('rawBody' in outcome) {
    const quota = outcome.data as QuotaData; // the endpoint has parsed it
    state.sawQuota(quota, spentBefore);
    events.quota(state, { reason: purpose ?? 'call', quota });
    return;
  }
  const { error } = outcome;
  // `quota()` works with an exhausted quota, so this refusal is about the key.
  if (error instanceof AuthenticationError) state.exhaustedLatch.keyRefused();
  const isFailure = !(error instanceof RateLimitError || error instanceof AbortError); // after a 429, it is sent again
  if (purpose !== 'refresh' || !isFailure) return;
  state.ledger.fetchFailed();
  if (state.ledger.estimate() === undefined) events.warnOnce(unknownQuotaWarning(state.key, error, settings));
}

/** A warning about the options that have no effect without a quota record. */
function unknownQuotaWarning(key: string, error: unknown, { quotaGuard, cache }: ClientSettings): string {
  const { status, code, kind = 'error' } = FxRatesError.is(error) ? error : {};
  const why = status !== undefined && status >= 400 ? status : (code ?? kind);
  const effects = [
    ...(quotaGuard ? ['quotaGuard rejects no call'] : []),
    ...(cache?.maxAgeMs === 'snapshot' ? ["cache: 'snapshot' does not know its interval"] : []),
  ];
  return `quota() failed (${why}), so the quota of key ${key} is unknown; until it succeeds, ${effects.join(' and ')}`;
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

/** Refusals that are not counted: for the rate (docs/facts.md, Limits), the key, or the quota itself. */
const FREE_STATUSES: readonly (number | undefined)[] = [401, 402, 403, 429];

/** Whether a request counts toward the quota, or may count: the service does not document which failed ones do. */
function mayHaveCounted(outcome: AttemptOutcome): boolean {
  if ('rawBody' in outcome) return true;
  const { error } = outcome;
  return !(error instanceof FxRatesError && FREE_STATUSES.includes(error.status)) && !wasNeverSent(error);
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
