import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Admin } from '../adapters/node-server.ts';
import { ADMIN_ROOT, isAdminPath } from '../http/own-paths.ts';
import { parseTarget } from '../http/parse-request.ts';
import { acceptsPage, redirectToPanel, sendReadiness } from '../panel/serve-panel.ts';
import type { AdminServerOptions, HandleAdmin } from './admin-server.ts';
import { hasToken, type OwnNames, refuseForeignHost, refuseForeignPage } from './gate.ts';
import { type Problem, sendProblem } from './problem.ts';

/** Checks the path only. The control panel and the API are loaded at the first request for them. */
export function createAdmin({ mock, token, ...names }: AdminServerOptions & OwnNames): Admin {
  let loaded: Promise<HandleAdmin> | undefined;
  const refusalOf = (headers: IncomingHttpHeaders, path: string) => {
    // Health contains nothing secret, and a token is a stronger proof than a host name.
    const needsNoName = path === HEALTH || hasToken(headers, token);
    return (needsNoName ? undefined : refuseForeignHost(headers, names)) ?? refuseForeignPage(headers, names);
  };
  const answerRoot = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!isReading(incoming)) return false;
    if (!acceptsPage(incoming)) sendReadiness(outgoing);
    else if (!isRefused(outgoing, refuseForeignHost(incoming.headers, names))) redirectToPanel(outgoing);
    return true;
  };
  return (incoming, outgoing) => {
    const { url = '', headers } = incoming;
    if (url === '/') return answerRoot(incoming, outgoing);
    // A fast check of each request: other paths cannot be for the mock itself.
    if (!url.includes('/__fxrates')) return false;
    const { path } = parseTarget(url);
    if (!isAdminPath(path)) return false;
    if (isRefused(outgoing, refusalOf(headers, path))) return true;
    loaded ??= import('./admin-server.ts').then(({ createAdminServer }) => createAdminServer({ mock, token }));
    loaded.then((handle) => handle(incoming, outgoing, path.slice(ADMIN_ROOT.length))).catch(() => outgoing.destroy());
    return true;
  };
}

/** The service has no response for `/`. */
function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

const HEALTH = `${ADMIN_ROOT}/health`;

function isRefused(outgoing: ServerResponse, refusal: Problem | undefined): boolean {
  if (refusal !== undefined) sendProblem(outgoing, refusal);
  return refusal !== undefined;
}
