import { stripVTControlCharacters } from 'node:util';
import type { StreamStyle } from '../terminal/screen.ts';
import { visible, wrap } from '../terminal/text.ts';

/** A line of a table for people: `Used        742 of 1,000  [███░] 74.2 %`. */
export interface ReportRow {
  readonly label: string;
  readonly value: string;
  /** Coloured already; stands on a line of its own where it does not fit. */
  readonly remark?: string | undefined;
  /** Marks and colours the row. */
  readonly isWarning?: boolean;
}

const LABEL_WIDTH = 12;

export function rowText(
  { label, value, remark, isWarning = false }: ReportRow,
  { columns, palette }: StreamStyle,
): string {
  const paint = isWarning ? palette.warning : palette.heading;
  const [first = '', ...rest] = wrap(visible(value), columns - LABEL_WIDTH);
  const lines = [
    `${paint(visible(isWarning ? `! ${label}` : label).padEnd(LABEL_WIDTH))}${first}`,
    ...rest.map(indented),
  ];
  if (remark === undefined) return `${lines.join('\n')}\n`;
  const fits = rest.length === 0 && LABEL_WIDTH + first.length + 2 + stripVTControlCharacters(remark).length <= columns;
  return fits ? `${lines[0]}  ${remark}\n` : `${[...lines, indented(remark)].join('\n')}\n`;
}

function indented(text: string): string {
  return ' '.repeat(LABEL_WIDTH) + text;
}
