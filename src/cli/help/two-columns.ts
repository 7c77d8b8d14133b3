import { wrap } from '../terminal/wrap.ts';

export interface Entry {
  readonly term: string;
  readonly text: string;
}

interface Layout {
  readonly columns: number;
  readonly paintTerm: (term: string) => string;
}

/** A wider term gets a line of its own. */
const WIDEST_TERM = 28;
/** Below this the text stands under its term. */
const NARROW = 60;

/** Terms on the left, their texts on the right; one under the other on a narrow screen. */
export function twoColumns(entries: readonly Entry[], { columns, paintTerm }: Layout): string[] {
  const widths = entries.map(({ term }) => term.length).filter((width) => width <= WIDEST_TERM);
  const isNarrow = columns < NARROW;
  const indent = isNarrow ? 6 : 4 + Math.max(0, ...widths);
  return entries.flatMap(({ term, text }) => {
    if (text === '') return [`  ${paintTerm(term)}`];
    const [first = '', ...rest] = wrap(text, columns - indent);
    const isBeside = !isNarrow && term.length <= WIDEST_TERM;
    const padding = ' '.repeat(Math.max(0, indent - 2 - term.length));
    const head = `  ${paintTerm(term)}`;
    const continued = rest.map((line) => ' '.repeat(indent) + line);
    return isBeside ? [head + padding + first, ...continued] : [head, ' '.repeat(indent) + first, ...continued];
  });
}
