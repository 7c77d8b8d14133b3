import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDashboardPath } from '../dashboard/dashboard.ts';
import { parseTarget } from '../http/router.ts';
import type { AnswerAdmin } from './admin-server.ts';
import { refuseForeignHost, refuseForeignPage } from './gate.ts';
import { type Problem, sendProblem } from './problem.ts';
import { ADMIN_ROOT, type AdminTarget } from './route.ts';

/** The mock's own pages and API, beside the emulated service; says whether the request was for them. */
export type Admin = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export interface AdminOptions {
  readonly target: AdminTarget;
  readonly token: string;
  /** The name the server was told to listen at, which requests may name. */
  readonly host: string | undefined;
  /** Whether other machines may reach the server, under names that it does not know; for the dashboard alone. */
  readonly allowRemote: boolean | undefined;
}

/** Looks at the path alone until somebody asks: what is behind it is loaded with the first request. */
export function createAdmin({ target, token, host, allowRemote = false }: AdminOptions): Admin {
  let loaded: Promise<AnswerAdmin> | undefined;
  return (incoming, outgoing) => {
    const { url = '', headers } = incoming;
    if (!OWN.test(url)) return false;
    const { path } = parseTarget(url);
    // The request handler answers the dashboard, as it does without a socket; here it is kept from foreign names.
    if (isDashboardPath(path)) return !allowRemote && isRefused(outgoing, refuseForeignHost(headers, host));
    if (!isAdminPath(path)) return false;
    if (isRefused(outgoing, refuseForeignHost(headers, host) ?? refuseForeignPage(headers))) return true;
    loaded ??= import('./admin-server.ts').then(({ createAdminServer }) => createAdminServer({ target, token }));
    loaded.then((answer) => answer(incoming, outgoing, path.slice(ADMIN_ROOT.length))).catch(() => outgoing.destroy());
    return true;
  };
}

/** A quick look, at every request: whether it is worth a closer one. */
const OWN = /__fxrates|dashboard/;

function isAdminPath(path: string): boolean {
  return path === ADMIN_ROOT || path.startsWith(`${ADMIN_ROOT}/`);
}

function isRefused(outgoing: ServerResponse, refusal: Problem | undefined): boolean {
  if (refusal !== undefined) sendProblem(outgoing, refusal);
  return refusal !== undefined;
}
