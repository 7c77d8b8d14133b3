import type { ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { AdminTarget } from './admin-target.ts';

/** One operation of the admin API: what it takes, what it does, and how openapi.json describes it. */
export interface AdminRoute<Body = unknown, Query = unknown> {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/__fxrates`, with parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Left out: the route takes no body. */
  readonly body?: z.ZodType<Body>;
  /** Leaves it to `run` to refuse a wrong body, with words of its own; the schema only describes it. */
  readonly checksBody?: boolean;
  readonly maxBodyBytes?: number;
  /** Left out: the route takes no query. */
  readonly query?: z.ZodType<Query>;
  /** Schema of the answer; left out: there is none, 204. */
  readonly answer?: z.ZodType;
  /** Answers anybody, without the token. */
  readonly isOpen?: boolean;
  /** Answers `text/event-stream`. */
  readonly isStream?: boolean;
  /** Gives the value to answer with. */
  readonly run: (call: AdminCall<Body, Query>) => unknown;
}

export interface AdminCall<Body = unknown, Query = unknown> extends AdminTarget {
  readonly path: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  /** Aborts when whoever asks has gone. */
  readonly gone: AbortSignal;
  /** For streams, and for headers beside the answer. */
  readonly outgoing: ServerResponse;
}

/** Keeps the types of body and query together with the schemas they come from. */
export function route<Body = unknown, Query = unknown>(definition: AdminRoute<Body, Query>): AdminRoute {
  // Checked by its schemas before `run` sees anything.
  return definition as unknown as AdminRoute;
}
