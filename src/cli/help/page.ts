import type { Example } from '../command.ts';
import type { OptionNode } from '../command-tree.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { wrap } from '../terminal/text.ts';

/** A page of help: its blocks of lines, with a blank line between them. */
export function paragraphs(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((block) => block.length > 0);
  return `${filled.map((block) => block.join('\n')).join('\n\n')}\n`;
}

/** The options in groups, in the order in which they were declared, with one left edge for all texts. */
export function optionSections(options: readonly OptionNode[], style: StreamStyle): string[][] {
  const groups = new Map<string, Entry[]>();
  for (const { group, names, description, ...option } of options) {
    const term = `${names.length === 1 ? '    ' : ''}${names.join(', ')}${valueText(option)}`;
    groups.set(group, [...(groups.get(group) ?? []), { term, text: description }]);
  }
  const termWidth = widestTerm([...groups.values()].flat());
  const { columns, palette } = style;
  return [...groups].map(([group, entries]) =>
    section(group, twoColumns(entries, { columns, termWidth, paintTerm: palette.command }), style),
  );
}

function valueText({ value, isValueOptional }: Pick<OptionNode, 'value' | 'isValueOptional'>): string {
  if (value === undefined) return '';
  return isValueOptional ? ` [${value}]` : ` <${value}>`;
}

export function section(title: string, lines: readonly string[], { palette }: StreamStyle): string[] {
  return lines.length === 0 ? [] : [palette.heading(title), ...lines];
}

export function exampleLines(examples: readonly Example[], { columns, palette }: StreamStyle): string[] {
  const widest = besideWidth(examples, columns);
  return examples.flatMap(({ command, comment }) => {
    const line = `  $ ${palette.command(command)}`;
    if (comment === '') return [line];
    if (command.length <= widest) return [`${line}${' '.repeat(widest - command.length + 3)}${palette.faint(comment)}`];
    return [...wrap(comment, columns - 4).map((text) => `  ${palette.faint(`# ${text}`)}`), line];
  });
}

/** Width of the widest command beside which all comments fit. A wider command has its comment above. */
function besideWidth(examples: readonly Example[], columns: number): number {
  const widths = examples.map(({ command }) => command.length).sort((one, other) => other - one);
  const fits = (width: number) =>
    examples.every(({ command, comment }) => command.length > width || width + 4 + 3 + comment.length <= columns);
  return widths.find(fits) ?? 0;
}

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
/** Below this width, the text is printed under its term. */
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

function widestTerm(entries: readonly Entry[]): number {
  return Math.max(0, ...entries.map(({ term }) => term.length).filter((width) => width <= WIDEST_TERM));
}
