import type { IncomingMessage, ServerResponse } from 'node:http';
import { MockServerError } from '../mock-server-error.ts';
import { answerPanel } from '../panel/answer-panel.ts';
import { findRoute } from '../web/find-route.ts';
import { ADMIN_ROOT } from './admin-root.ts';
import type { AdminTarget } from './admin-target.ts';
import { answerCall, readCall, refusedProblem } from './answer-call.ts';
import { requireToken } from './gate.ts';
import { Problem } from './problem.ts';
import { adminRoutes } from './routes.ts';
import { sendProblem } from './send-json.ts';
import { scopeOf, targetOf } from './space-scope.ts';

export interface AdminServerOptions {
  readonly target: AdminTarget;
  readonly token: string;
}

export type AnswerAdmin = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<void>;

/** Answers what is under `/__fxrates`: the control panel's files to anybody, the API to whoever has the token. */
export function createAdminServer({ target, token }: AdminServerOptions): AnswerAdmin {
  return async (incoming, outgoing, path) => {
    try {
      if (path === '') return void redirectToPanel(outgoing);
      if (await answerPanel(incoming, outgoing, path)) return;
      await answerApi(target, { incoming, outgoing, path, token });
    } catch (error) {
      sendProblem(outgoing, asProblem(error));
    }
  };
}

interface Arrival {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly path: string;
  readonly token: string;
}

async function answerApi(target: AdminTarget, { incoming, outgoing, path, token }: Arrival): Promise<void> {
  const scope = scopeOf(path);
  const found = findRoute(adminRoutes, incoming.method ?? 'GET', scope.path);
  if (found.route?.isOpen !== true) {
    const refusal = requireToken(incoming.headers, token);
    if (refusal !== undefined) throw refusal;
  }
  if (found.route === undefined) throw notFound(found.allowed);
  const call = await readCall(targetOf(target, scope.space), { ...found, route: found.route, incoming, outgoing });
  await answerCall(found.route, call);
}

function redirectToPanel(outgoing: ServerResponse): void {
  outgoing.writeHead(308, { location: `${ADMIN_ROOT}/`, 'content-length': '0' }).end();
}

function notFound(allowed: readonly string[]): Problem {
  if (allowed.length === 0) {
    return new Problem('There is no such route; GET /__fxrates/openapi.json lists them.', {
      status: 404,
      code: 'not_found',
    });
  }
  return new Problem(`This route takes ${allowed.join(', ')}.`, {
    status: 405,
    code: 'method_not_allowed',
    headers: { allow: allowed.join(', ') },
  });
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return error instanceof MockServerError ? refusedProblem(error) : internalProblem(error);
}

/** The admin API is for whoever owns the mock: unlike the emulated service it says what went wrong. */
function internalProblem(error: unknown): Problem {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'something that is no Error was thrown';
  return new Problem(text, { status: 500, code: 'internal_error' });
}
