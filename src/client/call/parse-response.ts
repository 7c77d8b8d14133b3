import { isJsonObject, type JsonObject, parseJson } from '../../json.ts';
import {
  AuthenticationError,
  ConfigError,
  type ErrorDetails,
  RequestError,
  ResponseError,
  type SchemaIssue,
  ServerError,
} from '../errors/errors.ts';
import { mayShowKey } from '../errors/network-failure.ts';
import { describeValue, rethrowForeign } from '../errors/program-values.ts';
import type { ApiKey } from '../key/api-key.ts';
import { parseRetryAfter } from '../limits/retry-after.ts';
import type { StandardSchema } from '../options/call-options.ts';
import type { Clock } from '../time/clock.ts';
import { headerIn, headersOf, type TransportResponse } from '../transport/transport.ts';
import type { ApiResponse, Call, Refusal } from './call.ts';
import { parseBody } from './endpoint.ts';

const EXCERPT_LENGTH = 200;
/** In this part of a body, the key is masked and the text of an error is found: a whole one takes a second per MiB at worst. */
const SHOWN_LENGTH = 20_000;
/** More characters than a key has, also if most of them are encoded several times. */
const LONGEST_KEY = 2_000;
/** Codes are short names; a longer text is part of no contract. */
const LONGEST_CODE = 100;

interface Arrival {
  /** The path of the base URL. */
  readonly basePath: string;
  readonly clock: Clock;
}

/** The data of a success, or a refusal for the rate. @throws the error of another failure, by status and envelope */
export function parseResponse(response: TransportResponse, call: Call, arrival: Arrival): ApiResponse | Refusal {
  const { status, headers, rawBody, problem } = response;
  if (status >= 300 && status < 400) throw unexpectedStatus(response, call); // whatever its body says
  const body = parseJson(rawBody);
  const failedStatus = status >= 400 ? status : statusOfFailure(body, status);
  if (failedStatus !== undefined) return refusalIn(failedStatus, { response, call, body, ...arrival });
  if (status < 200) throw unexpectedStatus(response, call);
  if (problem !== undefined) throw unreadable(problem, response, call);
  if (body === undefined) throw notJson(response, call);
  const parsed = parseBody(call.endpoint, body);
  if (parsed.issues === undefined) return { status, headers, rawBody, data: parsed.data };
  const what = `response of ${call.endpoint.name} does not match the contract`;
  const oddity = mismatch(what, parsed.issues, { response, call, root: 'the body: ' });
  const data = call.endpoint.operation === 'quota' ? oddRecordIn(body) : undefined;
  if (data === undefined) throw oddity;
  return { status, headers, rawBody, data, oddity };
}

/** A quota record with any other fields: the client reads those that it needs. */
function oddRecordIn(body: unknown): JsonObject | undefined {
  const data = isJsonObject(body) && body['success'] === true ? body['data'] : undefined;
  return isJsonObject(data) && ('monthly_used' in data || 'rate_limit_per_minute' in data) ? data : undefined;
}

/** The status in an error envelope of a success response; without one, the status of the response. */
function statusOfFailure(body: unknown, cameWith: number): number | undefined {
  if (!isJsonObject(body) || body['success'] !== false) return undefined;
  const claimed = isJsonObject(body['error']) ? body['error']['status'] : undefined;
  return typeof claimed === 'number' && claimed >= 400 && claimed <= 599 ? claimed : cameWith;
}

interface FailedResponse extends Arrival {
  readonly response: TransportResponse;
  readonly call: Call;
  readonly body: unknown;
}

/** The refusal if it is for the rate. @throws the error of another failure */
function refusalIn(status: number, failure: FailedResponse): Refusal {
  const { response, call, body, clock } = failure;
  const code = codeIn(body, call);
  const date = headerIn(response.headers, 'date');
  const hint = shownHeader('retry-after', response, call);
  const retryAfter = parseRetryAfter(hint, { date, nowMs: clock.now() });
  const shownStatus = status === response.status ? `HTTP ${status}` : `status ${status} in HTTP ${response.status}`;
  const suffix = `${prefixed(': ', saidIn(body, response, call))} (${shownStatus}${prefixed(', ', code)})`;
  const details = { ...detailsOf(response, call), status, code, retryAfter };
  if (status === 429 || code === 'rate_limited') {
    const { headers, bodyExcerpt } = details;
    return { kind: 'rate_limited', said: suffix, status, code, headers, bodyExcerpt, retryAfter };
  }
  // Retry-After can be the reason why the call is not retried.
  const advice = hint ? shortened(`Retry-After ${hint}`) : undefined;
  if (status >= 500) throw new ServerError(`The service failed${suffix}`, { ...details, advice, why: suffix });
  throw refusedError({ ...failure, details }, suffix);
}

function refusedError(
  { response, call, body, basePath, details }: FailedResponse & { readonly details: ErrorDetails },
  suffix: string,
): AuthenticationError | RequestError {
  const { masked } = call.key;
  const target = shortened(call.key.redact(basePath + call.endpoint.target));
  if (details.status === 401) {
    const refused = `The service refused the key ${masked}${suffix}`;
    return new AuthenticationError(refused, { ...details, advice: CHECK_KEY });
  }
  if (details.status !== 403) {
    const next = details.status === 404 ? nextIfNotFound(call) : {};
    return new RequestError(`The service refused ${target}${suffix}`, { ...details, ...next });
  }
  return isPage(body, response)
    ? new RequestError(`The service, or a proxy before it, refused ${target} with a page${suffix}`, details)
    : new AuthenticationError(`The service does not allow this request with the key ${masked}${suffix}`, details);
}

const CHECK_KEY = 'check apiKey or FXRATES_API_KEY, and whether the key is for this baseUrl';
const CHECK_SERVER: ErrorDetails = { advice: 'check baseUrl, and the server or proxy there', remedy: 'base_url' };

function nextIfNotFound({ endpoint }: Call): ErrorDetails {
  const advice = endpoint.operation === undefined ? 'check the path of get(), and baseUrl' : 'check baseUrl';
  return { advice, remedy: 'base_url' };
}

function codeIn(body: unknown, { key }: Call): string | undefined {
  const code = isJsonObject(body) && isJsonObject(body['error']) ? body['error']['code'] : undefined;
  return typeof code === 'string' ? copyOf(startOf(code, key), LONGEST_CODE) : undefined;
}

/** A firewall or proxy responds with HTML or text, which says nothing about the key. */
function isPage(body: unknown, { rawBody, problem }: TransportResponse): boolean {
  return body === undefined && (rawBody.trim() !== '' || problem !== undefined);
}

/**
 * Names of the text of an error, the most telling first: in the envelope of the contract, in problem details (RFC 9457),
 * in OAuth and in the forms of common frameworks and gateways.
 */
const NAMES_OF_TEXT = [
  'message',
  'Message',
  'detail',
  'error_description',
  'title',
  'error',
  'errors',
  'msg',
  'info',
  'reason',
];
const DEEPEST_TEXT = 4;

/** The service's own words about a failure, on one line and without the key; `undefined` if the body has none. */
function saidIn(body: unknown, { rawBody }: TransportResponse, { key }: Call): string | undefined {
  const start = startOf(rawBody, key);
  const text = body === undefined ? pageText(start) : (textIn(body) ?? unknownForm(body, start));
  const line = key.redact(
    startOf(text ?? '', key)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return line === '' ? undefined : copyOf(line, EXCERPT_LENGTH);
}

/** A copy of the start of a text: with a slice, an error would keep the whole body in memory. */
function copyOf(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}

/** The start of a text without the key. What follows before a cut is left out: it can be a part of the key. */
function startOf(text: string, { redact }: ApiKey): string {
  return text.length <= SHOWN_LENGTH ? redact(text) : redact(text.slice(0, SHOWN_LENGTH)).slice(0, -LONGEST_KEY);
}

function textIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (depth >= DEEPEST_TEXT) return undefined;
  if (Array.isArray(value)) return textIn(value[0], depth + 1);
  if (!isJsonObject(value)) return undefined;
  for (const name of NAMES_OF_TEXT) {
    const text = textIn(value[name], depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** JSON in another form than the envelope is shown as it is, and so is an error in the envelope without any of the names. */
function unknownForm(body: unknown, rawBody: string): string | undefined {
  if (isJsonObject(body) && 'success' in body) {
    const { error } = body;
    const { code: _, status: __, ...others } = isJsonObject(error) ? error : {}; // these two are shown in any case
    return Object.keys(others).length > 0 ? JSON.stringify(error) : undefined;
  }
  const isOther = typeof body === 'object' && body !== null;
  return isOther && Object.keys(body).length > 0 ? rawBody : undefined;
}

/** The part of a page that is searched. */
const PAGE_START = 10_000;

/** The title of an HTML page, or its text; another text as it is. */
function pageText(page: string): string {
  const start = page.slice(0, PAGE_START);
  if (!/<[a-z!]/i.test(start)) return start;
  const [, title = ''] = /<(?:title|h1)\b[^>]*>([^<]+)</i.exec(start) ?? [];
  return title.trim() || start.replace(/<(script|style)\b.*?<\/\1>/gis, ' ').replace(/<[^>]*>?/g, ' ');
}

function prefixed(prefix: string, text: string | undefined): string {
  return text === undefined ? '' : prefix + text;
}

function unexpectedStatus(response: TransportResponse, call: Call): ResponseError {
  const { status } = response;
  if (status === 304) {
    const message = 'HTTP 304 has no body; remove the header If-None-Match';
    return new ResponseError(message, detailsOf(response, call));
  }
  const location = shownHeader('location', response, call);
  const details = detailsOf(response, call);
  if (location === undefined) return new ResponseError(`Unexpected HTTP ${status}`, { ...details, ...CHECK_SERVER });
  return new ResponseError(
    `HTTP ${status} redirects to ${shortened(location)}; not followed, because the client would send the key there`,
    { ...details, advice: 'if the service has moved there, set baseUrl to its new URL', remedy: 'base_url' },
  );
}

/** The problem is that of a body that could not be read as text. */
function unreadable(problem: string, response: TransportResponse, call: Call): ResponseError {
  const { status, advice } = response;
  const next = advice === undefined ? CHECK_SERVER : { advice };
  return new ResponseError(`${call.key.redact(problem)} (HTTP ${status})`, { ...detailsOf(response, call), ...next });
}

function notJson(response: TransportResponse, call: Call): ResponseError {
  const type = shownHeader('content-type', response, call) ?? 'no content type';
  const problem = response.rawBody === '' ? 'is empty' : 'is not JSON';
  return new ResponseError(`The body ${problem} (HTTP ${response.status}, ${shortened(type)})`, {
    ...detailsOf(response, call),
    ...CHECK_SERVER,
  });
}

function detailsOf(
  { status, headers, rawBody, problem }: Checked['response'] & Partial<Pick<TransportResponse, 'problem'>>,
  { key, attempts }: Call,
) {
  const bodyExcerpt = problem === undefined ? copyOf(startOf(rawBody, key), EXCERPT_LENGTH) : undefined;
  // Node 20 and 22 have no Headers with --no-experimental-fetch.
  const shown = typeof Headers === 'function' ? headersWithoutKey(headers, key) : undefined;
  return { status, headers: shown, attempts, bodyExcerpt };
}

interface Checked {
  readonly response: Pick<TransportResponse, 'status' | 'headers' | 'rawBody'>;
  readonly call: Call;
}

/** The output of the caller's own schema for `data`. @throws ResponseError with the schema's issues */
export async function checkPayload(schema: StandardSchema, data: unknown, checked: Checked): Promise<unknown> {
  const result = await (async () => schema['~standard'].validate(data))().catch(rethrowForeign);
  const { value, issues }: { value?: unknown; issues?: unknown } = Object(result);
  if (Array.isArray(issues))
    throw mismatch(`data of ${checked.call.endpoint.name} does not match the schema`, issues, checked);
  if (isJsonObject(result) && issues === undefined) return value;
  const got = describeValue(issues === undefined ? result : issues);
  throw new ConfigError(`schema: expected validate() to return { value } or { issues: [ … ] }, got ${got}`);
}

/** `root`: the name of the value itself, for an issue without a path. */
function mismatch(
  what: string,
  issues: readonly SchemaIssue[],
  { response, call, root = '' }: Checked & { readonly root?: string },
): ResponseError {
  const { path = [], message = 'it names no issue' } = issues[0] ?? {};
  // Not `path.map`: that of arktype creates a path of the class, which puts the length of the list into it.
  const names = Array.from(path, (part) => String(typeof part === 'object' ? part.key : part));
  const where = names.length === 0 ? root : `${names.join('.')}: `;
  return new ResponseError(call.key.redact(`The ${what}: ${where}${message}`), {
    ...detailsOf(response, call),
    issues: Array.from(issues, (issue) => (mayShowKey(issue, call.key) ? withoutKey(issue, call.key) : issue)),
  });
}

/** A schema quotes values and names of properties. */
function withoutKey({ message, path = [] }: SchemaIssue, { redact }: ApiKey): SchemaIssue {
  const masked = (part: PropertyKey) => (typeof part === 'string' ? redact(part) : part);
  const maskedPath = Array.from(path, (part) => (typeof part === 'object' ? { key: masked(part.key) } : masked(part)));
  return { message: redact(message), path: maskedPath };
}

/** A copy of the headers with the key masked. */
export function headersWithoutKey(headers: TransportResponse['headers'], key: ApiKey): Headers {
  // A service may use the key as the name of a header, which cannot contain the ellipsis of a masked key.
  const redacted = (text: string) => key.redact(text).replaceAll('…', '...');
  return headersOf(headers.map(([name, value]) => [redacted(name), redacted(value)]));
}

function shownHeader(name: string, { headers }: TransportResponse, { key }: Call): string | undefined {
  const value = headerIn(headers, name);
  return value === undefined ? undefined : key.redact(value);
}

function shortened(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}
