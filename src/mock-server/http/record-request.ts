import { hasKeyInUrl, redactKeys } from '../redact-keys.ts';
import { headersWithCookies, type MockRequest, type MockResponse } from './mock-message.ts';
import { parseTarget, type Target } from './router.ts';

/** A request as the journal shows it and as patterns match it. API keys are masked. */
export interface RecordedRequest {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Parameters by name; a repeated parameter has an array of values. */
  readonly query: RecordedValues;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 16,384 characters of the body; `undefined` without a body. */
  readonly body: string | undefined;
  /** Whether the URL contains an API key, where logs would show it. */
  readonly hasKeyInUrl: boolean;
}

/** Values by name; an array for several values of a name. */
export type RecordedValues = Readonly<Record<string, string | readonly string[]>>;

/** Describes a request without its secrets. Unlike the journal, it has the complete body, for patterns. */
export function describeRequest({ method, target, headers, body }: MockRequest): RecordedRequest {
  return { method, ...readTarget(target).recorded, headers: recordHeaders(headers), body: completeText(body) };
}

/** The path and the query of a target, and their form in the journal. */
export interface TargetReading extends Target {
  readonly recorded: Pick<RecordedRequest, 'path' | 'query' | 'hasKeyInUrl'>;
}

/** Parses a request target. The result is cached, because tests use few targets, unless it contains a key. */
export function readTarget(target: string): TargetReading {
  const kept = readings.get(target);
  if (kept !== undefined) return kept;
  const { path, query } = parseTarget(target);
  const recorded = { path: redactKeys(path), query: recordedQuery(query), hasKeyInUrl: hasKeyInUrl(target, query) };
  const reading = { path, query, recorded };
  if (recorded.hasKeyInUrl || target.length > LONGEST_KEPT) return reading;
  if (readings.size === MOST_READINGS) readings.clear();
  readings.set(target, reading);
  return reading;
}

/** The parameters of a target, without `api_key`. */
export function queryOf({ query }: Target): URLSearchParams {
  const parameters = new URLSearchParams(query);
  parameters.delete('api_key');
  return parameters;
}

const readings = new Map<string, TargetReading>();
const MOST_READINGS = 500;
const LONGEST_KEPT = 500;

function recordedQuery(query: string): RecordedValues {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const shown = recordedParameter(name, value);
    const shownName = redactKeys(name);
    const earlier = values.get(shownName);
    if (earlier === undefined) values.set(shownName, [shown]);
    else earlier.push(shown);
  }
  const recorded = Array.from(values, ([name, [first = '', ...more]]) => [
    name,
    more.length === 0 ? first : [first, ...more],
  ]);
  // Several entries of the journal share it.
  return Object.freeze(Object.fromEntries(recorded));
}

/** A parameter without the key in it. */
export function recordedParameter(name: string, value: string): string {
  return SECRET_PARAMETER.test(name) ? maskedKey(value) : redactKeys(value);
}

/** Headers without the keys in them. Successive requests with the same headers share one record. */
export function recordHeaders(headers: MockRequest['headers']): RecordedRequest['headers'] {
  if (!isLastRecord(headers)) lastRecord = newRecord(headers);
  return lastRecord.headers;
}

/** A journal has thousands of entries. The garbage collector would copy separate headers of each. */
let lastRecord = newRecord({});

function newRecord(headers: MockRequest['headers']) {
  const shown = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, recordedHeader(name, value)] as const],
  );
  return { headers: Object.freeze(Object.fromEntries(shown)), size: shown.length };
}

function isLastRecord(headers: MockRequest['headers']): boolean {
  let size = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (recordedHeader(name, value) !== lastRecord.headers[name]) return false;
    size += 1;
  }
  return size === lastRecord.size;
}

/** A header without the key in it. `name` is in lower case. */
export function recordedHeader(name: string, value: string): string {
  return SECRET_HEADERS.has(name) ? maskedCredential(value) : redactKeys(value);
}

/** The beginning of the body as text, without the keys in it. */
export function recordBody(body: MockRequest['body']): string | undefined {
  const text = completeText(body);
  return text && shortened(text);
}

function completeText(body: MockRequest['body']): string | undefined {
  return body === undefined || body.byteLength === 0 ? undefined : redactKeys(Buffer.from(body).toString());
}

/** A response as the journal shows it: without the keys in it. */
interface RecordedResponse {
  readonly headers: RecordedValues;
  readonly body: string | undefined;
}

/** Successive responses with the same headers and body, which is most of them, share one record. */
export function recordResponse(response: MockResponse): RecordedResponse {
  const { headers, cookies, body, delivery } = response;
  if (cookies !== undefined || delivery !== undefined) return newResponseRecord(response);
  if (headers !== lastResponse.headers || body !== lastResponse.body) {
    lastResponse = { headers, body, record: newResponseRecord(response) };
  }
  return lastResponse.record;
}

let lastResponse: Pick<MockResponse, 'headers' | 'body'> & { readonly record: RecordedResponse } = {
  headers: {},
  body: '',
  record: { headers: {}, body: undefined },
};

function newResponseRecord(response: MockResponse): RecordedResponse {
  return { headers: recordedHeaders(headersWithCookies(response)), body: recordedBody(response) };
}

/** Most headers contain no key, so the entry of the journal shares them with the response. */
function recordedHeaders(headers: RecordedValues): RecordedValues {
  for (const name in headers) {
    if (masked(headers[name] ?? '') === headers[name]) continue;
    return Object.fromEntries(Object.entries(headers).map(([shown, value]) => [shown, masked(value)]));
  }
  return headers;
}

function masked(value: string | readonly string[]): string | readonly string[] {
  return typeof value === 'string' ? redactKeys(value) : value.map(redactKeys);
}

/** The part of a response body that is sent, as `recordBody` records it. */
function recordedBody({ body, delivery }: MockResponse): string | undefined {
  if (delivery !== undefined && delivery.bodyBytes !== Number.POSITIVE_INFINITY) {
    return recordBody(Buffer.from(body).subarray(0, delivery.bodyBytes));
  }
  if (typeof body !== 'string') return recordBody(body);
  return body === '' ? undefined : shortened(redactKeys(body));
}

/** The part of a body that the journal keeps. Most bodies are not copied: entries share them with the response. */
export function shortened(text: string): string {
  if (text.length <= MOST_BODY_CHARACTERS) return text;
  // A copy: a slice would keep the whole body in memory.
  return Buffer.from(text.slice(0, MOST_BODY_CHARACTERS)).toString();
}

/** How many characters of a body the journal keeps. */
export const MOST_BODY_CHARACTERS = 16_384;

const SECRET_PARAMETER = /^(?:api[_-]?key|access_token)$/i;
const SECRET_HEADERS = new Set([
  ...['authorization', 'proxy-authorization', 'cookie'],
  ...['apikey', 'api-key', 'xapikey', 'x-apikey', 'x-api-key'],
]);

/** Keeps the scheme: `Bearer fx_live_…`. */
function maskedCredential(value: string): string {
  // The header of nearly all requests, without the regular expressions below.
  if (value.startsWith(BEARER_KEY)) return MASKED_BEARER_KEY;
  const scheme = /^(?:bearer|basic|digest) +/i.exec(value)?.[0] ?? '';
  return scheme + maskedKey(value.slice(scheme.length));
}

const BEARER_KEY = 'Bearer fx_live_';
// All entries of the journal share this text.
const MASKED_BEARER_KEY = 'Bearer fx_live_…';

/** Masks a key except its prefix, which shows the kind of key. */
function maskedKey(value: string): string {
  return /^[A-Za-z0-9]{1,16}_live_(?=[0-9a-f]+$)/i.exec(value)?.[0].concat('…') ?? '…';
}
