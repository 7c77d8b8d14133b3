import { types } from 'node:util';
import type { ProxyFailure } from '../../environment-proxy.ts';
import { causesOf, codeOf, isError, isPlainObject } from '../../foreign-values.ts';
import { type Attempt, ConfigError, FxRatesError, NetworkError, type Remedy } from './errors.ts';
import { thrownMessage, thrownText, UNREADABLE } from './program-values.ts';

/** An API key, as far as errors use it. */
interface SecretKey {
  /** `text` without the key. */
  redact(text: string): string;
}

interface FailedAttempt {
  readonly key: SecretKey;
  readonly attempts: readonly Attempt[];
}

/** Converts the error of a transport into one of the client's errors, without the key. */
export function networkFailure(thrown: unknown, attempt: FailedAttempt, baseUrl: string): unknown {
  try {
    return misfitOf(thrown, attempt.key) ?? failureOf(thrown, attempt, baseUrl);
  } catch {
    return failureOf(new Error(UNREADABLE), attempt, baseUrl);
  }
}

function failureOf(error: unknown, { key, attempts }: FailedAttempt, baseUrl: string): unknown {
  if (error instanceof FxRatesError || isSignal(error, key)) return error;
  const cause = withoutKey(error, key);
  // The message of a `fetch` error has no reason: the failure of the system, of undici or of a proxy is a deeper cause.
  const errors = causesOf(error);
  const code = key.redact(errors.map(nodeCodeOf).find((found) => found !== undefined) ?? '') || undefined;
  const ofProxy = errors.find(({ name }) => name === PROXY_FAILURE)?.message;
  const why = ofProxy ?? code ?? causesOf(cause).findLast(({ message }) => message)?.message ?? thrownText(cause);
  const [meaning, advice, remedy] =
    tlsRefusal(errors) ??
    meaningOf([...errors.map(({ message }) => message), why]) ??
    (errors.some(isOfParser) ? NOT_HTTP : []);
  const reason = meaning === undefined ? why : `${why}; ${meaning}`;
  const failure = new NetworkError(`No valid HTTP response from ${new URL(baseUrl).host}: ${reason}`, {
    cause,
    code,
    attempts,
    advice,
    remedy,
    why: reason,
    isProxyFailure: ofProxy !== undefined,
    isCertificateFailure: ABOUT_CERTIFICATES.has(code ?? ''),
  });
  if (errors.some(wouldFailAgain)) permanentFailures.add(failure);
  return failure;
}

/**
 * The dispatcher of another version of undici, that of the client or that of a `fetch`, refuses the request. A retry would
 * fail again.
 */
function misfitOf(error: unknown, key: SecretKey): ConfigError | undefined {
  const refusal = causesOf(error).find((cause) => codeOf(cause) === 'UND_ERR_INVALID_ARG');
  if (refusal === undefined) return undefined;
  const next = 'pass one of undici 6, 7 or 8, and to a fetch one of the same version of undici as the fetch';
  return new ConfigError(key.redact(`dispatcher: cannot send the request (${refusal.message}); ${next}`));
}

/**
 * Whether the `fetch` of a framework rejects as a signal to the framework, which must receive the same error: Next ends
 * the rendering of a static page so. By the convention of React, such an error has a `digest`.
 */
function isSignal(error: unknown, key: SecretKey): boolean {
  const digest = isError(error) && Object.getOwnPropertyDescriptor(error, 'digest')?.value;
  return typeof digest === 'string' && !mayShowKey(error, key);
}

/** The error itself if it does not contain the key; otherwise a copy of its text without the key. A `fetch` may add the URL. */
function withoutKey(error: unknown, key: SecretKey): unknown {
  if (!mayShowKey(error, key)) return error;
  const copy = new Error(key.redact(thrownMessage(error)));
  return Object.defineProperty(copy, 'stack', { value: key.redact(thrownText(error)) });
}

/** Limit of the search for the key. Errors of transports are far smaller. */
const MOST_VALUES = 10_000;

/**
 * Whether an error, a value in it, or the name of a property contains the key. Also true for values that are too large to
 * search, and for objects with hidden state, such as a `Request`.
 */
export function mayShowKey(error: unknown, key: SecretKey): boolean {
  const values = new Set<unknown>([error]);
  for (const value of values) {
    if (typeof value === 'string' && key.redact(value) !== value) return true;
    const content = contentOf(value);
    if (content === undefined || values.size + content.length > MOST_VALUES) return true;
    for (const inner of content) values.add(inner); // the loop visits these as well
  }
  return false;
}

/** Names and values of all own properties; `undefined` if these are not the complete state. */
function contentOf(value: unknown): unknown[] | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return [];
  if (!isTransparent(value)) return undefined;
  return Reflect.ownKeys(value).flatMap((name) => [String(name), Reflect.get(value, name)]);
}

/** Whether the properties of the object are its complete state, and few enough to read. */
function isTransparent(value: object): boolean {
  if (types.isProxy(value) || typeof value === 'function') return false;
  const isKnown = Array.isArray(value)
    ? value.length <= MOST_VALUES
    : value instanceof Error || types.isNativeError(value) || isPlainObject(value);
  if (!isKnown) return false;
  const names = Reflect.ownKeys(value);
  return names.length <= MOST_VALUES && !names.some((name) => isComputed(value, name));
}

/** Whether reading a property calls a function of the program. The stack has a getter of the engine in some versions. */
function isComputed(value: object, name: PropertyKey): boolean {
  return name !== 'stack' && Object.getOwnPropertyDescriptor(value, name)?.get !== undefined;
}

/** Words of Deno, whose errors have no code, and codes of Bun, with the code of Node.js. The first that occurs counts. */
const CODES: readonly (readonly [words: RegExp, code: string])[] = [
  [/invalid peer certificate: unknown ?issuer/i, 'CERT_UNTRUSTED'],
  [/invalid peer certificate: (certificate )?expired/i, 'CERT_HAS_EXPIRED'],
  [/invalid peer certificate: (certificate )?not ?valid ?yet/i, 'CERT_NOT_YET_VALID'],
  [/invalid peer certificate: (certificate )?not ?valid ?for ?name/i, 'HOSTNAME_MISMATCH'],
  [/invalid peer certificate: /, 'INVALID_PURPOSE'],
  [
    /invalid (HTTP [\w-]+|content-length) parsed|^(Malformed_HTTP_Response|InvalidContentLength) /,
    'HPE_INVALID_CONSTANT',
  ],
  [/message head is too large|^ResponseHeadersTooLarge /, 'HPE_HEADER_OVERFLOW'],
  [/connection refused \(os error/i, 'ECONNREFUSED'],
  [/dns error: .* not known/, 'ENOTFOUND'],
  [/connection closed before message completed/, 'ECONNRESET'],
  [/received corrupt message/, 'EPROTO'],
  [/^Requires net access to /, 'ERR_ACCESS_DENIED'],
  // undici's words for a status below 100, and for 101 without the header Upgrade.
  [/^The expression .* falsy value:\s+assert\((upgrade|statusCode >= 100)\)/, 'HPE_INVALID_STATUS'],
];

/** The code of an error, as Node.js names it; `undefined` if it has none. */
function nodeCodeOf(error: Error): string | undefined {
  return CODES.find(([words]) => words.test(error.message))?.[1] ?? codeOf(error);
}

/** The name, because the command line has its own copy of the class. */
const PROXY_FAILURE: ProxyFailure['name'] = 'ProxyFailure';

/** Failures before a connection exists: the request was not sent, so the service did not count it. */
const BEFORE_SENDING: readonly (string | undefined)[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'PROXY_REFUSED',
  'PROXY_FAILED',
  'ERR_ACCESS_DENIED',
];

/** Whether the request was certainly not sent. */
export function wasNeverSent(error: unknown): boolean {
  if (!FxRatesError.is(error) || error.kind !== 'network') return false;
  return BEFORE_SENDING.includes(error.code) || error.isCertificateFailure;
}

/** What a code or message of the system means, and the next step. */
type Meaning = readonly [meaning: string, advice?: string, remedy?: Remedy];

const CHECK_URL = ['check baseUrl', 'base_url'] as const;
const CHECK_SERVER = ['check the server or proxy at baseUrl', 'base_url'] as const;
const CHECK_SCHEME = ['check https:// in baseUrl', 'scheme'] as const;

const EXTRA_CA: Meaning = [
  'the certificate is not signed by a trusted authority',
  'if you trust it, start the program with NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
  'certificate',
];
const VALIDITY = "check the certificate's dates and this machine's clock";
const LONG_CHAIN: Meaning = ['the chain of certificates is longer than one of them allows'];
const MALFORMED: Meaning = ['the certificate is malformed'];
const OTHER_HOST: Meaning = ['the certificate is for another host', ...CHECK_URL];

/** Reasons for which Node refuses a certificate, by its code (OpenSSL's X509_V_ERR names, mostly). */
const ABOUT_CERTIFICATES = new Map<string, Meaning>([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', EXTRA_CA],
  ['SELF_SIGNED_CERT_IN_CHAIN', EXTRA_CA],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', EXTRA_CA],
  ['UNABLE_TO_GET_ISSUER_CERT', EXTRA_CA],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', EXTRA_CA],
  ['CERT_UNTRUSTED', EXTRA_CA],
  ['CERT_HAS_EXPIRED', ['the certificate has expired', VALIDITY]],
  ['CERT_NOT_YET_VALID', ['the certificate is not valid yet', VALIDITY]],
  ['ERR_TLS_CERT_ALTNAME_INVALID', OTHER_HOST],
  ['HOSTNAME_MISMATCH', OTHER_HOST],
  ['CERT_REVOKED', ['the certificate has been revoked']],
  ['CERT_REJECTED', ['the certificate authority is marked as rejected']],
  ['CERT_SIGNATURE_FAILURE', ['the signature of the certificate is wrong']],
  ['INVALID_CA', ['the issuer of the certificate is not a certificate authority']],
  ['INVALID_PURPOSE', ['the certificate is not valid for servers']],
  ['CERT_CHAIN_TOO_LONG', LONG_CHAIN],
  ['PATH_LENGTH_EXCEEDED', LONG_CHAIN],
  ['ERROR_IN_CERT_NOT_BEFORE_FIELD', MALFORMED],
  ['ERROR_IN_CERT_NOT_AFTER_FIELD', MALFORMED],
  ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', MALFORMED],
  ['UNABLE_TO_DECRYPT_CERT_SIGNATURE', MALFORMED],
]);

/** A TLS alert of the server, in the words of OpenSSL: Node.js has one code, `EPROTO`, for it and for a port without TLS. */
const TLS_ALERT = /:SSL routines:\w*:([^:]+):.*:SSL alert number/;

function tlsRefusal(errors: readonly Error[]): Meaning | undefined {
  const alert = errors.map(({ message }) => TLS_ALERT.exec(message)?.[1]).find((reason) => reason !== undefined);
  return alert === undefined ? undefined : [`the server refused the TLS handshake (${alert})`, ...CHECK_URL];
}

function meaningOf(words: readonly string[]): Meaning | undefined {
  return words.map((word) => MEANINGS.get(word)).find((meaning) => meaning !== undefined);
}

const permanentFailures = new WeakSet<NetworkError>();

/** Whether a retry would fail again. */
export function isPermanent(failure: NetworkError): boolean {
  return permanentFailures.has(failure);
}

/** A proxy or the runtime does not allow the request, or the program has closed the dispatcher. */
const PERMANENT = ['PROXY_REFUSED', 'ERR_ACCESS_DENIED', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'];

/** The next attempt would fail for the same reason: the certificate, the head of the response, or one of `PERMANENT`. */
function wouldFailAgain(error: Error): boolean {
  const code = nodeCodeOf(error) ?? '';
  if (PERMANENT.includes(code) || [ABOUT_CERTIFICATES, INVALID_HEADS].some((codes) => codes.has(code))) return true;
  return isOfParser(error) && !BROKEN_BODY.test(`${code} ${error.message}`);
}

/** The parser of Node.js and that of undici, which may have no code. */
function isOfParser(error: Error): boolean {
  return error.name === 'HTTPParserError' || (nodeCodeOf(error)?.startsWith('HPE_') ?? false);
}

/** Failures of a parser that a connection can cause which ends too early, so that a retry can succeed. */
const BROKEN_BODY = /CHUNK|EOF_STATE|CLOSED_CONNECTION/i;

const TIMED_OUT: Meaning = ['no connection was made in time'];
const NOT_HTTP: Meaning = [
  'the response is not valid HTTP/1.1',
  'check baseUrl, and the server or proxy there',
  'base_url',
];
const LARGE_HEAD: Meaning = [
  'the headers of the response are too large',
  'remove some at the service or the proxy that adds them, or set NODE_OPTIONS=--max-http-header-size=65536',
];
/** undici has the code also for any other header that it cannot parse, after a correct Content-Length. */
const WRONG_HEADER: Meaning = ['Content-Length or a later header is wrong', ...CHECK_SERVER];
/** What Node.js rejects in the head of a response, beside the failures of its parser. */
const INVALID_HEADS = new Map<string, Meaning>([
  ['UND_ERR_HEADERS_OVERFLOW', LARGE_HEAD],
  ['HPE_HEADER_OVERFLOW', LARGE_HEAD],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', WRONG_HEADER],
]);
const CLOSED_DISPATCHER: Meaning = ['the dispatcher is closed', 'pass one that is open'];
const NOT_TLS: Meaning = ['the server uses plain http on that port', ...CHECK_SCHEME];
const CLOSED: Meaning = ['the server or a proxy closed the connection'];

/** By the code or the message of a network failure. */
const MEANINGS = new Map<string, Meaning>([
  ...ABOUT_CERTIFICATES,
  ...INVALID_HEADS,
  // This is retried, because a name server that has just started also returns it.
  ['ENOTFOUND', ['the host does not exist', ...CHECK_URL]],
  ['ECONNREFUSED', ['no server listens on that port', 'check baseUrl, or start the server', 'base_url']],
  ['ECONNRESET', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['EAI_AGAIN', ['the name cannot be resolved at the moment']],
  ['ETIMEDOUT', TIMED_OUT],
  ['UND_ERR_CONNECT_TIMEOUT', TIMED_OUT],
  ['EHOSTUNREACH', ['no route leads to the host']],
  ['ENETUNREACH', ['the network is unreachable']],
  ['EPROTO', ['the TLS handshake failed', ...CHECK_SCHEME]],
  // OpenSSL's codes for a response that is not TLS.
  ['ERR_SSL_WRONG_VERSION_NUMBER', NOT_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NOT_TLS],
  ['UND_ERR_CLOSED', CLOSED_DISPATCHER],
  ['UND_ERR_DESTROYED', CLOSED_DISPATCHER],
  // With `--permission` of Node.js, or without a permission of Deno.
  ['ERR_ACCESS_DENIED', ['the program may not use the network', 'start it with --allow-net']],
  // undici's words for a status that the request did not ask for; the code is that of a closed connection.
  ['bad response', ['the server sent 100 Continue unasked', ...CHECK_SERVER]],
  ['bad upgrade', ['the server sent 101 Switching Protocols unasked', ...CHECK_SERVER]],
  // A fetch has no code for a port that the Fetch standard blocks.
  ['bad port', ['fetch blocks that port', ...CHECK_URL]],
]);
