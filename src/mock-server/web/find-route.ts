/** A method and a path, such as `/keys/{id}`. */
interface RouteTemplate {
  readonly method: string;
  readonly path: string;
}

interface FoundRoute<Found extends RouteTemplate> {
  readonly route: Found | undefined;
  /** The named parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Methods of the routes at this path, with HEAD for GET; empty for an unknown path. */
  readonly allowed: readonly string[];
}

/** The first route that matches. */
export function findRoute<Found extends RouteTemplate>(
  routes: readonly Found[],
  method: string,
  path: string,
): FoundRoute<Found> {
  const allowed: string[] = [];
  for (const route of routes) {
    const parts = matchPath(route.path, path);
    if (parts === undefined) continue;
    if (route.method === method) return { route, path: parts, allowed };
    allowed.push(...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  }
  return { route: undefined, path: {}, allowed };
}

function matchPath(template: string, path: string): Readonly<Record<string, string>> | undefined {
  const expected = template.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return undefined;
  const parts: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const part = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined ? part !== segment : !shapeOf(name).test(part)) return undefined;
    if (name !== undefined) parts[name] = part;
  }
  return parts;
}

/** `/requests/{number}` is not the path of `/requests/find`. */
function shapeOf(name: string): RegExp {
  return name === 'number' ? /^\d+$/ : IDENTIFIER;
}

/** Without encoded characters. `.` and `..` are segments of a path. */
const IDENTIFIER = /^(?!\.\.?$)[\w.-]+$/;
