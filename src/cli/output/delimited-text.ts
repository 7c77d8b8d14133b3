import { stringValue } from '../../json-tokens.ts';
import { escapeUnits, visible } from '../../visible-text.ts';
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
export function tsvText(json: string, isTTY: boolean): string {
  const rows: string[] = [];
  for (const { path, lexeme } of valuesOf(json)) {
    const row = `${path.map(tsvCell).join('.')}\t${tsvCell(scalarText(lexeme))}`;
    rows.push(isTTY ? visible(row) : row);
  }
  return rows.join('\n');
}

/** The values of a document; none for an empty object or list. */
function valuesOf(json: string) {
  return [...leaves(json)].filter(({ path, lexeme }) => path.length > 0 || !isContainer(lexeme));
}

/** A CSV document. */
export interface CsvTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** One row per value: dotted path and value. */
export function csvTable(json: string): CsvTable {
  const rows = valuesOf(json).map(({ path, lexeme }) => [path.join('.'), scalarText(lexeme)]);
  return { header: ['name', 'value'], rows };
}

/** Rows of a CSV document as RFC 4180 has them, but for their ends: those are line feeds, as in all other output. */
export function csvText(rows: CsvTable['rows']): string {
  return rows.map((row) => row.map(csvCell).join(',')).join('\n');
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
