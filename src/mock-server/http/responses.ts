import { STATUS_CODES } from 'node:http';
import type { MockResponse } from './mock-message.ts';

/** The documented success envelope (docs/facts.md, Response envelope) with this payload. */
export function successResponse(data: unknown): MockResponse {
  return envelopeResponse({ success: true, data });
}

/** The same for a payload as JSON text, whose numbers keep their digits. */
export function successResponseOfJson(data: string): MockResponse {
  return { ...successResponse({}), body: successBody(data) };
}

export function successBody(data: string): string {
  return withoutTags(`{"success":true,"data":${data}}`);
}

/** A response with a complete success envelope, such as an example of openapi.yaml. */
export function envelopeResponse(envelope: unknown): MockResponse {
  return { status: 200, headers: NO_HEADERS, body: toJson(envelope), code: undefined, why: 'served' };
}

const NO_HEADERS: MockResponse['headers'] = {};

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
}: ErrorResponseOptions): MockResponse {
  return { status, headers, body: errorBody({ status, code, message }), code, why };
}

export function errorBody({
  status,
  code,
  message,
}: Pick<ErrorResponseOptions, 'status' | 'code' | 'message'>): string {
  return toJson({ success: false, error: { code, message, status } });
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

/** Adds date and length: the same bytes for every adapter. */
export function completed(response: MockResponse, method: string, now: number): MockResponse {
  const { status, body, headers } = response;
  const date = new Date(now).toUTCString();
  if (body === '') {
    // Without a length, node:http would send an empty body in chunks.
    const length = STATUSES_WITHOUT_BODY.has(status) ? {} : { 'content-length': '0' };
    return { ...response, headers: { ...length, date, ...headers } };
  }
  const length = String(Buffer.byteLength(body));
  const all = { 'content-type': 'application/json', 'content-length': length, date, ...headers };
  // HEAD: the headers of a GET, without the body (RFC 9110 §9.3.2).
  return { ...response, headers: all, body: method === 'HEAD' ? '' : body };
}
