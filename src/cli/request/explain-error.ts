import type { AnyFxRatesError, Logger, NetworkError, QuotaExhaustedError } from '../../client/index.ts';
import { environmentProxy, exemption, isLoopback } from '../../environment-proxy.ts';
import { isError } from '../../foreign-values.ts';
import { visible } from '../../text.ts';
import { CliError, relatedCommand } from '../errors/cli-error.ts';
import type { Env } from '../io/io.ts';
import type { KeyInUse } from '../settings/resolve-key.ts';
import type { Invocation } from '../settings/settings.ts';
import { durationOption, durationOptionAbove, formatDuration } from '../settings/values.ts';
import { grouped, localTime, lowerFirst } from '../terminal/text.ts';

interface ErrorContext {
  readonly invocation: Invocation;
  readonly key: KeyInUse;
  readonly baseUrl: string;
}

/** A failure of the client as the user of a command line needs it. */
export function explainClientError(error: AnyFxRatesError, context: ErrorContext): CliError {
  const { kind } = error;
  if (kind === 'rate_limited' && error.reason !== 'retries') {
    const { status, code, requestId, retryAfterMs } = error;
    const isStored = status === undefined && (retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS;
    return waitTooLong(retryAfterMs, context.invocation, { status, code, requestId, isStored });
  }
  const { what = lowerFirst(error.summary), why, hints } = explanationOf(error, context);
  const { words, seconds } = outageOf(error);
  const reasons = [...(why === undefined ? [] : [why]), ...words];
  const facts = {
    status: error.status,
    request_id: error.requestId,
    cause_code: error.code,
    retry_after_seconds: seconds,
    resets_at: kind === 'quota_exhausted' ? error.resetsAt?.toISOString() : undefined,
  };
  return new CliError(what, { code: kind, why: reasons.join(', ') || undefined, hints, facts, cause: error });
}

/** The number of attempts and the Retry-After, for a failure of the service or the network. */
function outageOf({ kind, attempts, retryAfter }: AnyFxRatesError): {
  readonly words: readonly string[];
  readonly seconds?: number;
} {
  if (kind !== 'server' && kind !== 'network' && kind !== 'timeout') return { words: [] };
  const sent = attempts.length > 1 ? [`after ${attempts.length} attempts`] : [];
  if (retryAfter === undefined || retryAfter.form === 'invalid') return { words: sent };
  const waitMs = retryAfter.form === 'wait' ? retryAfter.ms : 1000 * retryAfter.value;
  if (waitMs <= 0) return { words: sent };
  return { words: [...sent, `retry in ${formatDuration(waitMs)}`], seconds: Math.ceil(waitMs / 1000) };
}

interface Explanation {
  readonly what?: string | undefined;
  readonly why?: string | undefined;
  readonly hints?: readonly string[];
}

function explanationOf(error: AnyFxRatesError, { invocation, key, baseUrl }: ErrorContext): Explanation {
  const context = { baseUrl, source: invocation.settings.baseUrl?.source ?? 'the settings', env: invocation.io.env };
  switch (error.kind) {
    case 'authentication':
      return { why: `the key is from ${key.source}`, hints: refusedKeyHints(key, invocation) };
    case 'quota_exhausted':
      return {
        ...quotaExplanation(error, invocation),
        hints: [`Not retried. See:  ${relatedCommand(['quota'], invocation.options)}`],
      };
    case 'network':
      return explainNetworkError(error, context);
    case 'timeout':
      return timeoutExplanation(error.scope, invocation, context);
    case 'response':
      return { why: excerpt(error.bodyExcerpt), hints: baseUrlHints(error, context) };
    case 'request':
      return { hints: baseUrlHints(error, context) };
    default:
      return {};
  }
}

function quotaExplanation({ quota, resetsAt }: QuotaExhaustedError, { io }: Invocation): Explanation {
  if (quota === undefined || resetsAt === undefined) return {};
  const leftMs = resetsAt.getTime() - io.clock.now();
  const when = `resets ${localTime(resetsAt.getTime(), io.timeZone)}${leftMs > 0 ? ` (in ${formatDuration(leftMs)})` : ''}`;
  return {
    what: 'the monthly quota is used up',
    why: `${grouped(quota.monthly_used)} of ${grouped(quota.monthly_limit ?? '?')}, ${when}`,
  };
}

function timeoutExplanation(
  scope: 'attempt' | 'deadline',
  { settings }: Invocation,
  context: NetworkContext,
): Explanation {
  const { host } = new URL(context.baseUrl);
  if (scope === 'deadline')
    return {
      what: `no successful response from ${host} in time`,
      why: 'the time limit for all attempts and waits has passed',
    };
  const timeout = durationOption(settings.timeoutMs);
  return {
    what: `no complete response from ${host} within ${timeout}`,
    hints: [`Wait longer:  --timeout ${durationOption(settings.timeoutMs * 2)}`, ...proxyHints(context)],
  };
}

/** The next steps if the service refuses the key. */
export function refusedKeyHints(
  { source, shadowed }: KeyInUse,
  { options }: Pick<Invocation, 'options'>,
  nextStep = `Check the setup:  ${relatedCommand(['doctor'], options)}`,
): readonly string[] {
  const precedence =
    shadowed.length === 0 ? [] : [`The key from ${source} takes precedence over ${shadowed.join(' and ')}.`];
  return [...precedence, nextStep];
}

/** The first 80 characters, on one line. */
function excerpt(body: string | undefined): string | undefined {
  const line = body?.replace(/\s+/g, ' ').trim();
  if (!line) return undefined;
  return `the body starts with: ${line.length > 80 ? `${line.slice(0, 80)}…` : line}`;
}

interface LimitedWait {
  /** With the waits before. */
  readonly sumMs?: number;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** Whether an earlier command received the Retry-After, and this one sent nothing. */
  readonly isStored?: boolean;
}

/** As the option maxRetryAfterMs of the client. A longer wait can be a mistake of the service. */
export const LONGEST_RETRY_AFTER_MS = 600_000;

/** If an earlier command received a long Retry-After. */
export const SEND_ANYWAY = 'To send a request anyway:  export FXRATES_SHARE_LIMIT=off';

/** The error of a wait that `--max-wait` does not allow. */
export function waitTooLong(
  waitMs: number | undefined,
  { settings, options }: Invocation,
  { sumMs, status, code, requestId, isStored = false }: LimitedWait = {},
): CliError {
  const { maxWaitMs } = settings;
  const when = waitMs === undefined ? 'the service sent no usable Retry-After' : `retry in ${formatDuration(waitMs)}`;
  const hasWaited = sumMs !== undefined && Math.round(sumMs) > Math.round(waitMs ?? 0);
  const enough = durationOptionAbove(sumMs ?? waitMs ?? 60_000);
  return new CliError(`rate limited${otherCode(code)}`, {
    code: 'rate_limited',
    why: `${when}, ${limitText(maxWaitMs, hasWaited)}`,
    hints: [
      `To wait:  --max-wait ${enough}${options.wait === false ? ' instead of --no-wait' : ''}`,
      ...(isStored ? [SEND_ANYWAY] : []),
    ],
    facts: {
      status,
      cause_code: code,
      request_id: requestId,
      retry_after_seconds: waitMs === undefined ? undefined : Math.ceil(waitMs / 1000),
    },
  });
}

/** The code of a 429 for a text, unless it is the documented one: the month may be used up, and the wait that long. */
export function otherCode(code: string | undefined): string {
  return code === undefined || code === 'rate_limited' ? '' : ` (${visible(code)})`;
}

function limitText(maxWaitMs: number, isSum: boolean): string {
  if (maxWaitMs === 0) return 'and waiting is off (--no-wait)';
  const limit = `--max-wait ${durationOption(maxWaitMs)}`;
  return isSum ? `with the earlier waits longer than ${limit}` : `longer than ${limit}`;
}

interface NetworkContext {
  readonly baseUrl: string;
  /** The option, variable or profile that sets the base URL. */
  readonly source: string;
  readonly env: Env;
}

function baseUrlHint({ baseUrl, source }: Pick<NetworkContext, 'baseUrl' | 'source'>): string {
  return `Is ${baseUrl} the right base URL? It comes from ${source}.`;
}

/** The advice of the client about its base URL, with the place that sets it. */
function baseUrlHints({ remedy }: AnyFxRatesError, context: NetworkContext): readonly string[] {
  return remedy === 'base_url' ? [baseUrlHint(context)] : [];
}

/** The port can have the other scheme. */
function schemeHint(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  const other = protocol === 'https:' ? 'http' : 'https';
  return `Does this port speak ${other}?  --base-url ${other}://${host}${pathname.replace(/\/$/, '')}`;
}

/** Whether the failure is that of a response that is not TLS, or of a server that expects TLS and closes the connection. */
function mayBeOtherScheme({ code, remedy, cause, attempts }: NetworkError, { protocol }: URL): boolean {
  if (attempts.some(({ status }) => status !== undefined)) return false; // the port has answered
  if (protocol === 'https:') return remedy === 'scheme';
  const isCutShort = isError(cause) && cause.message === 'aborted'; // by node:http, for a response that has begun
  return code === 'ECONNRESET' && !isCutShort;
}

/** The message for a service that sent no response: its host, the reason and the next step. */
function explainNetworkError(error: NetworkError, context: NetworkContext): Explanation {
  const { why, isProxyFailure } = error;
  const hints = [...(isProxyFailure ? [] : nextSteps(error, context)), ...networkHints(error, context)];
  return { what: `cannot reach ${new URL(context.baseUrl).host}`, why, hints };
}

/** The advice of the client in the words of the command line. */
function nextSteps(error: NetworkError, context: NetworkContext): readonly string[] {
  if (mayBeOtherScheme(error, new URL(context.baseUrl))) return [schemeHint(context.baseUrl)];
  const { advice, remedy } = error;
  if (remedy === 'certificate')
    return ['To trust a certificate of your own:  export NODE_EXTRA_CA_CERTS=/path/to/ca.pem'];
  if (remedy !== undefined) return [baseUrlHint(context)];
  return advice === undefined ? [] : [`${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`];
}

/** Hints from the environment. A certificate error has none: the certificate is the service's, with a proxy as well. */
function networkHints(
  { code, isCertificateFailure }: NetworkError,
  { baseUrl, env }: NetworkContext,
): readonly string[] {
  const url = new URL(baseUrl);
  if (code === 'ECONNREFUSED' && isLoopback(url)) return ['Is the mock server running?  fxrates mock'];
  return isCertificateFailure ? [] : proxyHints({ baseUrl, env });
}

function proxyHints({ baseUrl, env }: Pick<NetworkContext, 'baseUrl' | 'env'>): readonly string[] {
  const proxy = environmentProxy(env, baseUrl);
  if (proxy === undefined) return [];
  const bypass = `export ${exemption(env, new URL(baseUrl))}`;
  return [`${proxy.variable} names the proxy ${proxy.host}. To bypass it:  ${bypass}`];
}

/** A warning of the client, with the option of the command line instead of the client's own. */
export function warningOf({ summary, storeFailure }: Parameters<NonNullable<Logger['warnOf']>>[0]): string {
  if (storeFailure === undefined) return summary;
  return `other commands do not see the requests of this one (${storeFailure}); to share no limit, set FXRATES_SHARE_LIMIT=off`;
}
