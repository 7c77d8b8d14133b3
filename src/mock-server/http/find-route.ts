import { nearestName } from '../../nearest-name.ts';
import { createOperationFinder, type FoundOperation, type Operation } from '../../operation.ts';
import { show } from '../input/mock-server-error.ts';
import { plainPath } from '../matching/request-pattern.ts';
import { ADMIN_ROOT } from './parse-request.ts';

/** The route of a request. */
export type RouteMatch =
  | ({ readonly kind: 'operation' | 'wrong-method' } & FoundOperation<Operation>)
  /** `hint`: which path may be meant. */
  | { readonly kind: 'unknown'; readonly operation?: never; readonly hint: string | undefined };

export type FindRoute = (method: string, path: string) => RouteMatch;

/** Finds the operation of a path. An additional or missing slash makes it another path. */
export function createRouter(operations: Readonly<Record<string, Operation>>): FindRoute {
  const all = Object.values(operations);
  const find = createOperationFinder(all);
  const paths = all.map(({ path }) => path);
  return (method, path) => {
    // As sent first: in `{from}..{to}`, an encoded dot belongs to a value.
    const found = find(path) ?? find(plainPath(path));
    if (found === undefined) return { kind: 'unknown', hint: hintFor(path, paths) };
    return { kind: method === found.operation.method ? 'operation' : 'wrong-method', ...found };
  };
}

/** Names the most similar path, if any. Most mistakes are about the base URL, about slashes or a missing beginning. */
function hintFor(path: string, paths: readonly string[]): string | undefined {
  const given = path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
  const whole = paths.find((known) => given.endsWith(known));
  const before = whole && given.slice(0, -whole.length);
  if (before) return `did you mean ${whole}? The base URL of the client must not end with ${show(before)}.`;
  const nearest = paths.find((known) => given.length > 1 && known.endsWith(given)) ?? nearestName(given, paths);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  const [, root = ''] = given.split('/');
  const isInApi = root === '' || paths.some((known) => known.startsWith(`/${root}/`));
  return isInApi ? undefined : `a served mock has its admin API below ${ADMIN_ROOT}.`; // such as `/rules`
}
