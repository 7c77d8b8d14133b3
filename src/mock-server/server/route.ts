import * as z from 'zod';
import type { Steps } from '../input/checked-input.ts';
import type { MockMethods } from '../mock/mock-methods.ts';
import type { MockState } from '../mock/mock-state.ts';
import { problem } from './gate.ts';

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
  readonly mostBytes: number;
  /** Returns the value of the response. */
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
  /** Checks a body in steps, between which the server handles other requests. `run` receives the checked value. */
  readonly check?: (body: never, state: MockState) => Steps<unknown>;
  /** Whether `check` parses the text of the body itself: numbers keep their digits. */
  readonly isText?: boolean;
  /** The largest body. Default: 256 KiB, which is checked so fast that no other request notices. */
  readonly mostBytes?: number;
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
  return { ...partsOf(name), ...definition, ...boundsOf(definition) } as AdminRoute; // its schemas check what `run` receives
}

type Methods<Part> = {
  [Name in keyof Part & string]: Part[Name] extends (...given: never) => unknown ? Name : never;
}[keyof Part & string];

/** A method of a mock and a space: `createKey`, `rules.add`. */
type MethodId =
  | Methods<MockMethods>
  | { [Part in keyof MockMethods & string]: `${Part}.${Methods<MockMethods[Part]>}` }[keyof MockMethods & string];

/** A route that calls a method of the mock with the parameters of the path, then body and query, as `connectMockServer` does. */
export function method(name: RouteName, id: MethodId, { calls, ...description }: RouteDescription): AdminRoute {
  const [part = '', own = part] = id.split('.');
  const inPath = Array.from(name.matchAll(/\{(\w+)\}/g), ([, parameter = '']) => parameter);
  const others = (['body', 'query'] as const).filter((place) => description[place] !== undefined);
  const run: AdminRoute['run'] = (call) => {
    const target: object = own === part ? call.mock : Reflect.get(call.mock, part);
    const given = [...inPath.map((parameter) => call.path[parameter]), ...others.map((place) => call[place])];
    return Reflect.get(target, own).apply(target, given);
  };
  const send = (...given: readonly unknown[]): RouteRequest => ({
    path: Object.fromEntries(inPath.map((parameter, index) => [parameter, given[index]])),
    ...Object.fromEntries(others.map((place, index) => [place, given[inPath.length + index]])),
  });
  const checksBody = description.body !== undefined;
  return {
    ...partsOf(name),
    ...description,
    ...boundsOf(description),
    checksBody,
    id,
    calls: { [id]: { send }, ...calls },
    run,
  };
}

function partsOf(name: RouteName): Pick<AdminRoute, 'method' | 'path' | 'tag'> {
  const [, method, path, tag] = /^(\S+) (\/([a-z]+).*)$/.exec(name) ?? [];
  return { method, path, tag } as Pick<AdminRoute, 'method' | 'path' | 'tag'>;
}

/** What is known of the body of a request before it is read. Without a body, a route accepts `{}`, which some clients send. */
function boundsOf({ body, isText = false, mostBytes = 256 * 1024 }: RouteDescription) {
  if (body === undefined) return { needsBody: false, mostBytes: 1024 };
  return { needsBody: isText || !body.safeParse({}).success, mostBytes };
}

/** The admin API as OpenAPI 3.1, generated from its routes. */
export function openApi(routes: readonly AdminRoute[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Admin API of the fxrates mock server',
      version: '1',
      description: 'Controls a mock server from another process. The emulated service never counts these requests.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/__fxrates', description: 'The mock itself.' },
      {
        url: '/__fxrates/spaces/{space}',
        description: 'A space: the same routes, except those of spaces.',
        variables: { space: { default: 'space_1', description: 'Name of an open space.' } },
      },
    ],
    security: [{ adminToken: [] }],
    tags: Array.from(new Set(routes.map(({ tag }) => tag)), (name) => ({ name, description: ADMIN_TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'Printed when the mock starts.' },
      },
      schemas: { Problem: schemaOf(problem) },
    },
  };
}

function operation(route: AdminRoute) {
  const { id, tag, summary, body, isOpen = false } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${summary}. ${isOpen ? 'Needs no token.' : 'Needs the admin token.'}`,
    ...(isOpen ? { security: [] } : {}),
    ...parametersOf(route),
    ...(body === undefined
      ? {}
      : { requestBody: { required: route.needsBody, content: json(schemaOf(body, 'input')) } }),
    responses: { ...successResponses(route), '4XX': { description: 'Refused.', content: json(PROBLEM) } },
  };
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };

function successResponses({ response }: AdminRoute) {
  if (response === undefined) return { 204: { description: 'Done.' } };
  return { 200: { description: 'Done.', content: json(schemaOf(response)) } };
}

function parametersOf({ path, query }: AdminRoute) {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {} } = query === undefined ? {} : schemaOf(query, 'input');
  const inQuery = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function json(schema: unknown) {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any', // a part that the mock checks itself
    override: restoreMeaning,
  });
  return rest;
}

/** zod omits the examples of an input that it checks before it parses it, and has no schema for a date. */
function restoreMeaning({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: object;
}) {
  const { examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (examples !== undefined) Object.assign(jsonSchema, { examples });
  if (zodSchema instanceof z.ZodDate) Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
}
