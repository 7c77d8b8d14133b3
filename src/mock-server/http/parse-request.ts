import { hash } from 'node:crypto';
import { parse as parseQuery } from 'node:querystring';
import { apiKeyPattern } from '../../generated/service.ts';
import {
  type RecordedRequest,
  type RecordedValues,
  recordedHeaders,
  recordedQuery,
  recordedValues,
  redactKeys,
} from '../redact-keys.ts';
import type { MockRequest, MockResponse } from './mock-message.ts';

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
  /** Whether it looks like an API key. Called only for an unknown key. */
  isWellFormed(): boolean;
}

/** Parses a request. `recorded` has the complete body, for patterns; the journal shortens it. */
export function parseRequest(message: MockRequest): ParsedRequest {
  const { method, target, headers, body } = message;
  const { path, query } = parseTarget(target);
  const values = valuesByName(query);
  const mayHaveKey = MAY_HAVE_KEY.test(target);
  const [keyInUrl, ...otherKeys] = mayHaveKey ? new URLSearchParams(query).getAll('api_key') : [];
  return {
    message,
    path,
    query,
    credentials: credentialsOf(headers['authorization'] ?? '', keyInUrl),
    recorded: {
      method,
      path: mayHaveKey ? redactKeys(path) : path,
      query: mayHaveKey ? recordedQuery(values) : values,
      headers: recordedHeaders(headers),
      body: body && recordedBody(body),
      hasKeyInUrl: mayHaveKey && (redactKeys(target) !== target || [keyInUrl, ...otherKeys].some(Boolean)),
    },
  };
}

/**
 * Parameters by name. `node:querystring` decodes them, but its result has no prototype, and the copy with one takes longer
 * than the rest of the parsing. Most queries need no decoding.
 */
function valuesByName(query: string): RecordedValues {
  const values: Record<string, string> = {};
  if (query === '') return values;
  for (const pair of query.split('&')) {
    const end = pair.indexOf('=');
    const name = pair.slice(0, Math.max(end, 0));
    // `in` also finds `__proto__`, which must not be assigned.
    if (name === '' || name in values || /[%+]/.test(pair)) {
      return { ...parseQuery(query, '&', '=', { maxKeys: 0 }) } as RecordedValues; // none is undefined
    }
    values[name] = pair.slice(end + 1);
  }
  return values;
}

/** A fast check: a key, or the name of a parameter that is masked. `%` can encode a part of either. */
const MAY_HAVE_KEY = /_live_|%|key|token/i;

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
  const inHeader = authorization.trim();
  // The names of schemes ignore case (RFC 9110 §11.1).
  const key = inHeader.replace(/^bearer(?:[ \t]+|$)/i, '');
  const sent: SentCredential[] = [];
  if (inHeader !== '') sent.push(credential(key === inHeader ? 'header' : 'bearer', key));
  if (inQuery !== '') sent.push(credential('query', inQuery));
  return sent;
}

function credential(transport: SentCredential['transport'], key: string): SentCredential {
  return { transport, hash: hashOf(key), isWellFormed: () => API_KEY.test(key) };
}

const API_KEY = new RegExp(apiKeyPattern);

/** SHA-256 of a key, in hexadecimal. The mock stores nothing else of a key. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The headers and the body of a response as the journal shows them: without the keys in them. */
export function recordResponse({ headers, body, delivery }: MockResponse) {
  const text = recordedBody(delivery === undefined ? body : Buffer.from(body).subarray(0, delivery.bodyBytes));
  return { responseHeaders: recordedValues(headers), responseBody: text && shortened(text) };
}

function recordedBody(body: string | Uint8Array): string | undefined {
  if (body.length === 0) return undefined;
  return redactKeys(typeof body === 'string' ? body : Buffer.from(body).toString());
}

/** The part of a body that the journal keeps. Most bodies are not copied: entries share them with the response. */
export function shortened(text: string): string {
  if (text.length <= MOST_BODY_CHARACTERS) return text;
  // A copy: a slice would keep the whole body in memory.
  return Buffer.from(text.slice(0, MOST_BODY_CHARACTERS)).toString();
}

/** How many characters of a body the journal keeps. */
export const MOST_BODY_CHARACTERS = 16_384;
