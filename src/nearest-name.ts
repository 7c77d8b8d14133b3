/** The most similar name; `undefined` if none is similar. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  return byDistance(given, known).find(({ name, distance }) => distance <= name.length / 3)?.name;
}

/** The `most` names that are the most similar, however different they are. */
export function nearestNames(given: string, known: readonly string[], most: number): readonly string[] {
  return byDistance(given, known)
    .slice(0, most)
    .map(({ name }) => name);
}

function byDistance(given: string, known: readonly string[]) {
  if (given.length > LONGEST_NAME) return [];
  return known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
}

/** A longer name is not a typing mistake, and comparing it takes time. */
const LONGEST_NAME = 100;

/** Number of characters to insert, delete, change or swap with the next one in `given` so that it equals `known`. */
export function editDistance(given: string, known: string): number {
  let before: number[] = [];
  let row = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (let length = 1; length <= given.length; length += 1) {
    [before, row] = [row, nextRow([before, row], given.slice(0, length), known)];
  }
  return row.at(-1) ?? 0;
}

/** The distances of `given` to each prefix of `known`, from those of `given` without its last two characters and without the last. */
function nextRow([before, row]: readonly [number[], number[]], given: string, known: string): number[] {
  const [previous, last] = [given.at(-2), given.at(-1)];
  const next = [given.length];
  for (let column = 1; column <= known.length; column += 1) {
    const change = (row[column - 1] ?? 0) + (last === known[column - 1] ? 0 : 1);
    const isSwapped = last === known[column - 2] && previous === known[column - 1];
    const swap = isSwapped ? (before[column - 2] ?? given.length) + 1 : change;
    next.push(Math.min(change, swap, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
}
