import type { MockRequest, MockResponse } from './mock-message.ts';
import type { ServiceResponse } from './service-response.ts';

/** Whether a browser asks if a page of another origin may send a request (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: MockRequest): boolean {
  return (
    method === 'OPTIONS' && headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  );
}

/** Allows what is asked for. Never authenticated, never counted: a preflight carries no key. */
export function preflightAnswer({ headers }: MockRequest): ServiceResponse {
  const asked = headers['access-control-request-headers'] ?? '';
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      // `*` would not stand for Authorization, which carries the key.
      'access-control-allow-headers': HEADER_NAMES.test(asked) ? asked : 'Authorization',
      'access-control-max-age': '600',
    },
    body: '',
    code: undefined,
    why: 'CORS preflight',
  };
}

/** Names alone: the list is sent back. */
const HEADER_NAMES = /^[\w-]+(?:,[ \t]*[\w-]+)*$/;

/** The answer, readable by pages of every origin. `*` needs no `Vary`, and browsers send no cookies with it. */
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
  'Preference-Applied',
  'WWW-Authenticate',
].join(', ');
