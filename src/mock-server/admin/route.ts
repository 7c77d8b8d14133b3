import type { ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { Journal } from '../journal/journal.ts';
import type { MockScope } from '../mock-scope.ts';
import type { Spaces } from '../spaces.ts';

/** The tags of the routes, with their descriptions in openapi.json. */
export const ADMIN_TAGS = {
  health: 'Readiness, and the description of the API.',
  state: 'Save, restore and reset the state.',
  clock: 'The clock of windows, quota periods and links.',
  behaviour: 'Switches for undocumented behaviour.',
  faults: 'Failures that a test defines.',
  stubs: 'Responses that a test defines. Requests are still authenticated, limited and counted.',
  requests: 'The journal: every request with the reason for its response.',
  accounts: 'Accounts. Creating one sends a confirmation e-mail.',
  keys: 'API keys. A full key is returned once, when it is created.',
  outbox: 'Confirmation e-mails.',
  spaces: 'Isolated parts of the mock, for tests that run at the same time.',
} as const;

const MIB = 1024 * 1024;

/** Maximum body of a request. Responses and recordings are files of a test; a state can have a million keys. */
export const MAX_BODY_BYTES = { default: MIB, responses: 16 * MIB, state: 256 * MIB } as const;

/** The target of the admin API: a mock or a space, and its journal. */
export interface AdminTarget {
  readonly mock: MockScope;
  readonly journal: Journal;
  /** `undefined` for a space. */
  readonly spaces: Spaces | undefined;
}

/** A method and a path below `/__fxrates`, with parameters in braces: `PUT /accounts/{accountId}/plan`. */
type RouteName = `${AdminMethod} /${string}`;
type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The parameters in the path of a route. */
export type PathParameters<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? { readonly [One in Parameter]: string } & PathParameters<Rest>
  : unknown;

/** Input and output of a route: server, openapi.json and the types of `connectMockServer` are made from it. */
interface RouteDefinition<Name extends RouteName, Body extends z.ZodType, Query extends z.ZodType, Result> {
  readonly id: string;
  readonly tag: keyof typeof ADMIN_TAGS;
  readonly summary: string;
  /** Without it, the route accepts no body. */
  readonly body?: Body;
  /** If set, `run` checks the body, with its own error messages. The schema only describes it. */
  readonly checksBody?: boolean;
  /** Whether a body that `run` checks may be absent. */
  readonly isBodyOptional?: boolean;
  /** Default: `MAX_BODY_BYTES.default`. */
  readonly maxBodyBytes?: number;
  /** Without it, the route accepts no query. */
  readonly query?: Query;
  /** Schema of the response body. If omitted, the route responds with 204 and without a body. */
  readonly response?: z.ZodType;
  /** Needs no token. */
  readonly isOpen?: boolean;
  /** Responds with `text/event-stream`. */
  readonly isStream?: boolean;
  /** Returns the value of the response. */
  readonly run: (call: AdminCall<z.output<Body>, z.output<Query>, PathParameters<Name>>) => Result;
}

export interface AdminCall<Body, Query, Path> extends AdminTarget {
  readonly path: Path;
  readonly body: Body;
  /** The body as it was sent. */
  readonly text: string;
  readonly query: Query;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
  /** For streams and additional headers. */
  readonly outgoing: ServerResponse;
}

/** A route as the server uses it. Its schemas check the parameters of `run`. */
export interface AdminRoute extends Omit<RouteDefinition<RouteName, z.ZodType, z.ZodType, unknown>, 'run'> {
  readonly method: AdminMethod;
  readonly path: string;
  readonly run: (call: AdminCall<unknown, unknown, Readonly<Record<string, string>>>) => unknown;
}

/** A route with the types of its request and its result. */
export interface TypedRoute<Name, Body, Query, Result> extends AdminRoute {
  readonly types?: { readonly name: Name; readonly body: Body; readonly query: Query; readonly result: Result };
}

export function route<
  const Name extends RouteName,
  Result,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(
  name: Name,
  definition: RouteDefinition<Name, Body, Query, Result>,
): TypedRoute<Name, z.input<Body>, z.input<Query>, Awaited<Result>> {
  const [method, path] = name.split(' ');
  return { ...definition, method, path } as unknown as TypedRoute<Name, z.input<Body>, z.input<Query>, Awaited<Result>>;
}

/** Whether a request without a body is refused before `run`. A schema itself refuses `{}`, which stands for no body. */
export function needsBody({ checksBody = false, isBodyOptional = false }: AdminRoute): boolean {
  return checksBody && !isBodyOptional;
}
