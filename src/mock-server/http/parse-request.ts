import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../../body-bytes.ts';
import { redactKeys } from '../../redactor.ts';
import {
  MOST_BODY_CHARACTERS,
  type RecordedValues,
  recordedHeaders,
  recordedQuery,
  recordedValues,
} from '../input/masked-keys.ts';
import type { RecordedRequest } from '../matching/request-pattern.ts';
import { hashOf } from '../service/keys.ts';
import type { MockRequest, MockResponse } from './message.ts';

/** A request, parsed once: for the service, for patterns, and for the journal. */
export interface ParsedRequest {
  readonly message: MockRequest;
  /** Not masked. */
  readonly target: ParsedTarget;
  /** The API keys in the request: in the header, in the query, or in both. */
  readonly credentials: readonly SentCredential[];
  readonly recorded: RecordedRequest;
}

/** What the requests with one target have in common. Most requests repeat a target, so they share it, also in the journal. */
export interface ParsedTarget {
  /** As sent. */
  readonly path: string;
  /** Those of the query, without `api_key`. */
  readonly parameters: URLSearchParams;
  readonly keyInUrl: string | undefined;
  readonly recorded: Pick<RecordedRequest, 'path' | 'query' | 'hasKeyInUrl'>;
  /** The last response of the service to it. Within a second, most requests with one target have the same. */
  last?: CompletedResponse;
}

/** A response with its date and length, and as the journal shows it. */
interface CompletedResponse {
  readonly of: MockResponse;
  readonly method: string;
  readonly second: number;
  readonly response: MockResponse;
  recorded?: RecordedResponse;
}

/** An API key in a request. Nothing of it is kept longer than the request, except the hash of a key that the mock created. */
export interface SentCredential {
  readonly transport: 'bearer' | 'header' | 'query';
  readonly key: string;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** What a handler keeps of requests, because most repeat it: they share it, also in the journal. It has no keys. */
export interface KnownRequests {
  readonly targets: Map<string, ParsedTarget>;
  /** Those of the last request, as recorded. */
  headers: RecordedRequest['headers'];
}

/** Parses a request. `recorded` has the complete body, for patterns; the journal shortens it. */
export function parseRequest(
  message: MockRequest,
  known: KnownRequests = { targets: new Map(), headers: {} },
): ParsedRequest {
  const { method, headers, body } = message;
  const target = known.targets.get(message.target) ?? parsedTarget(message.target, known.targets);
  const { path, query, hasKeyInUrl } = target.recorded;
  known.headers = recordedHeaders(headers, known.headers);
  return {
    message,
    target,
    credentials: credentialsOf(headers['authorization'] ?? '', target.keyInUrl),
    recorded: { method, path, query, headers: known.headers, body: body && recordedBody(body), hasKeyInUrl },
  };
}

function parsedTarget(target: string, known: Map<string, ParsedTarget>): ParsedTarget {
  const { path, query } = parseTarget(target);
  const parameters = new URLSearchParams(query);
  const recordedParameters = Object.freeze(recordedQuery(parameters));
  for (const values of Object.values(recordedParameters)) Object.freeze(values); // entries and requests share them
  const keys = parameters.getAll('api_key');
  parameters.delete('api_key');
  const hasKeyInUrl = redactKeys(target) !== target || keys.some(Boolean);
  const recorded = { path: redactKeys(path), query: recordedParameters, hasKeyInUrl };
  const parsed = { path, parameters, keyInUrl: keys[0], recorded };
  if (MAY_HAVE_KEY.test(target) || target.length > LONGEST_KNOWN) return parsed;
  if (known.size === MOST_KNOWN) known.clear();
  known.set(target, parsed);
  return parsed;
}

const MOST_KNOWN = 200;
const LONGEST_KNOWN = 500;

/** A key, or the name of a parameter that is masked. `%` can encode a part of either. Such a target is not kept. */
const MAY_HAVE_KEY = /_live_|%|key|token/i;

/**
 * Splits a request target into its path and its query, with the question mark. The absolute form `http://host/path`
 * (RFC 9112 §3.2.2) counts as its path.
 */
export function parseTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const fragment = local.indexOf('#');
  const sent = fragment === -1 ? local : local.slice(0, fragment);
  const question = sent.indexOf('?');
  return question === -1 ? { path: sent, query: '' } : { path: sent.slice(0, question), query: sent.slice(question) };
}

/** Path of the control panel and the admin API. The service has no path below it. */
export const ADMIN_ROOT = '/__fxrates';

export function isAdminPath(path: string): boolean {
  return path === ADMIN_ROOT || path.startsWith(`${ADMIN_ROOT}/`);
}

/** Reads the three documented forms: `Bearer <key>`, the bare key, and `?api_key=<key>`. */
function credentialsOf(authorization: string, inQuery = ''): readonly SentCredential[] {
  const inHeader = authorization.trim();
  // The names of schemes ignore case (RFC 9110 §11.1).
  const isUsual = inHeader.startsWith('Bearer fx_'); // an expression takes ten times as long
  const key = isUsual ? inHeader.slice('Bearer '.length) : inHeader.replace(/^bearer(?:[ \t]+|$)/i, '');
  const sent = inHeader === '' ? [] : [credential(key === inHeader ? 'header' : 'bearer', key)];
  return inQuery === '' ? sent : [...sent, credential('query', inQuery)];
}

function credential(transport: SentCredential['transport'], key: string): SentCredential {
  return { transport, key, hash: hashOf(key) };
}

/** The headers and the body of a response as the journal shows them: without the keys in them. */
interface RecordedResponse {
  readonly responseHeaders: RecordedValues;
  readonly responseBody: string | undefined;
}

/** Records a response once, if it is the last one to its target, which other requests share. */
export function recordResponse(response: MockResponse, { last }: ParsedTarget): RecordedResponse {
  const known = last?.response === response ? last : undefined;
  if (known?.recorded !== undefined) return known.recorded;
  const { headers, body, text: uncoded, delivery } = response;
  const sent = delivery === undefined ? body : Buffer.from(body).subarray(0, delivery.bodyBytes);
  const text = recordedBody(sent.length === body.length ? (uncoded ?? sent) : sent);
  const recorded = { responseHeaders: Object.freeze(recordedValues(headers)), responseBody: text && shortened(text) };
  if (known !== undefined) known.recorded = recorded;
  return recorded;
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

/** The body of a request; of a longer one, its first bytes, one more than `mostBytes`. */
export async function readBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const body = new CollectedBytes();
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    body.add(chunk);
    if (body.length > mostBytes) break;
  }
  return body.bytes().subarray(0, mostBytes + 1);
}

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
