import type { Answer } from './answer.ts';
import type { MockResponse } from './mock-message.ts';

/** Writes an answer down as HTTP: the same bytes for every adapter. `date` is the value of the `Date` header. */
export function writeResponse({ status, headers, envelope }: Answer, method: string, date: string): MockResponse {
  if (envelope === undefined) return { status, headers: { date, ...headers }, body: '' };
  const body = JSON.stringify(envelope).replace(HTML_SPECIAL, (character) => HTML_ESCAPES[character] ?? character);
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      date,
      ...headers,
    },
    // What a GET would have carried, without the body (RFC 9110 §9.3.2).
    body: method === 'HEAD' ? '' : body,
  };
}

// In JSON these mean the same escaped; a browser that takes the body for HTML finds no tag in it.
const HTML_SPECIAL = /[<>&]/g;
const HTML_ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

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
