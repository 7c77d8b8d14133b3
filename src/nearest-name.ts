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

/** Number of characters to insert, delete or change in `given` so that it equals `known` (Levenshtein). */
export function editDistance(given: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (const character of given) row = nextRow(row, character, known);
  return row.at(-1) ?? 0;
}

/** The distances of one more character of the given name to each prefix of `known`. */
function nextRow(row: readonly number[], character: string, known: string): number[] {
  const at = (index: number) => row[index] ?? 0;
  const next = [at(0) + 1];
  for (let column = 1; column <= known.length; column += 1) {
    const change = at(column - 1) + (character === known[column - 1] ? 0 : 1);
    next.push(Math.min(change, at(column) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
}
