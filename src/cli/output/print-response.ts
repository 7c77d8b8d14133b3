import type { Invocation } from '../command.ts';
import { leaves } from '../json/leaves.ts';
import { selectValue } from '../json/select-value.ts';
import type { ServiceResponse } from '../request/send-request.ts';
import { scalarText, tsvCell } from './delimited-text.ts';
import { printJson, printRaw } from './print-json.ts';

/** Prints the answer of an operation as `--shape`, `--envelope` and the output format say. */
export async function printResponse({ rawBody }: ServiceResponse, invocation: Invocation): Promise<void> {
  const { settings, options } = invocation;
  if (options['shape'] === true) await printShape(dataOf(rawBody), invocation);
  else if (settings.output === 'raw') await printRaw(rawBody, invocation);
  else await printJson(options['envelope'] ? rawBody.trim() : dataOf(rawBody), invocation);
}

/** The text of "data", unchanged. */
export function dataOf(rawBody: string): string {
  return selectValue(rawBody, ['data']) ?? rawBody;
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Prints the structure of an undocumented answer, paths and types, without its values, so that it can be published. */
async function printShape(json: string, invocation: Invocation): Promise<void> {
  const typesOf = [...shapeOf(json)].map(([path, types]) => [path, [...types].join(' | ')] as const);
  await printJson(JSON.stringify(Object.fromEntries(typesOf)), invocation);
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
