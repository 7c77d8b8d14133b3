/** How many characters of `given` must be put in, left out or changed to make `known` of it (Levenshtein). */
export function editDistance(given: string, known: string): number {
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
