import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod';
import { parseTarget } from '../http/router.ts';
import { MockServerError } from '../mock-server-error.ts';
import type { AdminTarget } from './admin-target.ts';
import { Problem } from './problem.ts';
import { readJsonBody } from './read-json.ts';
import type { AdminCall, AdminRoute } from './route.ts';
import { sendJson } from './send-json.ts';

interface Arrival {
  readonly route: AdminRoute;
  readonly path: Readonly<Record<string, string>>;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Reads and checks what a route takes. A field that it does not know is refused: a typo must not pass for a setting. */
export async function readCall(target: AdminTarget, arrival: Arrival): Promise<AdminCall> {
  const { route, path, incoming, outgoing } = arrival;
  const query = parsed(route.query, queryOf(incoming.url ?? ''), 'query');
  const json = await readJsonBody(incoming, route.maxBodyBytes ?? MAX_ADMIN_BODY_BYTES);
  const body = route.checksBody ? json : parsed(route.body, json, 'body');
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  return { ...target, path, body, query, gone: gone.signal, outgoing };
}

const MAX_ADMIN_BODY_BYTES = 1024 * 1024;

/** Does what the route does, and sends what it gives. */
export async function answerCall({ answer, isStream = false, run }: AdminRoute, call: AdminCall): Promise<void> {
  const value = await runChecked(run, call);
  if (isStream) return;
  const isEmpty = answer === undefined;
  sendJson(call.outgoing, { status: isEmpty ? 204 : 200, body: isEmpty ? undefined : value });
}

async function runChecked(run: AdminRoute['run'], call: AdminCall): Promise<unknown> {
  try {
    return await run(call);
  } catch (error) {
    throw error instanceof MockServerError ? refusedProblem(error) : error;
  }
}

/** What the mock refuses; without a status of the dashboard it is a wrong argument. */
export function refusedProblem(error: MockServerError): Problem {
  return new Problem(error.message, { status: error.status ?? 400, code: error.code, field: fieldOf(error) });
}

/** The mock's messages about a wrong option begin with its name: `behaviour.rateWindow is …`. */
function fieldOf({ code, message }: MockServerError): string | undefined {
  return code === 'invalid_option' ? /^([\w.]+) is /.exec(message)?.[1] : undefined;
}

function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(parseTarget(url).query));
}

function parsed(schema: z.ZodType | undefined, value: unknown, place: 'query' | 'body'): unknown {
  if (schema === undefined) return refuseAll(value, place);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(issue, place);
}

function refuseAll(value: unknown, place: string): unknown {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (isEmpty) return {};
  const field = typeof value === 'object' && value !== null ? Object.keys(value)[0] : undefined;
  throw new Problem(`This route takes no ${place}.`, { status: 400, code: 'unknown_field', field });
}

function invalid(issue: z.core.$ZodIssue | undefined, place: string): Problem {
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0] ?? ''].join('.');
    return new Problem(`${field} is not a field of the ${place}.`, { status: 400, code: 'unknown_field', field });
  }
  const field = path.length === 0 ? place : path.join('.');
  return new Problem(`${field}: ${issue?.message ?? 'not valid'}.`, { status: 400, code: 'invalid_field', field });
}
