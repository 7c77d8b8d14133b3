import { createDateHeader, errorResponse, reasonPhrase, writeResponse } from '../http/service-response.ts';

/** The whole answer to what is not HTTP, as it goes over the wire. */
export function brokenRequestAnswer(errorCode: string | undefined, now: number): string {
  const refusal = REFUSALS[errorCode ?? ''] ?? {
    status: 400,
    code: 'bad_request',
    message: 'That is no HTTP request.',
  };
  const { status, headers, body } = writeResponse(errorResponse(refusal), 'GET', createDateHeader()(now));
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${lines.join('')}\r\n${body}`;
}

/** By the code of node:http's error. */
const REFUSALS: Readonly<Record<string, { status: number; code: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'The headers are larger than 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'The request took too long to arrive.' },
};
