import { hash } from 'node:crypto';
import { apiKeyPattern } from '../../generated/service.ts';
import {
  type RecordedRequest,
  type RecordedValues,
  recordedHeaders,
  recordedParameter,
  redactKeys,
} from '../redact-keys.ts';
import { headersWithCookies, type MockRequest, type MockResponse } from './mock-message.ts';

/** A request, parsed once: for the service, for patterns, and for the journal. */
export interface ParsedRequest {
  readonly message: MockRequest;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query as sent, without the question mark. It is not parsed, because the responses to most requests are found by it. */
  readonly query: string;
  /** The API keys in the request: in the header, in the query, or in both. */
  readonly credentials: readonly SentCredential[];
  readonly recorded: RecordedRequest;
}

/** An API key in a request. The key itself is not stored. */
export interface SentCredential {
  readonly transport: 'bearer' | 'header' | 'query';
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  /** Whether it looks like an API key. */
  readonly isWellFormed: boolean;
}

/** Parses a request. `recorded` has the complete body, for patterns; the journal shortens it. */
export function parseRequest(message: MockRequest): ParsedRequest {
  const { method, target, headers, body } = message;
  const { path, query } = parseTarget(target);
  const keysInUrl = keysInQuery(query);
  // `%` can encode a part of a key.
  const isMasked = target.includes('_live_') || (target.includes('%') && redactKeys(target) !== target);
  return {
    message,
    path,
    query,
    credentials: credentialsOf(headers['authorization'] ?? '', keysInUrl[0]),
    recorded: {
      method,
      path: isMasked ? redactKeys(path) : path,
      query: query === '' ? NO_VALUES : recordedQuery(query),
      headers: recordedHeaders(headers),
      body: body && textOf(body),
      hasKeyInUrl: isMasked || keysInUrl.some((key) => key !== ''),
    },
  };
}

const NO_VALUES: RecordedValues = Object.freeze({});

/** A target cut into path and query. */
export interface Target {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** Splits a request target; the absolute form `http://host/path` (RFC 9112 §3.2.2) counts as its path. */
export function parseTarget(target: string): Target {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const fragment = local.indexOf('#');
  const sent = fragment === -1 ? local : local.slice(0, fragment);
  const question = sent.indexOf('?');
  return question === -1
    ? { path: sent, query: '' }
    : { path: sent.slice(0, question), query: sent.slice(question + 1) };
}

/** The parameters of a request, without `api_key`. */
export function parametersOf({ query }: Target): URLSearchParams {
  const parameters = new URLSearchParams(query);
  parameters.delete('api_key');
  return parameters;
}

/** Reads the three documented forms: `Bearer <key>`, the bare key, and `?api_key=<key>`. */
function credentialsOf(authorization: string, inQuery = ''): readonly SentCredential[] {
  const fromHeader = headerCredential(authorization);
  if (inQuery === '') return fromHeader === undefined ? [] : [fromHeader];
  const fromQuery = credential('query', inQuery);
  return fromHeader === undefined ? [fromQuery] : [fromHeader, fromQuery];
}

function headerCredential(value: string): SentCredential | undefined {
  const trimmed = value.trim();
  if (trimmed === '') return undefined;
  // The names of schemes ignore case (RFC 9110 §11.1).
  const scheme = /^bearer(?:[ \t]+|$)/i.exec(trimmed)?.[0];
  return scheme === undefined ? credential('header', trimmed) : credential('bearer', trimmed.slice(scheme.length));
}

function credential(transport: SentCredential['transport'], key: string): SentCredential {
  return { transport, hash: hashOf(key), isWellFormed: API_KEY.test(key) };
}

const API_KEY = new RegExp(apiKeyPattern);

/** SHA-256 of a key, in hexadecimal. The mock stores nothing else of a key. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The values of the documented parameter. Its name can be percent-encoded, as in `api%5Fkey`. */
function keysInQuery(query: string): readonly string[] {
  return MAY_HAVE_PARAMETER.test(query) ? new URLSearchParams(query).getAll('api_key') : [];
}

/** A fast check: `api_key`, or one of its characters percent-encoded. */
const MAY_HAVE_PARAMETER = /api_key|%(?:61|70|69|5f|6b|65|79)/i;

function recordedQuery(query: string): RecordedValues {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const shown = recordedParameter(name, value);
    const shownName = redactKeys(name);
    const earlier = values.get(shownName);
    if (earlier === undefined) values.set(shownName, shown);
    else if (typeof earlier === 'string') values.set(shownName, [earlier, shown]);
    else earlier.push(shown);
  }
  return Object.fromEntries(values);
}

function textOf(body: Uint8Array): string | undefined {
  return body.byteLength === 0 ? undefined : redactKeys(Buffer.from(body).toString());
}

/** The headers and the body of a response as the journal shows them: without the keys in them. */
export function recordResponse(response: MockResponse) {
  return { responseHeaders: maskedHeaders(headersWithCookies(response)), responseBody: recordedBody(response) };
}

/** Most headers contain no key, so the entry of the journal shares them with the response. */
function maskedHeaders(headers: RecordedValues): RecordedValues {
  const all = Object.values(headers).join('\n');
  if (redactKeys(all) === all) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, masked(value)]));
}

function masked(value: string | readonly string[]): string | readonly string[] {
  return typeof value === 'string' ? redactKeys(value) : value.map(redactKeys);
}

/** The part of a response body that is sent. */
function recordedBody({ body, delivery }: MockResponse): string | undefined {
  if (typeof body === 'string' && delivery === undefined) return body === '' ? undefined : shortened(redactKeys(body));
  const text = textOf(Buffer.from(body).subarray(0, delivery?.bodyBytes));
  return text && shortened(text);
}

/** The part of a body that the journal keeps. Most bodies are not copied: entries share them with the response. */
export function shortened(text: string): string {
  if (text.length <= MOST_BODY_CHARACTERS) return text;
  // A copy: a slice would keep the whole body in memory.
  return Buffer.from(text.slice(0, MOST_BODY_CHARACTERS)).toString();
}

/** How many characters of a body the journal keeps. */
export const MOST_BODY_CHARACTERS = 16_384;
