import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { CollectedBytes } from '../../body-bytes.ts';
import { parseJson } from '../../json.ts';
import { nearestName } from '../../nearest-name.ts';
import { createOperationFinder, type FoundOperation } from '../../operation.ts';
import { inTurns } from '../clock/event-loop.ts';
import { ADMIN_ROOT, hasBody, parseTarget } from '../http/parse-request.ts';
import { checkedInput, type Steps } from '../input/checked-input.ts';
import { MockServerError, show, thrownText } from '../input/mock-server-error.ts';
import { findSpace, MockMethods } from '../mock/mock-methods.ts';
import type { MockState } from '../mock/mock-state.ts';
import { PANEL_PATHS, redirectToPanel, servePanel } from '../panel/serve-panel.ts';
import { type HandleAdmin, hasToken, Problem, readJsonBody, sendJson, sendProblem, tokenProblem } from './gate.ts';

/** The tags of the routes, with their descriptions in openapi.json. */
export const ADMIN_TAGS = {
  health: 'Readiness, and the description of the API.',
  state: 'Save, restore and reset the state.',
  clock: 'The clock of windows, quota periods and rules.',
  behaviour: 'Switches for undocumented behaviour.',
  rules: 'Responses, delays and failures that a test defines.',
  requests: 'The journal: every request with the reason for its response.',
  accounts: 'Accounts. A new one is not confirmed, and has no key.',
  keys: 'API keys. A full key is returned once, when it is created.',
  spaces: 'Isolated parts of the mock, for tests that run at the same time.',
} as const;

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A method and a path below `/__fxrates`, with parameters in braces: `PUT /accounts/{accountId}/plan`. */
type RouteName = `${HttpMethod} /${string}`;

/** A route of the admin API: the server, openapi.json and `connectMockServer` are made from it. */
export interface AdminRoute extends RouteDescription {
  readonly method: HttpMethod;
  readonly path: string;
  /** The id in openapi.json. */
  readonly id: string;
  readonly tag: keyof typeof ADMIN_TAGS;
  /** Whether a request without a body is refused: the schema refuses `{}`, which stands for no body, or the text is needed. */
  readonly needsBody: boolean;
  /** Returns the value of the response, or steps to it, between which the server handles other requests. */
  readonly run: (call: AdminCall<unknown, unknown>) => unknown;
}

/** How a method of `connectMockServer` calls a route. */
interface RemoteCall {
  /** The request for the arguments of the method. */
  readonly send: (...given: never[]) => RouteRequest;
  /**
   * The result of the method, for the value of the response.
   * @default that value
   */
  readonly read?: (value: never) => unknown;
}

/** A request to a route. */
export interface RouteRequest {
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** How long the mock may wait before it responds, in milliseconds. Default: 0. */
  readonly waitMs?: number | undefined;
}

/** Input and output of a route. Its schemas check the parameters of `run`. */
interface RouteDescription {
  /** Default: the first part of the path. */
  readonly tag?: keyof typeof ADMIN_TAGS;
  readonly summary: string;
  /** Without it, the route accepts no body. */
  readonly body?: z.ZodType;
  /** Whether `run` checks the body, as a method does with its argument: its error messages are more precise than those of the schema. */
  readonly checksBody?: boolean;
  /** Whether `run` parses the text of the body itself: numbers keep their digits. */
  readonly isText?: boolean;
  /** Without it, the route accepts no query. */
  readonly query?: z.ZodType;
  /** Schema of the response body. If omitted, the route responds with 204 and without a body. */
  readonly response?: z.ZodType;
  /** Needs no token. */
  readonly isOpen?: boolean;
  /** The methods of `connectMockServer` that call the route, by their names: `clock.now`. */
  readonly calls?: Readonly<Record<string, RemoteCall>>;
}

export interface AdminCall<Body, Query> {
  /** The mock or the space that is called. */
  readonly state: MockState;
  /** Its methods. */
  readonly mock: MockMethods;
  /** The parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** A route that is no method of the mock. */
export function route<Body extends z.ZodType = z.ZodUndefined, Query extends z.ZodType = z.ZodUndefined>(
  name: RouteName,
  definition: Omit<RouteDescription, 'body' | 'query'> & {
    readonly id: string;
    readonly body?: Body;
    readonly query?: Query;
    readonly run: (call: AdminCall<z.output<Body>, z.output<Query>>) => unknown;
  },
): AdminRoute {
  return { ...partsOf(name), ...definition, needsBody: needsBody(definition) } as AdminRoute; // its schemas check what `run` receives
}

type Methods<Part> = {
  [Name in keyof Part & string]: Part[Name] extends (...given: never) => unknown ? Name : never;
}[keyof Part & string];

/** A method of a mock and a space: `createKey`, `rules.add`. */
type MethodId =
  | Methods<MockMethods>
  | { [Part in keyof MockMethods & string]: `${Part}.${Methods<MockMethods[Part]>}` }[keyof MockMethods & string];

/** A route that calls a method of the mock with the parameters of the path, then body and query, as `connectMockServer` does. */
export function method(name: RouteName, id: MethodId, description: RouteDescription): AdminRoute {
  const [part = '', own = part] = id.split('.');
  const inPath = Array.from(name.matchAll(/\{(\w+)\}/g), ([, parameter = '']) => parameter);
  const others = (['body', 'query'] as const).filter((place) => description[place] !== undefined);
  const givenIn = (call: AdminCall<unknown, unknown>) =>
    [...inPath.map((parameter) => call.path[parameter]), ...others.map((place) => call[place])] as never[]; // checked by the method
  const run: AdminRoute['run'] = (call) => {
    const target: object = own === part ? call.mock : Reflect.get(call.mock, part);
    return Reflect.get(target, own).apply(target, givenIn(call));
  };
  const send = (...given: readonly unknown[]): RouteRequest => ({
    path: Object.fromEntries(inPath.map((parameter, index) => [parameter, given[index]])),
    ...Object.fromEntries(others.map((place, index) => [place, given[inPath.length + index]])),
  });
  return {
    ...partsOf(name),
    ...description,
    needsBody: needsBody(description),
    checksBody: description.body !== undefined,
    id,
    calls: { [id]: { send }, ...description.calls },
    run,
  };
}

function partsOf(name: RouteName): Pick<AdminRoute, 'method' | 'path' | 'tag'> {
  const [, method, path, tag] = /^(\S+) (\/([a-z]+).*)$/.exec(name) ?? [];
  return { method, path, tag } as Pick<AdminRoute, 'method' | 'path' | 'tag'>;
}

/** Without a body, a route accepts `{}`, which some clients send. */
function needsBody({ body, isText = false }: RouteDescription): boolean {
  return body !== undefined && (isText || !body.safeParse({}).success);
}

interface AdminServerOptions {
  readonly mock: MockState;
  readonly token: string;
  readonly routes: readonly AdminRoute[];
}

/** Handles the paths below `/__fxrates`: the files of the control panel need no token, the API does. */
export function createAdminServer(options: AdminServerOptions): HandleAdmin {
  const methods = new WeakMap<MockState, MockMethods>();
  const methodsOf = (state: MockState) => {
    const known = methods.get(state) ?? new MockMethods(state);
    methods.set(state, known);
    return known;
  };
  const api = { ...options, methodsOf, findPath: createOperationFinder(options.routes) };
  return async (incoming, outgoing, path) => {
    try {
      if (path === '') return void redirectToPanel(outgoing);
      const isPanel = PANEL_PATHS.has(path) && (incoming.method === 'GET' || incoming.method === 'HEAD');
      if (isPanel) await servePanel(incoming, outgoing, path);
      else await handleApi(api, { incoming, outgoing, path });
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
  readonly findPath: (path: string) => FoundOperation<AdminRoute> | undefined;
}

async function handleApi(api: AdminApi, exchange: AdminExchange): Promise<void> {
  const { mock, token, methodsOf, findPath, routes } = api;
  const { incoming } = exchange;
  const [, space, target = exchange.path] = IN_SPACE.exec(exchange.path) ?? [];
  // node:http omits the body of a response to HEAD.
  const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? 'GET');
  const { operation, parameters: path = {} } = findPath(target) ?? {};
  const atPath = routes.filter((one) => one.path === operation?.path);
  const route = atPath.find((one) => one.method === method);
  // Without the token, known and unknown names of spaces get the same response.
  const isOpen = route?.isOpen === true && space === undefined;
  if (!hasToken(incoming.headers, token)) refuseStranger(incoming, isOpen);
  if (route === undefined) throw noRoute({ path: exchange.path, target, atPath, routes });
  const state = space === undefined ? mock : findSpace(mock, space);
  if (space !== undefined && route.tag === 'spaces') {
    throw new Problem('A space cannot contain spaces; use /__fxrates/spaces.', { status: 404, code: 'not_found' });
  }
  await runRoute(route, { state, mock: methodsOf(state), path }, exchange);
}

/** Without the token, nothing of a body is read. */
function refuseStranger(incoming: IncomingMessage, isOpen: boolean): void {
  if (!isOpen) throw tokenProblem(incoming.headers);
  if (hasBody(incoming)) throw unwanted('body');
}

function noRoute({ path, target, atPath, routes }: UnknownRoute): Problem {
  const allowed = atPath.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  const methods = allowed.join(', ');
  if (methods !== '') {
    const refused = { status: 405, code: 'method_not_allowed', headers: { allow: methods } };
    return new Problem(`This route accepts only ${methods}.`, refused);
  }
  const paths = routes.map((route) => route.path);
  // The methods of a mock have other names than the routes: `journal.list` is `/requests`.
  const [, name] = target.split('/');
  const named = routes.find(({ calls = {} }) => Object.keys(calls).some((id) => id.split('.')[0] === name));
  const nearest = nearestName(target, paths) ?? named?.path;
  const hint = nearest === undefined ? '' : ` did you mean ${ADMIN_ROOT}${path.slice(0, -target.length)}${nearest}?`;
  const text = `This route does not exist;${hint} GET /__fxrates/openapi.json lists all routes.`;
  return new Problem(text, { status: 404, code: 'not_found' });
}

interface UnknownRoute extends Pick<AdminApi, 'routes'>, Pick<AdminExchange, 'path'> {
  /** The end of the path: below that of a space. */
  readonly target: string;
  /** Those with other methods. */
  readonly atPath: readonly AdminRoute[];
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
  const body = await checkedBody(route, incoming);
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const call = { ...where, body, query, signal: disconnected.signal };
  try {
    const result = route.run(call);
    const value = await (isSteps(result) ? inTurns(result) : result);
    if (route.response === undefined) sendJson(outgoing, { status: 204, json: '' });
    else sendJson(outgoing, { status: 200, json: await inTurns(jsonOf(value)) });
  } finally {
    if (route.method !== 'GET' && route.tag !== 'requests') where.state.noteChange?.(); // the journal is not in the state
  }
}

function isSteps(result: unknown): result is Steps<unknown> {
  return Object(result)[Symbol.toStringTag] === 'Generator';
}

/** A result as JSON. Lists, also in an object, can be long: each of their entries is a step. */
export function* jsonOf(value: unknown): Steps<Uint8Array> {
  const json = new CollectedBytes();
  for (const piece of Array.isArray(value) ? listPieces(value) : objectPieces(Object(value))) {
    json.add(Buffer.from(piece));
    yield;
  }
  return json.bytes();
}

function* listPieces(list: readonly unknown[]): Generator<string, void> {
  yield '[';
  for (const [index, entry] of list.entries()) yield (index === 0 ? '' : ',') + JSON.stringify(entry);
  yield ']';
}

function* objectPieces(value: object): Generator<string, void> {
  // As in JSON: a rule can have a function.
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && typeof field !== 'function');
  yield '{';
  for (const [index, [name, field]] of fields.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(name)}:`;
    if (Array.isArray(field)) yield* listPieces(field);
    else yield JSON.stringify(field);
  }
  yield '}';
}

async function checkedBody(route: AdminRoute, incoming: IncomingMessage): Promise<unknown> {
  const { isText = false, checksBody = false, needsBody } = route;
  const given = await readJsonBody(incoming, { isText });
  if (given === undefined && needsBody) {
    throw new Problem('The body is missing; send JSON.', { status: 400, code: 'invalid_option', field: 'body' });
  }
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
