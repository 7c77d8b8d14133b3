import { isJsonObject, type JsonObject, parseJson } from '../json.ts';
import type { ApiResponse, KeyedCall, ParsedEnvelope } from './call.ts';
import type { StandardSchema } from './call-options.ts';
import {
  AuthenticationError,
  type ErrorDetails,
  type FxRatesError,
  RateLimitError,
  RequestError,
  ResponseError,
  type SchemaIssue,
  ServerError,
} from './errors/errors.ts';
import type { ApiKey } from './key/api-key.ts';
import { parseRetryAfter } from './limits/retry-after.ts';
import type { Clock } from './time/clock.ts';
import { headerIn, type TransportResponse } from './transport/transport.ts';

const EXCERPT_LENGTH = 200;
/** Codes are short names; a longer text is part of no contract. */
const LONGEST_CODE = 100;

interface Arrival {
  /** The path of the base URL. */
  readonly basePath: string;
  readonly clock: Clock;
}

/** The data of a success. @throws the error of a failure, by status and envelope */
export function parseResponse(response: TransportResponse, request: KeyedCall, arrival: Arrival): ApiResponse {
  const { status, headers, text, problem } = response;
  if (status >= 300 && status < 400) throw unexpectedStatus(response, request); // whatever its body says
  const body = parseJson(text); // the text is empty if there was a problem with it
  const failedStatus = status >= 400 ? status : statusOfFailure(body, status);
  if (failedStatus !== undefined) throw failureOf(failedStatus, { response, request, body, ...arrival });
  if (status < 200 || status >= 300) throw unexpectedStatus(response, request);
  if (problem !== undefined) throw new ResponseError(`${problem} (HTTP ${status})`, detailsOf(response, request));
  if (body === undefined) throw notJson(response, request);
  const parsed = request.endpoint.parse(body);
  if (parsed.issues !== undefined) throw notTheContract(response, request, parsed.issues);
  return { status, headers, rawBody: text, data: parsed.data };
}

/** The status in an error envelope of a success response; without one, the status of the response. */
function statusOfFailure(body: unknown, cameWith: number): number | undefined {
  if (!isJsonObject(body) || body['success'] !== false) return undefined;
  const claimed = isJsonObject(body['error']) ? body['error']['status'] : undefined;
  return typeof claimed === 'number' && claimed >= 400 && claimed <= 599 ? claimed : cameWith;
}

interface Failure extends Arrival {
  readonly response: TransportResponse;
  readonly request: KeyedCall;
  readonly body: unknown;
}

function failureOf(status: number, { response, request, body, basePath, clock }: Failure): FxRatesError {
  const envelope = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {};
  const said = textIn(envelope, 'message', request);
  const code = textIn(envelope, 'code', request)?.slice(0, LONGEST_CODE);
  const retryAfterRaw = shownHeader('retry-after', response, request);
  const retryAfter = parseRetryAfter(retryAfterRaw, { date: headerIn(response.headers, 'date'), nowMs: clock.now() });
  const details = { ...detailsOf(response, request), status, code, retryAfter };
  const shownStatus = status === response.status ? `HTTP ${status}` : `status ${status} in HTTP ${response.status}`;
  const suffix = `${prefixed(': ', said)} (${shownStatus}${prefixed(', ', code)})`;
  if (status === 429 || code === 'rate_limited') {
    return new RateLimitError(`The per-minute limit of the key is reached${suffix}`, {
      ...details,
      reason: 'policy',
      retryAfterRaw,
    });
  }
  if (status === 401 || status === 403) {
    const { masked } = request.key;
    const what = status === 401 ? `refused the key ${masked}` : `does not allow this request with the key ${masked}`;
    return new AuthenticationError(`The service ${what}${suffix}`, details);
  }
  if (status >= 500) return new ServerError(`The service failed${suffix}`, details);
  const target = shortened(request.key.redact(basePath + request.endpoint.target));
  return new RequestError(`The service refused ${target}${suffix}`, details);
}

/** The start of a text of the envelope, without the key. */
function textIn(envelope: JsonObject, name: string, request: KeyedCall): string | undefined {
  const text = envelope[name];
  return typeof text === 'string' ? excerptOf(text, request) : undefined;
}

function prefixed(prefix: string, text: string | undefined): string {
  return text === undefined ? '' : prefix + text;
}

function unexpectedStatus(response: TransportResponse, request: KeyedCall): ResponseError {
  const { status } = response;
  if (status === 304) {
    const message = 'HTTP 304 has no body; remove the header If-None-Match';
    return new ResponseError(message, detailsOf(response, request));
  }
  const location = shownHeader('location', response, request);
  const message =
    location === undefined
      ? `Unexpected HTTP ${status}`
      : `HTTP ${status} redirects to ${location}; not followed, because the client would send the key there`;
  return new ResponseError(message, detailsOf(response, request));
}

function notTheContract(
  response: TransportResponse,
  request: KeyedCall,
  issues: NonNullable<ParsedEnvelope['issues']>,
): ResponseError {
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? 'the body' : first.path.join('.');
  return new ResponseError(
    request.key.redact(
      `The response of ${request.endpoint.name} does not match the contract: ${where}: ${first?.message}`,
    ),
    { ...detailsOf(response, request), issues, bodyExcerpt: excerptOf(response.text, request) },
  );
}

function notJson(response: TransportResponse, request: KeyedCall): ResponseError {
  const type = shownHeader('content-type', response, request) ?? 'no content type';
  return new ResponseError(`The body is not JSON (HTTP ${response.status}, ${type})`, {
    ...detailsOf(response, request),
    bodyExcerpt: excerptOf(response.text, request),
  });
}

function detailsOf({ status, headers }: TransportResponse, { key, attempts }: KeyedCall): ErrorDetails {
  return { status, headers: headersWithoutKey(headers, key), attempts };
}

/** The output of the caller's own schema for `data`. @throws ResponseError with the schema's issues */
export async function checkPayload(
  schema: StandardSchema,
  data: unknown,
  { response: { status, headers, rawBody }, call }: { readonly response: ApiResponse; readonly call: KeyedCall },
): Promise<unknown> {
  const result = await schema['~standard'].validate(data);
  if (result.issues === undefined) return result.value;
  const { key, endpoint, attempts } = call;
  const [first] = result.issues;
  const problem = first === undefined ? 'it names no issue' : describe(first);
  throw new ResponseError(`The data of ${key.redact(endpoint.name)} does not match the schema: ${problem}`, {
    ...{ status, attempts, headers: headersWithoutKey(headers, key), bodyExcerpt: excerptOf(rawBody, call) },
    issues: result.issues,
  });
}

function describe({ path = [], message }: SchemaIssue): string {
  const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return where === '' ? message : `${where}: ${message}`;
}

/** A copy of the headers with the key masked. */
export function headersWithoutKey(headers: TransportResponse['headers'], key: ApiKey): Headers {
  const shown = new Headers();
  const redacted = (text: string) => inAscii(key.redact(text)); // a service may use the key as the name of a header
  for (const [name, value] of headers) shown.append(redacted(name), redacted(value));
  return shown;
}

function shownHeader(name: string, { headers }: TransportResponse, { key }: KeyedCall): string | undefined {
  const value = headerIn(headers, name);
  return value === undefined ? undefined : key.redact(value);
}

/** A header cannot contain the ellipsis of a masked key. */
function inAscii(value: string): string {
  return value.replaceAll('…', '...');
}

function shortened(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}

function excerptOf(text: string, { key }: Pick<KeyedCall, 'key'>): string {
  return key.redact(text).slice(0, EXCERPT_LENGTH);
}
