import type { MockResponse } from './mock-message.ts';
import type { ServiceResponse } from './service-response.ts';

/** Writes an answer down as HTTP: the same bytes for every adapter. `date` is the value of the `Date` header. */
export function writeResponse({ status, headers, body }: ServiceResponse, method: string, date: string): MockResponse {
  if (body === '') return { status, headers: { date, ...headers }, body };
  const contentLength = String(Buffer.byteLength(body));
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': contentLength, date, ...headers },
    // HEAD: what a GET would have carried, without the body (RFC 9110 §9.3.2).
    body: method === 'HEAD' ? '' : body,
  };
}

/** Writes the `Date` header; a second at a time, because it changes no faster. */
export function createDateHeader(): (now: number) => string {
  let second = Number.NaN;
  let text = '';
  return (now) => {
    const nowSecond = Math.floor(now / 1000);
    if (nowSecond !== second) {
      second = nowSecond;
      text = new Date(nowSecond * 1000).toUTCString();
    }
    return text;
  };
}
