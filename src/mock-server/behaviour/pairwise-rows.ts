/**
 * Rows in which every two values of two parameters meet at least once. `sizes` says how many values each parameter
 * has; a row holds the number of one value of each. Without chance, in-parameter-order (IPO): parameters are added one
 * by one, the largest first; each takes in every row the value that makes the most new pairs, and what is still
 * missing then gets rows of its own.
 */
export function pairwiseRows(sizes: readonly number[]): readonly (readonly number[])[] {
  const order = sizes.map((_, parameter) => parameter).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  const rows: PairwiseRow[] = valuesOf(sizes, order[0] ?? 0).map((value) =>
    sizes.map((_, at) => (at === order[0] ? value : ANY)),
  );
  order.slice(1).forEach((parameter, index) => {
    const missing = pairsWith(parameter, order.slice(0, index + 1), sizes);
    for (const row of rows) fillIn(row, { parameter, size: sizes[parameter] ?? 0, missing });
    for (const pair of missing.values()) place(pair, rows, sizes.length);
  });
  return rows.length === 0 ? [[]] : rows.map((row) => row.map((value) => Math.max(value, 0)));
}

/** `ANY` where every value will do. */
type PairwiseRow = number[];
const ANY = -1;

/** One value of a parameter that is done already, and one of the parameter that is being added. */
interface ValuePair {
  readonly done: number;
  readonly doneValue: number;
  readonly added: number;
  readonly addedValue: number;
}

type Missing = Map<string, ValuePair>;

function keyOf(done: number, doneValue: number, addedValue: number): string {
  return `${done} ${doneValue} ${addedValue}`;
}

function pairsWith(added: number, done: readonly number[], sizes: readonly number[]): Missing {
  const pairs = done.flatMap((one) =>
    valuesOf(sizes, one).flatMap((doneValue) =>
      valuesOf(sizes, added).map((addedValue) => ({ done: one, doneValue, added, addedValue })),
    ),
  );
  return new Map(pairs.map((pair) => [keyOf(pair.done, pair.doneValue, pair.addedValue), pair]));
}

function valuesOf(sizes: readonly number[], parameter: number): readonly number[] {
  return Array.from({ length: sizes[parameter] ?? 0 }, (_, value) => value);
}

interface Adding {
  readonly parameter: number;
  readonly size: number;
  readonly missing: Missing;
}

/** Gives a row the value of the added parameter that makes the most pairs which are still missing. */
function fillIn(row: PairwiseRow, { parameter, size, missing }: Adding): void {
  const made = (addedValue: number) =>
    row.map((doneValue, done) => keyOf(done, doneValue, addedValue)).filter((key) => missing.has(key));
  const gains = Array.from({ length: size }, (_, value) => made(value).length);
  const most = Math.max(...gains);
  // A row that adds nothing stays open for a pair that has no place yet.
  row[parameter] = most === 0 ? ANY : gains.indexOf(most);
  for (const key of made(row[parameter])) missing.delete(key);
}

/** Puts a pair into a row that is still open for it, or into a new one. */
function place({ done, doneValue, added, addedValue }: ValuePair, rows: PairwiseRow[], length: number): void {
  const fits = (value: number | undefined, wanted: number) => value === ANY || value === wanted;
  let row = rows.find((one) => fits(one[done], doneValue) && fits(one[added], addedValue));
  if (row === undefined) {
    row = Array.from({ length }, () => ANY);
    rows.push(row);
  }
  row[done] = doneValue;
  row[added] = addedValue;
}
