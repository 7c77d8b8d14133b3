import { createHash } from 'node:crypto';
import type { Switches } from '../behaviour/behaviour.ts';
import type { RateUse } from '../service/decide.ts';
import { WINDOW_MS } from '../service/rate-windows.ts';
import type { MockRequest, MockResponse } from './mock-message.ts';

/** Headers about the per-minute limit, as the switch `rateHeaders` defines; none by default. */
export function rateHeaders(
  rate: RateUse,
  now: number,
  switches: Switches,
): Readonly<Record<string, string>> | undefined {
  const remaining = Math.max(0, rate.limit - rate.used);
  switch (switches.use('rateHeaders')) {
    case 'none':
      return undefined;
    case 'x-ratelimit':
      return {
        'x-ratelimit-limit': String(rate.limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil(rate.fullAt / 1000)),
      };
    // draft-ietf-httpapi-ratelimit-headers
    case 'ietf-draft':
      return {
        'ratelimit-policy': `"minute";q=${rate.limit};w=60`,
        ratelimit: `"minute";r=${remaining};t=${Math.ceil((rate.fullAt - now) / 1000)}`,
      };
  }
}

/** Formats a wait as the switches define. By default, whole seconds, rounded up: a request after it is accepted. */
export function retryAfter(waitMs: number, switches: Switches): string {
  const unitMs = switches.use('retryAfterUnit') === 'seconds' ? 1000 : 1;
  const isDecimal = switches.use('retryAfterFormat') === 'decimal';
  const stepsPerUnit = isDecimal ? 1000 : 1;
  const shownMs = switches.use('retryAfterValue') === 'whole-minute' ? WINDOW_MS : waitMs;
  const steps = rounded((shownMs * stepsPerUnit) / unitMs, switches);
  return String(steps / stepsPerUnit);
}

function rounded(steps: number, switches: Switches): number {
  if (Number.isInteger(steps)) return steps;
  const round = { up: Math.ceil, nearest: Math.round, down: Math.floor }[switches.use('retryAfterRounding')];
  const whole = round(steps);
  return whole === 0 ? switches.use('retryAfterMin') : whole;
}

/**
 * Adds an ETag, or responds with 304 if the request has that ETag (RFC 9110 §13.1.2), as the switch defines. A 304
 * counts toward the minute like every response, and toward the month like other responses without success.
 */
export function withEtag(response: MockResponse, { headers }: MockRequest, switches: Switches): MockResponse {
  const known = headers['if-none-match'];
  // In these cases, the response does not depend on the switch.
  if (response.status !== 200 || (known === undefined && switches.values.etag === 'absent')) return response;
  const form = switches.use('etag');
  if (form === 'absent') return response;
  const etag = response.headers['etag'] ?? `${form === 'weak' ? 'W/' : ''}"${digestOf(response.body)}"`;
  if (known === undefined || !includesTag(known, etag)) return { ...response, headers: { ...response.headers, etag } };
  return { ...response, status: 304, headers: { ...response.headers, etag }, body: '', why: 'not modified' };
}

function digestOf(body: MockResponse['body']): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

/** Weak comparison (RFC 9110 §8.8.3.2): the same text is the same tag, with `W/` or without. */
function includesTag(condition: string, etag: string): boolean {
  if (condition.trim() === '*') return true;
  const tags: readonly string[] = condition.match(/"[^"]*"/g) ?? [];
  return tags.includes(etag.replace(/^W\//, ''));
}

/** Whether the request is a CORS preflight of a browser (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: MockRequest): boolean {
  return (
    method === 'OPTIONS' && headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  );
}

/** Allows what the browser requests. Neither authenticated nor counted: a preflight has no key. */
export function preflightResponse({ headers }: MockRequest): MockResponse {
  const asked = headers['access-control-request-headers'] ?? '';
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      // `*` does not include the header Authorization, which contains the key.
      'access-control-allow-headers': HEADER_NAMES.test(asked) ? asked : 'Authorization',
      'access-control-max-age': '600',
    },
    body: '',
    code: undefined,
    why: 'CORS preflight',
  };
}

/** Only valid names, because the list is sent back. */
const HEADER_NAMES = /^[\w-]+(?:,[ \t]*[\w-]+)*$/;

/** Makes the response readable for pages of every origin. `*` needs no `Vary`, and browsers then send no cookies. */
export function withCorsHeaders(response: MockResponse): MockResponse {
  return {
    ...response,
    headers: { ...response.headers, 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED },
  };
}

const EXPOSED = [
  'Date',
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'WWW-Authenticate',
].join(', ');
