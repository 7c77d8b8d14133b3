import { stringValue } from '../../json.ts';
import { escapeUnits } from '../../text.ts';
import { compactJson } from '../json/pretty-json.ts';
import { leaves } from '../json/select-value.ts';

/** A string without its quotes and escapes; any other JSON value unchanged. */
export function scalarText(lexeme: string): string {
  if (!lexeme.startsWith('"')) return lexeme;
  // Half a surrogate pair has no UTF-8 form, so it keeps its escape.
  return stringValue(lexeme).replace(/\p{Cs}/gu, escapeUnits);
}

/** A selected value as one cell: a scalar as its text, an object or a list as compact JSON. */
export function cellText(json: string): string {
  return scalarText(isContainer(json) ? compactJson(json) : json);
}

export function isContainer(json: string): boolean {
  return json.startsWith('{') || json.startsWith('[');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** `text` as a cell. Characters that would end the cell or the line are escaped with a backslash. */
export function tsvCell(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

/** One line per value: dotted path, tab, value. */
export function* tsvLines(json: string): Generator<string> {
  for (const { path, lexeme } of valuesOf(json)) yield `${path.map(tsvCell).join('.')}\t${tsvCell(cellText(lexeme))}`;
}

/** The values of a document; none for an empty object or list. */
function* valuesOf(json: string) {
  for (const leaf of leaves(json)) if (leaf.path.length > 0 || !isContainer(leaf.lexeme)) yield leaf;
}

/** A CSV document. Its rows can be read once. */
export interface CsvTable {
  readonly header: readonly string[];
  readonly rows: Iterable<readonly string[]>;
}

/** One row per value: dotted path and value. */
export function csvTable(json: string): CsvTable {
  return { header: ['name', 'value'], rows: csvRows(json) };
}

function* csvRows(json: string): Generator<readonly string[]> {
  for (const { path, lexeme } of valuesOf(json)) yield [path.join('.'), cellText(lexeme)];
}

/** A row of a CSV document as RFC 4180 has it, but for its end, which is a line feed, as in all other output. */
export function csvLine(row: readonly string[]): string {
  return row.map(csvCell).join(',');
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
