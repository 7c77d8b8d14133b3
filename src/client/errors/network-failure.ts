import { inspect } from 'node:util';
import type { ApiKey } from '../keys/api-key.ts';
import type { KeyedRequest } from '../request.ts';
import { FxRatesError, NetworkError } from './errors.ts';

/** Errors nest a few deep, and `cause` can lead in a circle. */
const DEEPEST_CAUSE = 10;

/** What a transport threw, as one of the client's errors, without the key. */
export function networkFailure(error: unknown, { key, log }: KeyedRequest, baseUrl: string): FxRatesError {
  if (error instanceof FxRatesError) return error;
  const cause = withoutKey(error, key);
  const code = key.redact(codeOf(error) ?? '') || undefined;
  const why = code ?? innermostMessage(cause);
  const advice = networkAdvice(why);
  const message = `No valid HTTP response from ${new URL(baseUrl).host}: ${why}`;
  return new NetworkError(advice === undefined ? message : `${message}; ${advice}`, {
    cause,
    code,
    attempts: log.attempts,
  });
}

/** The error itself when nothing in it shows the key; else a copy of its text without the key (a `fetch` may put the URL into it). */
function withoutKey(error: unknown, key: ApiKey): unknown {
  const everything = { depth: DEEPEST_CAUSE, showHidden: true, maxArrayLength: null, maxStringLength: null } as const;
  const shown = inspect(error, everything);
  if (key.redact(shown) === shown) return error;
  const copy = new Error(key.redact(error instanceof Error ? error.message : shown));
  copy.stack = key.redact(error instanceof Error ? (error.stack ?? '') : shown);
  return copy;
}

/** Of a failed `fetch` the outer message says only that it failed. */
function innermostMessage(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && inner instanceof Error && inner.cause instanceof Error; depth += 1) {
    inner = inner.cause;
  }
  return inner instanceof Error ? inner.message : String(inner);
}

/** The system's or undici's code; `fetch` hides it one `cause` deeper. */
function codeOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current.cause;
  }
  return undefined;
}

/** Failures before a connection stands: the request cannot have reached the service, so nothing counted it. */
const BEFORE_SENDING: readonly (string | undefined)[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Whether the request behind an error certainly never reached the service. */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof NetworkError)) return false;
  return BEFORE_SENDING.includes(error.code) || isCertificateProblem(error.code);
}

const EXTRA_CA = 'start Node with NODE_EXTRA_CA_CERTS=/path/to/ca.pem if you trust who signed it';
const VALIDITY = "check the certificate's dates and this machine's clock";

/** The next step for a server whose certificate Node refuses, by Node's code (OpenSSL's X509_V_ERR names, mostly). */
const ABOUT_CERTIFICATES = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', EXTRA_CA],
  ['SELF_SIGNED_CERT_IN_CHAIN', EXTRA_CA],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', EXTRA_CA],
  ['UNABLE_TO_GET_ISSUER_CERT', EXTRA_CA],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', EXTRA_CA],
  ['CERT_UNTRUSTED', EXTRA_CA],
  ['CERT_HAS_EXPIRED', VALIDITY],
  ['CERT_NOT_YET_VALID', VALIDITY],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another host; check baseUrl'],
  ['HOSTNAME_MISMATCH', 'the certificate is for another host; check baseUrl'],
  ['CERT_REVOKED', 'the certificate has been revoked'],
  ['CERT_REJECTED', 'the certificate is marked to be rejected'],
  ['CERT_SIGNATURE_FAILURE', 'the signature of the certificate is wrong'],
  ['INVALID_CA', 'the certificate was signed by one that may not sign'],
  ['INVALID_PURPOSE', 'the certificate is not meant for servers'],
]);

/** Whether trying again is no use: the server showed a certificate that Node will refuse the next time, too. */
export function isCertificateProblem(code: string | undefined): boolean {
  return code !== undefined && ABOUT_CERTIFICATES.has(code);
}

const NEXT_STEPS = new Map([
  ...ABOUT_CERTIFICATES,
  // Tried again all the same: a name server that has just started, or lost its own, says that too.
  ['ENOTFOUND', 'there is no such host; check baseUrl'],
  ['ECONNREFUSED', 'nothing listens there; check baseUrl, or start the server'],
  // OpenSSL's words for an answer that is no TLS.
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the server speaks plain http there; is the https:// of baseUrl right?'],
  // A fetch has no code for a port that the Fetch standard blocks.
  ['bad port', 'fetch never connects to that port; check baseUrl'],
]);

/** What to do about a failure of the network, by its code or words; `undefined` where only time helps. */
export function networkAdvice(why: string): string | undefined {
  return NEXT_STEPS.get(why);
}
