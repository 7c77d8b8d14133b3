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
  const shorter = Math.min(given.length, known.length);
  let start = 0;
  while (start < shorter && given[start] === known[start]) start += 1;
  let end = 0;
  while (end < shorter - start && given.at(-1 - end) === known.at(-1 - end)) end += 1;
  // What both begin and end with changes nothing.
  const [rest, other] = [given.slice(start, given.length - end), known.slice(start, known.length - end)];
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let length = 1; length <= rest.length; length += 1) {
    [before, row] = [row, nextRow([before, row], rest.slice(0, length), other)];
  }
  return row.at(-1) ?? 0;
}

/** The distances of `given` to each prefix of `known`, from those of `given` without its last two characters and without the last. */
function nextRow([before, row]: readonly [number[], number[]], given: string, known: string): number[] {
  // Numbers: texts take twice as long, and a mock compares a path with thousands of rules.
  const [previous, last] = [given.charCodeAt(given.length - 2), given.charCodeAt(given.length - 1)];
  const next = [given.length];
  let [least, code, codeBefore] = [given.length, -1, -1];
  for (let column = 1; column <= known.length; column += 1) {
    [codeBefore, code] = [code, known.charCodeAt(column - 1)];
    const change = (row[column - 1] ?? 0) + (last === code ? 0 : 1);
    const isSwapped = last === codeBefore && previous === code;
    const swap = isSwapped ? (before[column - 2] ?? given.length) + 1 : change;
    least = Math.min(change, swap, (row[column] ?? 0) + 1, least + 1);
    next.push(least);
  }
  return next;
}
