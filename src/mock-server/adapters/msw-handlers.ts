import type { RequestHandler } from 'msw';
import type { HandleRequest } from '../handle-request.ts';
import { loadMsw } from './load-packages.ts';
import { fromRequest, toResponse } from './web-messages.ts';

/** Finds the mock that answers an origin; `undefined` for an origin that is nobody's. */
export type FindHandler = (origin: string) => HandleRequest | undefined;

/** One mock as request handlers of msw. They match its origin alone, so that msw still reports other requests. */
export function createMswHandlers(origin: string, handleRequest: HandleRequest): RequestHandler[] {
  return everythingHandler(new RegExp(`^${origin.replace(/[.[\]]/g, '\\$&')}/`), () => handleRequest);
}

/**
 * One handler for every path and method that `pattern` matches: routes, 404 and 405 are the mock's own, the same
 * with every msw.
 */
export function everythingHandler(pattern: RegExp, findHandler: FindHandler): RequestHandler[] {
  const { http, HttpResponse } = loadMsw();
  return [
    http.all(pattern, async ({ request }) => {
      const handleRequest = findHandler(new URL(request.url).origin);
      if (handleRequest === undefined) return undefined;
      const { signal } = request;
      const answer = await handleRequest(await fromRequest(request), { adapter: 'msw', gone: () => signal });
      return answer === undefined ? HttpResponse.error() : toResponse(answer, signal);
    }),
  ];
}
