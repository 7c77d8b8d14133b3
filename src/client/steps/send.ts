import type { QuotaData } from '../../generated/types.ts';
import { VERSION } from '../../version.ts';
import type { ApiResponse, AttemptFailure, AttemptOutcome, Call } from '../call/call.ts';
import type { ClientEvents } from '../call/events.ts';
import { parseResponse } from '../call/parse-response.ts';
import { type Attempt, FxRatesError, NetworkError, TimeoutError } from '../errors/errors.ts';
import { isPermanent, networkFailure, wasNeverSent } from '../errors/network-failure.ts';
import { describeValue } from '../errors/program-values.ts';
import type { ApiKey, KeySource } from '../key/api-key.ts';
import type { RequestEnd } from '../limits/in-flight.ts';
import { type RetryAfterUnit, retryAfterMs } from '../limits/retry-after.ts';
import { resolveHeaders } from '../options/checks.ts';
import type { AuthForm } from '../options/client-options.ts';
import type { ClientSettings } from '../options/resolve-options.ts';
import type { KeyState, KeyStates } from '../state/key-state.ts';
import type { Lifetime } from '../state/lifetime.ts';
import { abortable, type Cancellation } from '../time/abort.ts';
import type { SteadyTime } from '../time/clock.ts';
import { intercept } from './intercept.ts';

/** What the steps of a client have in common. */
export interface StepContext {
  readonly settings: ClientSettings;
  readonly events: ClientEvents;
  readonly lifetime: Lifetime;
  readonly keys: KeySource;
  readonly states: KeyStates;
}

/** An attempt in progress, with the values at its start. */
interface StartedAttempt {
  readonly call: Call;
  readonly state: KeyState;
  readonly startedAt: number;
  readonly spentBefore: number;
  wasTransmitted: boolean;
}

/** An attempt that has ended. A middleware can end one without a request. */
export interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  /** `undefined` if the call was aborted before. */
  readonly attempt: Attempt | undefined;
  readonly wasTransmitted: boolean;
}

/** Makes the next attempt of a call. `state`: that of its key. */
export type Send = (call: Call, state: KeyState) => Promise<EndedAttempt>;

/** One attempt within `timeoutMs`: authenticate, send, read, parse. It never rejects; its error is one of the client's. */
export function send({ settings, events }: StepContext): Send {
  const { baseUrl, clock, time, middleware, maxResponseBytes: maxBytes, auth: form, transport } = settings;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const userAgent = ownUserAgent();

  const exchange = (attempt: StartedAttempt, cancellation: Cancellation) => {
    const { call } = attempt;
    const isRetry = call.next.reason === 'retry';
    const plain = requestHeaders(call, userAgent);
    const transmit = (to: string, others: Readonly<Record<string, string>>, ended: Cancellation) => {
      const { url, headers } = authenticate(to, { key: call.key, form, others });
      // Named one by one: on Node 20, a field after a spread object takes 3 µs.
      return transport({ url, headers, cancellation: ended, maxBytes, isRetry }).catch((error) => {
        throw call.signal.aborted ? call.signal.reason : networkFailure(error, call, baseUrl);
      });
    };
    const target = `${baseUrl}${call.endpoint.target}`;
    if (middleware.length === 0) return transmit(target, plain, cancellation);
    // A middleware may return before its request has ended.
    const checked = (to: string, others: Headers) =>
      inTime(attempt, { time, now: time.now(), signal: cancellation }, (ended) => {
        const checkedHeaders = resolveHeaders('middleware', others);
        attempt.wasTransmitted = true;
        return transmit(to, checkedHeaders, ended);
      });
    const parts = { middleware, call, url: target, headers: plain, maxBytes };
    // A middleware may ignore the signal.
    return abortable(intercept({ ...parts, attempt: cancellation, transmit: checked }), cancellation);
  };

  return async (call, state) => {
    const { signal } = call;
    // Before the time limit: the virtual clock of a mock does not wait for a loader in another thread.
    const preparing = transport.prepare?.();
    if (preparing !== undefined) await preparing;
    // The last caller may have aborted since the end of the wait.
    if (signal.aborted) {
      return { outcome: { kind: 'failed', error: signal.reason }, attempt: undefined, wasTransmitted: false };
    }
    const wasTransmitted = middleware.length === 0; // a middleware can end an attempt without a request
    const attempt = { call, state, startedAt: time.now(), spentBefore: state.quota.spent, wasTransmitted };
    let outcome: AttemptOutcome;
    try {
      const parts = { time, now: attempt.startedAt, signal };
      const response = await inTime(attempt, parts, (cancellation) => exchange(attempt, cancellation));
      outcome = parseResponse(response, call, { basePath, clock });
    } catch (error) {
      outcome = { kind: 'failed', error };
    }
    return report(attempt, outcome, { time, events });
  };
}

/** The headers of the program, whose `user-agent` is appended to that of the client. */
function requestHeaders({ settings: { headers: own } }: Call, userAgent: string): Readonly<Record<string, string>> {
  const { 'user-agent': program } = own;
  const agents = program === undefined ? userAgent : `${userAgent} ${program}`;
  return { accept: 'application/json', ...own, 'user-agent': agents };
}

/** Cancels work of an attempt as soon as `signal` aborts, or `timeoutMs` has passed since the attempt started. */
function inTime<T>(
  { call, startedAt }: StartedAttempt,
  { time, now, signal }: { readonly time: SteadyTime; readonly now: number; readonly signal: Cancellation },
  work: (ended: Cancellation) => Promise<T>,
): Promise<T> {
  const { attempts, settings } = call;
  const { timeoutMs } = settings;
  return time.withTimeout(work, {
    afterMs: startedAt + timeoutMs - now,
    now,
    signal,
    errorOf: () => new TimeoutError({ scope: 'attempt', limitMs: timeoutMs, attempts }),
  });
}

/** Bun and Deno also report a compatible version of Node; workerd may report no versions. */
const RUNTIMES = ['bun', 'deno', 'node'];

/** Such as `fxrates/1.2.3 node/22.19.0`. */
function ownUserAgent(): string {
  const versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {};
  const runtime = RUNTIMES.find((name) => versions[name] !== undefined);
  const parts = [`fxrates/${VERSION}`, runtime && `${runtime}/${versions[runtime]}`];
  return parts.filter((part) => part !== undefined).join(' ');
}

interface ReportParts {
  readonly time: SteadyTime;
  readonly events: ClientEvents;
}

/** Reports the end of an attempt to the hooks and the quota of the key. */
function report(started: StartedAttempt, parsed: AttemptOutcome, { time, events }: ReportParts): EndedAttempt {
  const { call, state, startedAt, wasTransmitted } = started;
  const { reason, waitedMs } = call.next;
  const outcome = call.ownReason === undefined ? byContract(parsed) : parsed;
  const attempt: Attempt = { reason, waitedMs, ...resultOf(outcome) };
  if (events.reportsRequests) events.request(state, call, { attempt, durationMs: time.now() - startedAt, outcome });
  if (wasTransmitted) state.quota.sent(call, outcome);
  if (call.endpoint.name === 'quota' && 'rawBody' in parsed) reportQuota(started, parsed, events);
  return { outcome, attempt, wasTransmitted };
}

/** The program receives the documented types only; the client itself reads some fields of the record. */
function byContract(outcome: AttemptOutcome): AttemptOutcome {
  return 'rawBody' in outcome && outcome.oddity !== undefined ? { kind: 'failed', error: outcome.oddity } : outcome;
}

/** Enters a quota record, and warns once of fields whose values the contract does not have. */
function reportQuota(
  { call, state, spentBefore }: StartedAttempt,
  { data, oddity }: ApiResponse,
  events: ClientEvents,
): void {
  const quota = data as QuotaData; // an odd one as the service sent it
  state.sawQuota(quota, spentBefore);
  events.quota(state, { reason: call.ownReason ?? 'call', quota });
  if (oddity === undefined) return;
  const names = new Set(oddity.issues.map(({ path: [, field] = [] }) => String(field)));
  const fields = [...names].map((name) => `${name}: ${describeValue(quota[name])}`);
  const warning = `The quota record does not match the contract (${fields.join(', ')}); the client uses its other fields`;
  events.warnOnce(call.key.redact(warning), { topic: `quota: ${[...names].join()}` });
}

function resultOf(outcome: AttemptOutcome): Pick<Attempt, 'status' | 'code'> {
  if ('rawBody' in outcome) return { status: outcome.status, code: undefined };
  if (outcome.kind === 'rate_limited') return { status: outcome.status, code: outcome.code ?? outcome.kind };
  const { error } = outcome;
  if (!(error instanceof FxRatesError)) return { status: undefined, code: undefined };
  return { status: error.status, code: error.code ?? error.kind };
}

/** Sent by a proxy in front of the service: the request was not counted. */
const NOT_COUNTED_STATUSES: readonly (number | undefined)[] = [502, 503];

interface FailedRequest {
  readonly wasTransmitted: boolean;
  /** That of a Retry-After. */
  readonly unit: RetryAfterUnit;
}

/** How the request of a failed attempt ended for the limiter. */
export function endOf(failure: AttemptFailure, { wasTransmitted, unit }: FailedRequest): RequestEnd {
  if (failure.kind === 'rate_limited') return { kind: 'refused', retryAfter: failure.retryAfter };
  if (!wasTransmitted) return { kind: 'unused' };
  const { error } = failure;
  const { status, retryAfter } = error instanceof FxRatesError ? error : {};
  const wasSent = !wasNeverSent(error);
  // Without a status, the caller aborted, or a function of the program failed.
  if (!isOutage(error)) return { kind: status !== undefined ? 'accepted' : wasSent ? 'lost' : 'unused' };
  const mayHaveUsedSlot = wasSent && !NOT_COUNTED_STATUSES.includes(status);
  const hintMs = retryAfterMs(retryAfter, unit);
  return { kind: 'failed', hintMs, wasSent, mayHaveUsedSlot, isTimeout: error instanceof TimeoutError, error };
}

/** Whether an error counts as a failure of the service. */
function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError) return !isPermanent(error);
  return error instanceof TimeoutError || (error instanceof FxRatesError && (error.status ?? 0) >= 500);
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
