import type { Operation } from '../../generated/operations.ts';
import { editDistance } from '../../nearest-name.ts';
import { createOperationFinder, type FoundOperation } from '../../operation-path.ts';
import { plainPath } from '../matching/request-pattern.ts';

/** The route of a request. */
export type RouteMatch =
  | ({ readonly kind: 'operation' | 'wrong-method' } & FoundOperation<Operation>)
  /** `nearest`: the most similar path. */
  | { readonly kind: 'unknown'; readonly nearest: string | undefined };

export type FindRoute = (method: string, path: string) => RouteMatch;

/** Finds the operation of a path. An additional or missing slash makes it another path. */
export function createRouter(operations: Readonly<Record<string, Operation>>): FindRoute {
  const all = Object.values(operations);
  const find = createOperationFinder(all);
  const paths = all.map(({ path }) => path);
  return (method, path) => {
    const found = find(plainPath(path));
    if (found === undefined) return { kind: 'unknown', nearest: nearestPath(path, paths) };
    return { kind: method === found.operation.method ? 'operation' : 'wrong-method', ...found };
  };
}

/** The most similar path; `undefined` if none is similar. */
function nearestPath(path: string, paths: readonly string[]): string | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const given = plain(path);
  // A path without its beginning is the most similar one.
  const distanceTo = (known: string) => (given.length > 1 && known.endsWith(given) ? 0 : editDistance(given, known));
  const ranked = paths
    .map((known) => ({ known, distance: distanceTo(plain(known)) }))
    .sort((one, other) => one.distance - other.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= best.known.length / 3 ? best.known : undefined;
}

/** A longer path is not a typing mistake, and comparing it takes time. */
const LONGEST_PATH = 200;

/** Ignores case and slashes, which most mistakes are about. */
function plain(path: string): string {
  return path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
}
