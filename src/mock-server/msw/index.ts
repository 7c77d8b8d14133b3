import type { HttpHandler } from 'msw';
import type { MockServer } from '../server/mock-server.ts';

/**
 * Returns `mock.handlers` with msw's type: handlers for all paths of the mock's origin.
 * @throws MockServerError with code `msw_missing`, if msw is not installed or cannot be loaded.
 * @example setupServer(...mockHandlers(mock), http.get('https://other.test/', () => HttpResponse.text('other')))
 */
export function mockHandlers({ handlers }: Pick<MockServer, 'handlers'>): HttpHandler[] {
  return handlers;
}
