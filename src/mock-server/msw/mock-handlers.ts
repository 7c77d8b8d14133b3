import type { RequestHandler } from 'msw';
import type { MockServer } from '../mock-server.ts';

/**
 * The mock as request handlers of msw, with msw's own type: `mock.handlers`, one per operation and one for every other
 * path of the mock's origin. Throws `MockServerError` with code `msw_missing` if msw is not installed.
 * @example setupServer(...mockHandlers(mock), http.get('https://other.test/', () => HttpResponse.text('other')))
 */
export function mockHandlers({ handlers }: Pick<MockServer, 'handlers'>): RequestHandler[] {
  return handlers;
}
