/** The name that was most likely meant; `undefined` when none of them is like it. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > LONGEST_NAME) return undefined;
  const [best] = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= name.length / 3)
    .sort((one, other) => one.distance - other.distance);
  return best?.name;
}

/** No typing mistake is that long, and the comparison takes time with the length. */
const LONGEST_NAME = 100;

/** How many characters of `given` must be put in, left out or changed to make `known` of it (Levenshtein). */
export function editDistance(given: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (const character of given) row = nextRow(row, character, known);
  return row.at(-1) ?? 0;
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
