import type { ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { Journal } from '../journal/journal.ts';
import type { MockScope } from '../mock-scope.ts';
import type { Spaces } from '../spaces.ts';

/** Where the mock's own pages and API are, apart from everything the service has. */
export const ADMIN_ROOT = '/__fxrates';

/** What the routes are about, in the words of openapi.json. */
export const ADMIN_TAGS = {
  health: 'Readiness, and the description of the API.',
  state: 'Save, restore and reset the state.',
  clock: 'The clock of windows, quota periods and links.',
  behaviour: 'Switches for undocumented behaviour.',
  faults: 'Failures that a test defines.',
  stubs: 'Responses that a test defines. Requests are still authenticated, limited and counted.',
  requests: 'The journal: every request with the reason for its response.',
  accounts: 'Accounts, as in the dashboard.',
  keys: 'API keys. A full key is returned once, when it is created.',
  outbox: 'Confirmation e-mails.',
  spaces: 'Isolated parts of the mock, for tests that run at the same time.',
} as const;

/** What the admin API drives: a mock or a space as its users see it, and its journal to listen to. */
export interface AdminTarget {
  readonly mock: MockScope;
  readonly journal: Journal;
  /** `undefined` for a space, which has none. */
  readonly spaces: Spaces | undefined;
}

/** A method and a path below `/__fxrates`, with parameters in braces: `PUT /accounts/{accountId}/plan`. */
type RouteName = `${AdminMethod} /${string}`;
type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The parameters that stand in the path of a route. */
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
  /** Leaves it to `run` to refuse a wrong body, with words of its own; the schema only describes it. */
  readonly checksBody?: boolean;
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
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
  /** For streams, and for headers beside the response. */
  readonly outgoing: ServerResponse;
}

/** A route as the server finds and runs it: its schemas have checked what `run` gets. */
export interface AdminRoute extends Omit<RouteDefinition<RouteName, z.ZodType, z.ZodType, unknown>, 'run'> {
  readonly method: AdminMethod;
  readonly path: string;
  readonly run: (call: AdminCall<unknown, unknown, Readonly<Record<string, string>>>) => unknown;
}

/** A route with what its callers send and get, for the compiler alone. */
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
