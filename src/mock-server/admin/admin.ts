import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTarget } from '../http/router.ts';
import { ADMIN_ROOT } from './admin-root.ts';
import type { AdminTarget } from './admin-target.ts';
import { refuse } from './gate.ts';
import { sendProblem } from './send-json.ts';

/** The mock's own pages and API, beside the emulated service; says whether the request was for them. */
export type Admin = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export interface AdminOptions {
  readonly target: AdminTarget;
  readonly token: string;
  /** The name the server was told to listen at, which requests may name. */
  readonly host: string | undefined;
}

/** Looks at the path alone until somebody asks: what is behind it is loaded with the first request. */
export function createAdmin({ target, token, host }: AdminOptions): Admin {
  let loaded: Promise<(incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<void>> | undefined;
  return (incoming, outgoing) => {
    if (!incoming.url?.includes(ADMIN_ROOT)) return false;
    const { path } = parseTarget(incoming.url);
    if (path !== ADMIN_ROOT && !path.startsWith(`${ADMIN_ROOT}/`)) return false;
    const refusal = refuse(incoming.headers, host);
    if (refusal !== undefined) {
      sendProblem(outgoing, refusal);
      return true;
    }
    loaded ??= import('./admin-server.ts').then(({ createAdminServer }) => createAdminServer({ target, token }));
    loaded.then((answer) => answer(incoming, outgoing, path.slice(ADMIN_ROOT.length))).catch(() => outgoing.destroy());
    return true;
  };
}
