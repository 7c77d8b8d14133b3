import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isDashboardPath } from '../dashboard/dashboard.ts';
import { parseTarget } from '../http/router.ts';
import { serveIndexPage, wantsIndexPage } from '../panel/serve-panel.ts';
import type { AdminServerOptions, HandleAdmin } from './admin-server.ts';
import { hasToken, type OwnNames, refuseForeignHost, refuseForeignPage } from './gate.ts';
import { type Problem, sendProblem } from './problem.ts';
import { ADMIN_ROOT } from './route.ts';

/** The mock's own pages and API, beside the emulated service; says whether the request was for them. */
export type Admin = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/** Looks at the path alone: the pages and the API are loaded with the first request for them. */
export function createAdmin({ target, token, ...names }: AdminServerOptions & OwnNames): Admin {
  let loaded: Promise<HandleAdmin> | undefined;
  const refusalOf = (headers: IncomingHttpHeaders, path: string) => {
    // Health reveals nothing, and a token proves more than a host name.
    const needsNoName = path === HEALTH || hasToken(headers, token);
    return (needsNoName ? undefined : refuseForeignHost(headers, names)) ?? refuseForeignPage(headers);
  };
  const serveIndex = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!wantsIndexPage(incoming)) return false;
    if (!isRefused(outgoing, refuseForeignHost(incoming.headers, names))) serveIndexPage(incoming, outgoing);
    return true;
  };
  return (incoming, outgoing) => {
    const { url = '', headers } = incoming;
    if (url === '/') return serveIndex(incoming, outgoing);
    if (!OWN.test(url)) return false;
    const { path } = parseTarget(url);
    // The request handler serves the dashboard, as without a socket; foreign host names are rejected here.
    if (isDashboardPath(path)) return isRefused(outgoing, refuseForeignHost(headers, names));
    if (!isAdminPath(path)) return false;
    if (isRefused(outgoing, refusalOf(headers, path))) return true;
    loaded ??= import('./admin-server.ts').then(({ createAdminServer }) => createAdminServer({ target, token }));
    loaded.then((handle) => handle(incoming, outgoing, path.slice(ADMIN_ROOT.length))).catch(() => outgoing.destroy());
    return true;
  };
}

/** A quick look, at every request: whether it is worth a closer one. */
const OWN = /__fxrates|dashboard/;

const HEALTH = `${ADMIN_ROOT}/health`;

function isAdminPath(path: string): boolean {
  return path === ADMIN_ROOT || path.startsWith(`${ADMIN_ROOT}/`);
}

function isRefused(outgoing: ServerResponse, refusal: Problem | undefined): boolean {
  if (refusal !== undefined) sendProblem(outgoing, refusal);
  return refusal !== undefined;
}
