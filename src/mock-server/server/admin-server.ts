import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../../json.ts';
import { nearestName } from '../../nearest-name.ts';
import { createOperationFinder } from '../../operation.ts';
import { inTurns } from '../clock/event-loop.ts';
import { hasBody, parseTarget } from '../http/parse-request.ts';
import { CheckedValue, checkedInput } from '../input/checked-input.ts';
import { MockServerError, show, thrownText } from '../input/mock-server-error.ts';
import { findSpace, MockMethods } from '../mock/mock-methods.ts';
import type { MockState } from '../mock/mock-state.ts';
import { PANEL_PATHS, redirectToPanel, servePanel } from '../panel/serve-panel.ts';
import { hasToken, Problem, readJsonBody, sendJson, sendProblem, tokenProblem } from './gate.ts';
import type { AdminCall, AdminRoute } from './route.ts';
import { adminRoutes } from './routes.ts';

export interface AdminServerOptions {
  readonly mock: MockState;
  readonly token: string;
}

export type HandleAdmin = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<void>;

/** Handles the paths below `/__fxrates`: the files of the control panel need no token, the API does. */
export function createAdminServer(options: AdminServerOptions): HandleAdmin {
  const methods = new WeakMap<MockState, MockMethods>();
  const methodsOf = (state: MockState) => {
    const known = methods.get(state) ?? new MockMethods(state);
    methods.set(state, known);
    return known;
  };
  return async (incoming, outgoing, path) => {
    try {
      if (path === '') return void redirectToPanel(outgoing);
      const isPanel = PANEL_PATHS.has(path) && (incoming.method === 'GET' || incoming.method === 'HEAD');
      if (isPanel) await servePanel(incoming, outgoing, path);
      else await handleApi({ ...options, methodsOf }, { incoming, outgoing, path });
    } catch (error) {
      // The admin API is for the owner of the mock. Unlike the emulated service, it shows the reason.
      const internal = { status: 500, code: 'internal_error' };
      sendProblem(outgoing, error instanceof MockServerError ? error : new Problem(thrownText(error), internal));
    }
  };
}

/** Each space has all routes, below `/spaces/{space}`. */
const IN_SPACE = /^\/spaces\/([^/]+)(\/.+)$/;

interface AdminApi extends AdminServerOptions {
  /** The methods of the mock or of a space, which are created once. */
  readonly methodsOf: (state: MockState) => MockMethods;
}

async function handleApi({ mock, token, methodsOf }: AdminApi, exchange: AdminExchange): Promise<void> {
  const { incoming } = exchange;
  const [, space, path = exchange.path] = IN_SPACE.exec(exchange.path) ?? [];
  // node:http omits the body of a response to HEAD.
  const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? 'GET');
  const found = findRoute(method, path);
  // Without the token, known and unknown names of spaces get the same response.
  const isOpen = found.route?.isOpen === true && space === undefined;
  if (!hasToken(incoming.headers, token)) refuseStranger(incoming, isOpen);
  if (found.route === undefined) throw noRoute({ method, path }, found.allowed);
  const state = space === undefined ? mock : findSpace(mock, space);
  if (space !== undefined && found.route.tag === 'spaces') {
    throw new Problem('A space cannot contain spaces; use /__fxrates/spaces.', { status: 404, code: 'not_found' });
  }
  await runRoute(found.route, { state, mock: methodsOf(state), path: found.path }, exchange);
}

/** Without the token, nothing of a body is read. */
function refuseStranger(incoming: IncomingMessage, isOpen: boolean): void {
  if (!isOpen) throw tokenProblem(incoming.headers);
  if (hasBody(incoming)) throw unwanted('body');
}

function noRoute(
  { method, path }: { readonly method: string; readonly path: string },
  allowed: readonly string[],
): Problem {
  const methods = allowed.join(', ');
  if (methods !== '') {
    const headers = { allow: methods };
    const meant = CHANGES.has(method) ? allowed.find((other) => CHANGES.has(other)) : undefined;
    const hint = meant === undefined ? '' : ` To change something here, send ${meant}.`;
    return new Problem(`This route accepts only ${methods}.${hint}`, {
      status: 405,
      code: 'method_not_allowed',
      headers,
    });
  }
  const nearest = nearestName(path, ROUTE_PATHS);
  const hint = nearest === undefined ? '' : ` did you mean ${nearest}?`;
  const text = `This route does not exist;${hint} GET /__fxrates/openapi.json lists all routes.`;
  return new Problem(text, { status: 404, code: 'not_found' });
}

/** Methods that are easily taken for one another. */
const CHANGES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

interface FoundRoute {
  readonly route: AdminRoute | undefined;
  /** The named parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Methods of the routes at this path, with HEAD for GET; empty for an unknown path. */
  readonly allowed: readonly string[];
}

const ROUTE_PATHS = adminRoutes.map(({ path }) => path);
const findPath = createOperationFinder(adminRoutes);

function findRoute(method: string, path: string): FoundRoute {
  const { operation, parameters = {} } = findPath(path) ?? {};
  const routes = adminRoutes.filter((route) => route.path === operation?.path);
  const allowed = routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  return { route: routes.find((route) => route.method === method), path: parameters, allowed };
}

/** A request of the admin API, and its response object. */
interface AdminExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Below `/__fxrates`. */
  readonly path: string;
}

type Where = Pick<AdminCall<unknown, unknown>, 'state' | 'mock' | 'path'>;

/**
 * Checks query and body of a request, runs the route, and sends its result. An unknown field is refused, because a
 * misspelt setting would have no effect.
 */
async function runRoute(route: AdminRoute, where: Where, { incoming, outgoing }: AdminExchange): Promise<void> {
  const parameters = new URLSearchParams(parseTarget(incoming.url ?? '').query);
  const query = parsed(route.query, valuesIn(parameters, route.query), 'query');
  const body = await checkedBody(route, where, incoming);
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const value = await route.run({ ...where, body, query, signal: disconnected.signal });
  const isEmpty = route.response === undefined;
  sendJson(outgoing, { status: isEmpty ? 204 : 200, body: isEmpty ? undefined : value });
}

async function checkedBody(route: AdminRoute, { state }: Where, incoming: IncomingMessage): Promise<unknown> {
  const { check, isText = false, checksBody = false, needsBody, mostBytes } = route;
  const given = await readJsonBody(incoming, { mostBytes, isText });
  if (given === undefined && needsBody) {
    throw new Problem('The body is missing; send JSON.', { status: 400, code: 'invalid_option', field: 'body' });
  }
  if (check !== undefined) return new CheckedValue(await inTurns(check(given as never, state))); // it checks any value
  const body = given ?? {};
  return checksBody ? body : parsed(route.body, body, 'body');
}

/** The values of a query. A text that its field refuses is a number or a boolean. */
function valuesIn(parameters: URLSearchParams, schema: z.ZodType | undefined): Readonly<Record<string, unknown>> {
  const fields = new Map(Object.entries<z.ZodType>(schema instanceof z.ZodObject ? schema.shape : {}));
  const values = Array.from(parameters, ([name, text]): [string, unknown] => {
    const isText = fields.get(name)?.safeParse(text).success ?? true;
    return [name, isText ? text : (parseJson(text) ?? text)];
  });
  const given = Object.fromEntries(values);
  const [twice] = values.find(([name, value]) => given[name] !== value) ?? [];
  if (twice === undefined) return given;
  const text = `The query has ${show(twice)} twice, with different values; send one.`;
  throw new Problem(text, { status: 400, code: 'invalid_option', field: twice });
}

function parsed(schema: z.ZodType | undefined, value: unknown, place: 'query' | 'body'): unknown {
  if (schema === undefined) return refuseAll(value, place);
  return checkedInput(schema, value, { what: `a field of the ${place}`, whole: place });
}

function refuseAll(value: unknown, place: string): unknown {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : undefined;
  if (names?.length === 0) return {};
  throw unwanted(place, names?.[0]);
}

function unwanted(place: string, field?: string): Problem {
  return new Problem(`This route accepts no ${place}.`, { status: 400, code: 'invalid_option', field });
}
