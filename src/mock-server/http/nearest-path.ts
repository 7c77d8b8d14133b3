import { editDistance } from '../../nearest-name.ts';

/** The path that was most likely meant; `undefined` when none of them is like it. */
export function nearestPath(path: string, paths: readonly string[]): string | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const given = plain(path);
  // A path without its beginning is right but for that.
  const distanceTo = (known: string) => (given.length > 1 && known.endsWith(given) ? 0 : editDistance(given, known));
  const ranked = paths
    .map((known) => ({ known, distance: distanceTo(plain(known)) }))
    .sort((one, other) => one.distance - other.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= best.known.length / 3 ? best.known : undefined;
}

/** No typing mistake is that long, and the comparison takes time with the length. */
const LONGEST_PATH = 200;

/** Case and slashes are what most mistakes are made of. */
function plain(path: string): string {
  return path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
}
