import type { AnyFxRatesError, QuotaExhaustedError } from '../../client/index.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { grouped } from '../output/grouped.ts';
import { localTime } from '../output/local-time.ts';
import type { KeyInUse } from '../settings/api-key.ts';
import { durationOption, formatDuration } from '../settings/duration.ts';
import { explainNetworkError } from './explain-network-error.ts';
import { waitTooLong } from './wait-reporter.ts';
import { withoutAdvice } from './without-advice.ts';

interface Context {
  readonly invocation: Invocation;
  readonly key: KeyInUse;
  readonly baseUrl: string;
}

const EXIT_CODES: Readonly<Record<AnyFxRatesError['kind'], ExitCode>> = {
  config: exitCodes.usage,
  authentication: exitCodes.authentication,
  rate_limited: exitCodes.rateLimited,
  quota_exhausted: exitCodes.quota,
  request: exitCodes.rejected,
  server: exitCodes.server,
  network: exitCodes.network,
  timeout: exitCodes.network,
  aborted: exitCodes.failure,
  response: exitCodes.response,
};

/** A failure of the client as the user of a command line needs it. */
export function explainClientError(error: AnyFxRatesError, context: Context): CliError {
  const { kind } = error;
  if (kind === 'rate_limited') {
    if (error.reason !== 'budget')
      return waitTooLong(error.retryAfterMs, context.invocation, { status: error.status, unit: error.retryAfterUnit });
  }
  const { what = lowerFirst(withoutAdvice(error.message)), why, hints } = explanationOf(error, context);
  const resetsAt = kind === 'quota_exhausted' ? error.resetsAt?.toISOString() : undefined;
  const { status, code: causeCode } = error;
  return new CliError(what, {
    code: kind,
    exitCode: EXIT_CODES[kind],
    why,
    hints,
    status,
    causeCode,
    resetsAt,
    cause: error,
  });
}

/** What to say besides, or instead of, the client's own message. */
export interface Explanation {
  readonly what?: string | undefined;
  readonly why?: string | undefined;
  readonly hints?: readonly string[];
}

function explanationOf(error: AnyFxRatesError, { invocation, key, baseUrl }: Context): Explanation {
  switch (error.kind) {
    case 'authentication':
      return { why: `it came from ${key.source}`, hints: shadowHints(key) };
    case 'quota_exhausted':
      return { ...quotaExplanation(error, invocation), hints: ['Not retried. See:  fxrates quota'] };
    case 'network':
      return explainNetworkError(error, {
        baseUrl,
        source: invocation.settings.baseUrl?.source ?? 'the settings',
        env: invocation.io.env,
      });
    case 'timeout':
      return timeoutExplanation(error.scope, invocation, baseUrl);
    case 'response':
      return { why: excerpt(error.bodyExcerpt) };
    case 'server':
      return { why: error.attempts.length > 1 ? `after ${error.attempts.length} attempts` : undefined };
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

function timeoutExplanation(scope: 'attempt' | 'deadline', { settings }: Invocation, baseUrl: string): Explanation {
  const { host } = new URL(baseUrl);
  if (scope === 'deadline')
    return { what: `no success from ${host} in time`, why: 'all attempts and waits are used up' };
  const timeout = durationOption(settings.timeoutMs);
  return {
    what: `no complete answer from ${host} within ${timeout}`,
    hints: [`Wait longer:  --timeout ${durationOption(settings.timeoutMs * 2)}`],
  };
}

function shadowHints({ shadowed }: KeyInUse): string[] {
  if (shadowed.length === 0) return [];
  return [`It takes precedence over ${shadowed.join(' and ')}.`];
}

/** The first 80 characters, on one line. */
function excerpt(body: string | undefined): string | undefined {
  const line = body?.replace(/\s+/g, ' ').trim();
  if (!line) return undefined;
  return `it starts with: ${line.length > 80 ? `${line.slice(0, 80)}…` : line}`;
}

/** As the second half of a sentence; `HTTP` stays. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
