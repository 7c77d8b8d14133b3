import { invalidOption } from '../mock-server-error.ts';
import type { BehaviourOptions, SwitchValues } from './behaviour.ts';
import { SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

/** One possible behaviour of the service, for example for `test.each`. */
export interface BehaviourCase {
  /** The values that differ from the defaults, for example `rateWindow: token-bucket`. */
  readonly title: string;
  /** For `createMockServer({ behaviour })`. Sets every switch of the matrix, so that none of them is an assumption. */
  readonly behaviour: BehaviourOptions;
}

/** Options of `behaviourMatrix()`. */
export interface MatrixOptions {
  /**
   * `'each'` returns the defaults, then one case per other value. `'pairwise'` returns cases in which each pair of values of
   * two switches occurs at least once.
   * @default 'each'
   */
  readonly strategy?: 'each' | 'pairwise' | undefined;
}

/**
 * Returns possible behaviours of the service as cases for a test, by default over all undocumented switches. The same
 * arguments always return the same cases.
 * @throws MockServerError with code `invalid_option`, for an unknown or a documented switch.
 * @example test.each(behaviourMatrix(['rateWindow']))('survives $title', async ({ behaviour }) => { … })
 */
export function behaviourMatrix(
  names: readonly SwitchName[] = UNDOCUMENTED,
  { strategy = 'each' }: MatrixOptions = {},
): readonly BehaviourCase[] {
  for (const name of names) {
    if (!UNDOCUMENTED.includes(name)) throw invalidOption('names', name, `one of ${UNDOCUMENTED.join(', ')}`);
  }
  const unique = Array.from(new Set(names));
  if (strategy === 'each') return eachRows(unique).map((row) => toCase(unique, row));
  if (strategy === 'pairwise')
    return pairwiseRows(unique.map((name) => valuesOf(name).length)).map((row) => toCase(unique, row));
  throw invalidOption('strategy', strategy, "'each' or 'pairwise'");
}

const UNDOCUMENTED = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');

/** Numbers of values, in the order of the names; 0 is the default. */
type MatrixRow = readonly number[];

function eachRows(names: readonly SwitchName[]): readonly MatrixRow[] {
  const defaults = names.map(() => 0);
  const others = names.flatMap((name, index) =>
    valuesOf(name)
      .slice(1)
      .map((_, other) => defaults.with(index, other + 1)),
  );
  return [defaults, ...others];
}

function toCase(names: readonly SwitchName[], row: MatrixRow): BehaviourCase {
  const chosen = names.map((name, index) => ({ name, value: valuesOf(name)[row[index] ?? 0] }));
  const different = chosen.filter((_, index) => row[index] !== 0);
  const title = different.map(({ name, value }) => `${name}: ${value}`).join(', ');
  const behaviour: SwitchValues = Object.fromEntries(chosen.map(({ name, value }) => [name, value]));
  return { title: title === '' ? 'defaults' : title, behaviour };
}

function valuesOf(name: SwitchName): readonly unknown[] {
  const { default: byDefault, alternatives } = switches[name];
  return [byDefault, ...alternatives];
}

/**
 * Rows in which every two values of two parameters occur together at least once. `sizes` has the number of values of each
 * parameter; a row has the index of one value of each. The algorithm is in-parameter-order (IPO), without randomness:
 * parameters are added one by one, the largest first. Each row receives the value with the most new pairs. The
 * remaining pairs are added in new rows.
 */
export function pairwiseRows(sizes: readonly number[]): readonly (readonly number[])[] {
  const order = sizes.map((_, parameter) => parameter).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  const rows: PairwiseRow[] = indexesOf(sizes, order[0] ?? 0).map((value) =>
    sizes.map((_, at) => (at === order[0] ? value : ANY)),
  );
  order.slice(1).forEach((parameter, index) => {
    const missing = pairsWith(parameter, order.slice(0, index + 1), sizes);
    for (const row of rows) fillIn(row, { parameter, size: sizes[parameter] ?? 0, missing });
    for (const pair of missing.values()) place(pair, rows, sizes.length);
  });
  return rows.length === 0 ? [[]] : rows.map((row) => row.map((value) => Math.max(value, 0)));
}

/** `ANY`: every value is possible. */
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
    indexesOf(sizes, one).flatMap((doneValue) =>
      indexesOf(sizes, added).map((addedValue) => ({ done: one, doneValue, added, addedValue })),
    ),
  );
  return new Map(pairs.map((pair) => [keyOf(pair.done, pair.doneValue, pair.addedValue), pair]));
}

function indexesOf(sizes: readonly number[], parameter: number): readonly number[] {
  return Array.from({ length: sizes[parameter] ?? 0 }, (_, value) => value);
}

interface Adding {
  readonly parameter: number;
  readonly size: number;
  readonly missing: Missing;
}

/** Sets the added parameter of a row to the value that covers the most missing pairs. */
function fillIn(row: PairwiseRow, { parameter, size, missing }: Adding): void {
  const made = (addedValue: number) =>
    row.map((doneValue, done) => keyOf(done, doneValue, addedValue)).filter((key) => missing.has(key));
  const gains = Array.from({ length: size }, (_, value) => made(value).length);
  const most = Math.max(...gains);
  // If no value adds a pair, the place stays open for a pair without a row.
  row[parameter] = most === 0 ? ANY : gains.indexOf(most);
  for (const key of made(row[parameter])) missing.delete(key);
}

/** Adds a pair to a row in which both values are possible, or to a new row. */
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
