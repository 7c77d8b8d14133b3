import type { AnyFxRatesError } from '../../client/index.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import type { KeyInUse } from '../settings/api-key.ts';
import { durationOption } from '../settings/duration.ts';
import { waitTooLong } from './waiting.ts';

interface Context {
  readonly invocation: Invocation;
  readonly key: KeyInUse;
  readonly baseUrl: string;
}

/** Words of the system, in words of people. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

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
    if (error.reason !== 'budget') return waitTooLong(error.retryAfterMs, context.invocation, { status: error.status });
  }
  const { what = lowerFirst(error.message), why, hints } = explanationOf(error, context);
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

interface Explanation {
  readonly what?: string | undefined;
  readonly why?: string | undefined;
  readonly hints?: readonly string[];
}

function explanationOf(error: AnyFxRatesError, { invocation, key, baseUrl }: Context): Explanation {
  switch (error.kind) {
    case 'authentication':
      return { why: `it came from ${key.source}`, hints: shadowHints(key) };
    case 'quota_exhausted':
      return { hints: ['Not retried. See:  fxrates quota'] };
    case 'network':
      return networkExplanation(error.code, baseUrl, error.message);
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

function networkExplanation(code: string | undefined, baseUrl: string, message: string): Explanation {
  const { host } = new URL(baseUrl);
  const words = SYSTEM_CODES[code ?? ''];
  const why = words === undefined ? message : `${words} (${code})`;
  return { what: `cannot reach ${host}`, why, hints: networkHints(code, baseUrl) };
}

function networkHints(code: string | undefined, baseUrl: string): string[] {
  if (code === 'ECONNREFUSED' && /\/\/(127\.|localhost|\[::1\])/.test(baseUrl)) {
    return ['Is the mock server running?  fxrates mock'];
  }
  if (/CERT|SIGNATURE/.test(code ?? ''))
    return ['To trust a certificate of your own:  export NODE_EXTRA_CA_CERTS=/path/to/ca.pem'];
  return [];
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

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
