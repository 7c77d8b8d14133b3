import type { RequestHandler } from 'msw';
import { operations } from '../../generated/operations.ts';
import type { HandleRequest } from '../handle-request.ts';
import { loadMsw } from './load-packages.ts';
import { fromRequest, toResponse } from './web-messages.ts';

/**
 * One mock as request handlers of msw: one per operation, so that `listHandlers()` and msw's messages name them, and one
 * for every other path and method. They match the mock's origin alone, so that msw still reports other requests.
 */
export function createMswHandlers(origin: string, handleRequest: HandleRequest): RequestHandler[] {
  const { http, HttpResponse } = loadMsw();
  const resolve = async ({ request }: { readonly request: Request }) => {
    const { signal } = request;
    const answer = await handleRequest(await fromRequest(request), { adapter: 'msw', gone: () => signal });
    return answer === undefined ? HttpResponse.error() : toResponse(answer, signal);
  };
  const pathOf = (path: string) => origin + path.replaceAll(/\{(\w+)\}/g, ':$1');
  const ofOperations = Object.values(operations).map(({ path }) => http.get(pathOf(path), resolve));
  // Routes, 404 and 405 are the mock's own, the same with every msw.
  return [...ofOperations, http.all(new RegExp(`^${origin.replace(/[.[\]]/g, '\\$&')}/`), resolve)];
}
