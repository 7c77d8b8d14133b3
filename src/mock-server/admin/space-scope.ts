import type { Spaces } from '../spaces.ts';
import type { AdminTarget } from './admin-target.ts';
import { Problem } from './problem.ts';

/** A path of the admin API, and the space that it is about. */
export interface ScopedPath {
  /** `undefined` for the mock itself. */
  readonly space: string | undefined;
  readonly path: string;
}

/** Every route exists once more for each space, below `/spaces/{space}`. */
export function scopeOf(path: string): ScopedPath {
  const [, space, rest] = /^\/spaces\/([^/]+)(\/.+)$/.exec(path) ?? [];
  return { space, path: rest ?? path };
}

export function targetOf(target: AdminTarget, space: string | undefined): AdminTarget {
  if (space === undefined) return target;
  const { space: mock, parts } = spacesOf(target).find(space);
  return { mock, journal: parts.journal, spaces: undefined };
}

/** A space has no spaces. */
export function spacesOf({ spaces }: Pick<AdminTarget, 'spaces'>): Spaces {
  if (spaces !== undefined) return spaces;
  throw new Problem('A space has no spaces of its own.', { status: 404, code: 'not_found' });
}
