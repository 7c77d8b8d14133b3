/** The path that was most likely meant; `undefined` when none of them is like it. */
export function nearestPath(path: string, paths: readonly string[]): string | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const given = plain(path);
  const ranked = paths
    .map((known) => ({ known, distance: distanceBetween(given, plain(known)) }))
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

/** How many characters must be put in, left out or changed (Levenshtein); none for a path without its beginning. */
function distanceBetween(given: string, known: string): number {
  if (given.length > 1 && known.endsWith(given)) return 0;
  const first = Array.from({ length: known.length + 1 }, (_, index) => index);
  return (
    Array.from(given)
      .reduce((row, character) => nextRow(row, character, known), first)
      .at(-1) ?? 0
  );
}

/** Distances from one character more of what was given to every beginning of `known`. */
function nextRow(row: readonly number[], character: string, known: string): number[] {
  const at = (index: number) => row[index] ?? 0;
  const next = [at(0) + 1];
  for (let column = 1; column <= known.length; column += 1) {
    const change = at(column - 1) + (character === known[column - 1] ? 0 : 1);
    next.push(Math.min(change, at(column) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
}
