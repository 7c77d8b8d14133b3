import { stringValue } from '../json/tokens.ts';
import { escapeLoneSurrogates } from '../terminal/visible.ts';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A string without its quotes and escapes; any other JSON value as it stands. */
export function scalarText(lexeme: string): string {
  return lexeme.startsWith('"') ? escapeLoneSurrogates(stringValue(lexeme)) : lexeme;
}

/** `text` as a cell: what would end the cell or the line is escaped with a backslash. */
export function tsvCell(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
