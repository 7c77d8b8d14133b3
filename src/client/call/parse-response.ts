import { isJsonObject, type JsonObject, parseJson } from '../../json.ts';
import {
  AuthenticationError,
  type ErrorDetails,
  type FxRatesError,
  RateLimitError,
  RequestError,
  ResponseError,
  type SchemaIssue,
  ServerError,
} from '../errors/errors.ts';
import type { ApiKey } from '../key/api-key.ts';
import { parseRetryAfter } from '../limits/retry-after.ts';
import type { StandardSchema } from '../options/call-options.ts';
import type { Clock } from '../time/clock.ts';
import { headerIn, type TransportResponse } from '../transport/transport.ts';
import type { ApiResponse, KeyedCall } from './call.ts';
import { parseBody } from './endpoint.ts';

const EXCERPT_LENGTH = 200;
/** Codes are short names; a longer text is part of no contract. */
const LONGEST_CODE = 100;

interface Arrival {
  /** The path of the base URL. */
  readonly basePath: string;
  readonly clock: Clock;
}

/** The data of a success. @throws the error of a failure, by status and envelope */
export function parseResponse(response: TransportResponse, call: KeyedCall, arrival: Arrival): ApiResponse {
  const { status, headers, rawBody, problem, advice } = response;
  if (status >= 300 && status < 400) throw unexpectedStatus(response, call); // whatever its body says
  const body = parseJson(rawBody); // the text is empty if there was a problem with it
  const failedStatus = status >= 400 ? status : statusOfFailure(body, status);
  if (failedStatus !== undefined) throw failureOf(failedStatus, { response, call, body, ...arrival });
  if (status < 200) throw unexpectedStatus(response, call);
  if (problem !== undefined) {
    throw new ResponseError(`${problem} (HTTP ${status})`, { ...detailsOf(response, call), advice });
  }
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

interface Failure extends Arrival {
  readonly response: TransportResponse;
  readonly call: KeyedCall;
  readonly body: unknown;
}

function failureOf(status: number, { response, call, body, basePath, clock }: Failure): FxRatesError {
  const envelope = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {};
  const said = textIn(envelope, 'message', call);
  const code = textIn(envelope, 'code', call)?.slice(0, LONGEST_CODE);
  const date = headerIn(response.headers, 'date');
  const hint = shownHeader('retry-after', response, call);
  const retryAfter = parseRetryAfter(hint, { date, nowMs: clock.now() });
  const details = { ...detailsOf(response, call), status, code, retryAfter };
  const shownStatus = status === response.status ? `HTTP ${status}` : `status ${status} in HTTP ${response.status}`;
  const suffix = `${prefixed(': ', said)} (${shownStatus}${prefixed(', ', code)})`;
  if (status === 429 || code === 'rate_limited') {
    return new RateLimitError(`The per-minute limit of the key is reached${suffix}`, { ...details, reason: 'policy' });
  }
  if (status === 401 || status === 403) {
    const { masked } = call.key;
    const what = status === 401 ? `refused the key ${masked}` : `does not allow this request with the key ${masked}`;
    return new AuthenticationError(`The service ${what}${suffix}`, details);
  }
  // Retry-After can be the reason why the call is not retried.
  const advice = shortened(prefixed('Retry-After ', hint));
  if (status >= 500) return new ServerError(`The service failed${suffix}`, { ...details, advice });
  const target = shortened(call.key.redact(basePath + call.endpoint.target));
  return new RequestError(`The service refused ${target}${suffix}`, details);
}

/** The start of a text of the envelope, without the key. */
function textIn(envelope: JsonObject, name: string, call: KeyedCall): string | undefined {
  const text = envelope[name];
  return typeof text === 'string' ? excerptOf(text, call) : undefined;
}

function prefixed(prefix: string, text: string | undefined): string {
  return text === undefined ? '' : prefix + text;
}

function unexpectedStatus(response: TransportResponse, call: KeyedCall): ResponseError {
  const { status } = response;
  if (status === 304) {
    const message = 'HTTP 304 has no body; remove the header If-None-Match';
    return new ResponseError(message, detailsOf(response, call));
  }
  const location = shownHeader('location', response, call);
  const message =
    location === undefined
      ? `Unexpected HTTP ${status}`
      : `HTTP ${status} redirects to ${shortened(location)}; not followed, because the client would send the key there`;
  return new ResponseError(message, detailsOf(response, call));
}

function notJson(response: TransportResponse, call: KeyedCall): ResponseError {
  const type = shownHeader('content-type', response, call) ?? 'no content type';
  const problem = response.rawBody === '' ? 'is empty' : 'is not JSON';
  return new ResponseError(`The body ${problem} (HTTP ${response.status}, ${shortened(type)})`, {
    ...detailsOf(response, call),
    bodyExcerpt: excerptOf(response.rawBody, call),
  });
}

function detailsOf(
  { status, headers }: Pick<TransportResponse, 'status' | 'headers'>,
  { key, attempts }: KeyedCall,
): ErrorDetails {
  return { status, headers: headersWithoutKey(headers, key), attempts };
}

interface Checked {
  readonly response: Pick<TransportResponse, 'status' | 'headers' | 'rawBody'>;
  readonly call: KeyedCall;
}

/** The output of the caller's own schema for `data`. @throws ResponseError with the schema's issues */
export async function checkPayload(schema: StandardSchema, data: unknown, checked: Checked): Promise<unknown> {
  const result = await schema['~standard'].validate(data);
  if (result.issues === undefined) return result.value;
  throw mismatch(`data of ${checked.call.endpoint.name} does not match the schema`, result.issues, checked);
}

/** `root`: the name of the value itself, for an issue without a path. */
function mismatch(
  what: string,
  issues: readonly SchemaIssue[],
  { response, call, root = '' }: Checked & { readonly root?: string },
): ResponseError {
  const { path = [], message = 'it names no issue' } = issues[0] ?? {};
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  const where = names.length === 0 ? root : `${names.join('.')}: `;
  return new ResponseError(call.key.redact(`The ${what}: ${where}${message}`), {
    ...{ ...detailsOf(response, call), issues },
    bodyExcerpt: excerptOf(response.rawBody, call),
  });
}

/** A copy of the headers with the key masked. */
export function headersWithoutKey(headers: TransportResponse['headers'], key: ApiKey): Headers {
  const shown = new Headers();
  // A service may use the key as the name of a header, which cannot contain the ellipsis of a masked key.
  const redacted = (text: string) => key.redact(text).replaceAll('…', '...');
  for (const [name, value] of headers) shown.append(redacted(name), redacted(value));
  return shown;
}

function shownHeader(name: string, { headers }: TransportResponse, { key }: KeyedCall): string | undefined {
  const value = headerIn(headers, name);
  return value === undefined ? undefined : key.redact(value);
}

function shortened(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}

function excerptOf(text: string, { key }: Pick<KeyedCall, 'key'>): string {
  return key.redact(text).slice(0, EXCERPT_LENGTH);
}
