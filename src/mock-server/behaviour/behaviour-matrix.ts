import { invalidOption } from '../mock-server-error.ts';
import type { BehaviourOptions, SwitchValues } from './behaviour-options.ts';
import { pairwiseRows } from './pairwise-rows.ts';
import { SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

/** One way the service may behave: a row for `test.each(behaviourMatrix(…))('survives $title', ({ behaviour }) => …)`. */
export interface BehaviourCase {
  /** What differs from the defaults: `rateWindow: token-bucket`. */
  readonly title: string;
  /** For `createMockServer({ behaviour })`. Every switch of the matrix is named, so none of them is a silent guess. */
  readonly behaviour: BehaviourOptions;
}

export interface MatrixOptions {
  /**
   * `each`: the defaults, then every other value alone. `pairwise`: every two values of two switches meet in some
   * case, in far fewer cases than there are combinations. Default: `'each'`.
   */
  readonly strategy?: 'each' | 'pairwise' | undefined;
}

/**
 * The ways the service may behave, as far as it does not show them, to run one test over. Default: all switches but
 * those the service documents. The same arguments always give the same cases.
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
