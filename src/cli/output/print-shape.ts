import type { Invocation } from '../invocation.ts';
import { leaves } from '../json/leaves.ts';
import { visible } from '../terminal/visible.ts';
import { printJson } from './print-json.ts';
import { scalarText, tsvCell } from './scalar-text.ts';

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Prints what an undocumented answer looks like: paths and types without a value, so that it can be shown to anyone. */
export async function printShape(json: string, invocation: Invocation): Promise<void> {
  const { settings, screen } = invocation;
  const shape = shapeOf(json);
  if (settings.output === 'json') {
    const typesOf = [...shape].map(([path, types]) => [path, [...types].join(' | ')] as const);
    return printJson(JSON.stringify(Object.fromEntries(typesOf)), invocation);
  }
  const rows = [...shape].map(([path, types]) => `${path}\t${[...types].join(' | ')}`);
  await screen.print(rows.map((row) => `${screen.out.isTTY ? visible(row) : row}\n`).join(''));
}

/** Types by path; all items of a list are one path, `list.[]`. */
function shapeOf(json: string): ReadonlyMap<string, ReadonlySet<string>> {
  const shape = new Map<string, Set<string>>();
  for (const { path, lexeme } of leaves(json, () => '[]')) {
    const name = path.map(tsvCell).join('.') || '.';
    shape.set(name, (shape.get(name) ?? new Set()).add(typeOf(lexeme)));
  }
  return shape;
}

function typeOf(lexeme: string): string {
  if (lexeme.startsWith('"')) return TIME.test(scalarText(lexeme)) ? 'string (time)' : 'string';
  if (lexeme === '{}') return 'object';
  if (lexeme === '[]') return 'list';
  if (lexeme === 'null') return 'null';
  if (lexeme === 'true' || lexeme === 'false') return 'boolean';
  return /^-?\d+$/.test(lexeme) ? 'integer' : 'number';
}
