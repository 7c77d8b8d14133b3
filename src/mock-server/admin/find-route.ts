import { matchPath } from '../web/path-template.ts';
import type { AdminRoute } from './route.ts';
import { adminRoutes } from './routes.ts';

export interface FoundRoute {
  readonly route: AdminRoute | undefined;
  readonly path: Readonly<Record<string, string>>;
  /** Methods that the path takes; empty for an unknown path. */
  readonly allowed: readonly string[];
}

/** The first route that fits, so that `/requests/wait` may stand before `/requests/{number}` only with another method. */
export function findRoute(method: string, path: string): FoundRoute {
  const allowed: string[] = [];
  for (const route of adminRoutes) {
    const parts = matchPath(route.path, path);
    if (parts === undefined) continue;
    if (route.method === method) return { route, path: parts, allowed };
    allowed.push(route.method);
  }
  return { route: undefined, path: {}, allowed };
}
