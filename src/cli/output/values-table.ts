import { oneLine } from '../../text.ts';
import { leaves, scalarText } from '../terminal/json-text.ts';
import type { Palette, StreamStyle } from '../terminal/screen.ts';
import { besideHead, wrap } from '../terminal/text.ts';

interface Value {
  readonly name: string;
  readonly text: string;
  readonly painted: string;
}

/** More groups than this are nested data, which JSON shows better. */
const MOST_GROUPS = 8;
const GAP = 4;
/** A wider value has a line of its own, and a wider name is cut: each row is padded to the widest. */
const WIDEST_CELL = 80;
const WIDEST_NAME = 60;

/**
 * A JSON text as a table for people. The numbers of an object are in as many columns as fit, aligned at the decimal
 * point; other values are one per line. Returns `undefined` for a text that has no such form.
 */
export function valuesTable(json: string, style: StreamStyle): string | undefined {
  const groups = new Map<string, Value[]>([['', []]]);
  for (const { path, lexeme } of leaves(json)) {
    const name = path.at(-1);
    if (name === undefined) return undefined; // a lone value
    const parent = path.slice(0, -1).join('.');
    const value = toValue(name, lexeme, style.palette);
    const group = groups.get(parent) ?? [];
    group.push(value);
    groups.set(parent, group);
    if (groups.size > MOST_GROUPS) return undefined;
  }
  const blocks = [...groups].filter(([, values]) => values.length > 0);
  return blocks.map(([parent, values]) => groupText(parent, values, style)).join('\n\n');
}

function toValue(name: string, lexeme: string, palette: Palette): Value {
  const text = oneLine(scalarText(lexeme));
  return { name: cut(oneLine(name)), text, painted: /^[tfn{[]/.test(lexeme) ? palette.faint(text) : text };
}

function groupText(parent: string, values: readonly Value[], style: StreamStyle): string {
  const title = parent === '' ? [] : [style.palette.heading(cut(oneLine(parent)))];
  const isGrid = values.every(({ name, text }) => isNumeric(text) && name.length + text.length <= WIDEST_CELL);
  const lines = isGrid ? grid(values, style) : list(values, style);
  return [...title, ...lines].join('\n');
}

function cut(name: string): string {
  return name.length > WIDEST_NAME ? `${name.slice(0, WIDEST_NAME - 1)}…` : name;
}

function isNumeric(text: string): boolean {
  return /^(-?\d[\d.eE+-]*|null|true|false)$/.test(text);
}

function list(values: readonly Value[], { columns, palette }: StreamStyle): string[] {
  const width = widest(values.map(({ name }) => name.length)) + 2;
  return values.flatMap(({ name, painted }) =>
    besideHead(palette.heading(name.padEnd(width)), wrap(painted, Math.max(columns - width, 20)), width),
  );
}

/** In as many columns of equal width as fit, down one, then down the next. */
function grid(values: readonly Value[], { width, palette }: StreamStyle): string[] {
  const nameWidth = widest(values.map(({ name }) => name.length));
  const wholeWidth = widest(values.map(({ text }) => wholeLength(text)));
  const fractionWidth = widest(values.map(({ text }) => text.length - wholeLength(text)));
  const cells = values.map(({ name, text, painted }) => {
    const before = nameWidth - name.length + 2 + wholeWidth - wholeLength(text);
    const after = fractionWidth - (text.length - wholeLength(text)) + GAP;
    return palette.name(name) + ' '.repeat(before) + painted + ' '.repeat(after);
  });
  const cellWidth = nameWidth + 2 + wholeWidth + fractionWidth + GAP;
  const most = Math.max(1, Math.floor((width + GAP) / cellWidth));
  const height = Math.ceil(values.length / most);
  return cells.slice(0, height).map((_, row) =>
    Array.from({ length: most }, (_, column) => cells[column * height + row] ?? '')
      .join('')
      .trimEnd(),
  );
}

/** Math.max(...lengths) fails for more values than a call can have arguments. */
function widest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}

/** Characters before the decimal point. */
function wholeLength(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? text.length : point;
}
