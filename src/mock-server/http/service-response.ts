import { STATUS_CODES } from 'node:http';
import type { MockResponse } from './mock-message.ts';

/** A response before it is converted to HTTP. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** See `MockResponse`. */
  readonly cookies?: MockResponse['cookies'];
  /** JSON; empty for none. */
  readonly body: string;
  /** `error.code`; `undefined` for a success. */
  readonly code: string | undefined;
  /** The reason in words, for the journal. */
  readonly why: string;
  /** Milliseconds of the mock's clock until it is sent. Default: 0. */
  readonly delayMs?: number | undefined;
  /** Id of the stub of the response. */
  readonly stub?: string | undefined;
}

/** The documented success envelope (docs/facts.md, Response envelope) with this payload. */
export function successResponse(data: unknown): ServiceResponse {
  return envelopeResponse({ success: true, data });
}

/** The same for a payload as JSON text, whose numbers keep their digits. */
export function successResponseOfJson(data: string): ServiceResponse {
  return { ...successResponse({}), body: withoutTags(`{"success":true,"data":${data}}`) };
}

/** A response with a complete success envelope, such as an example of openapi.yaml. */
export function envelopeResponse(envelope: unknown): ServiceResponse {
  return { status: 200, headers: NO_HEADERS, body: toJson(envelope), code: undefined, why: 'served' };
}

const NO_HEADERS: ServiceResponse['headers'] = {};

export interface ErrorResponseOptions {
  readonly status: number;
  readonly code: string;
  /** Sent as `error.message`. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the message. */
  readonly why?: string;
}

/** The documented error envelope. */
export function errorResponse({
  status,
  code,
  message,
  headers = {},
  why = message,
}: ErrorResponseOptions): ServiceResponse {
  return { status, headers, body: toJson({ success: false, error: { code, message, status } }), code, why };
}

export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? '';
}

/** RFC 9110 §15.3.5, §15.3.6, §15.4.5. */
export const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The code of an error envelope without one: `service_unavailable` for `Service Unavailable`. */
export function codeOfStatus(status: number): string {
  return (reasonPhrase(status) || 'unknown').toLowerCase().replace(/\W+/g, '_');
}

function toJson(envelope: unknown): string {
  return withoutTags(JSON.stringify(envelope));
}

/** Escapes the characters of HTML tags, in case a browser reads the JSON as HTML. The values are the same. */
export function withoutTags(json: string): string {
  return json.replace(HTML_SPECIAL, (character) => HTML_ESCAPES[character] ?? character);
}

const HTML_SPECIAL = /[<>&]/g;
const HTML_ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

/** Converts a response to HTTP, the same bytes for every adapter. `date` is the value of the `Date` header. */
export function writeResponse(response: ServiceResponse, method: string, date: string): MockResponse {
  const { status, headers, cookies, body } = response;
  if (body === '') {
    // Without a length, node:http would send an empty body in chunks.
    const length = STATUSES_WITHOUT_BODY.has(status) ? {} : { 'content-length': '0' };
    return { status, headers: { ...length, date, ...headers }, cookies, body };
  }
  // HEAD: the headers of a GET, without the body (RFC 9110 §9.3.2).
  return { status, headers: headersOfBody(body, headers, date), cookies, body: method === 'HEAD' ? '' : body };
}

/** Successive responses with the same body share the headers, because the journal has thousands of them. */
function headersOfBody(body: string, given: ServiceResponse['headers'], date: string): MockResponse['headers'] {
  const isLast = body === lastHeaders.body && given === lastHeaders.given && date === lastHeaders.all['date'];
  if (!isLast) {
    const length = String(encodeBody(body).byteLength);
    const all = { 'content-type': 'application/json', 'content-length': length, date, ...given };
    lastHeaders = { body, given, all: Object.freeze(all) };
  }
  return lastHeaders.all;
}

let lastHeaders: { readonly body: string; readonly given: object; readonly all: MockResponse['headers'] } = {
  body: '',
  given: {},
  all: {},
};

/** The bytes of a body. The last ones are cached, because `content-length` needs them first, and most requests repeat. */
export function encodeBody(body: string): Buffer {
  if (body !== lastEncoded.body) lastEncoded = { body, bytes: Buffer.from(body) };
  return lastEncoded.bytes;
}

let lastEncoded = { body: '', bytes: Buffer.alloc(0) };

/** Value of the `Date` header. It is cached, because it changes once a second. */
export function dateHeader(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(second * 1000).toUTCString() };
  return lastDate.text;
}

let lastDate = { second: Number.NaN, text: '' };
