import { wrap } from '../terminal/text.ts';

export interface Entry {
  readonly term: string;
  readonly text: string;
}

interface Layout {
  readonly columns: number;
  /** Default: that of the widest of `entries`. */
  readonly termWidth?: number;
  readonly paintTerm: (term: string) => string;
}

/** A wider term gets a line of its own. */
const WIDEST_TERM = 28;
/** Below this the text stands under its term. */
const NARROW = 60;

/** Terms on the left, their texts on the right; one under the other on a narrow screen. */
export function twoColumns(entries: readonly Entry[], layout: Layout): string[] {
  const { columns, termWidth = widestTerm(entries), paintTerm } = layout;
  const isNarrow = columns < NARROW;
  const indent = isNarrow ? 6 : 4 + termWidth;
  return entries.flatMap(({ term, text }) => {
    if (text === '') return [`  ${paintTerm(term)}`];
    const [first = '', ...rest] = wrap(text, columns - indent);
    const isBeside = !isNarrow && term.length <= WIDEST_TERM;
    const padding = ' '.repeat(Math.max(0, indent - 2 - term.length));
    const head = `  ${paintTerm(isNarrow ? term.trimStart() : term)}`;
    const continued = rest.map((line) => ' '.repeat(indent) + line);
    return isBeside ? [head + padding + first, ...continued] : [head, ' '.repeat(indent) + first, ...continued];
  });
}

export function widestTerm(entries: readonly Entry[]): number {
  return Math.max(0, ...entries.map(({ term }) => term.length).filter((width) => width <= WIDEST_TERM));
}
