import type { Invocation } from '../command.ts';
import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { leaves } from '../json/leaves.ts';
import { compactJson, prettyJson } from '../json/pretty-json.ts';
import { findCaseless, memberNames, selectValue, writeJsonPath } from '../json/select-value.ts';
import { stringValue } from '../json/tokens.ts';
import type { OutputFormat } from '../settings/global-options.ts';
import type { CliSettings, GetPath } from '../settings/settings.ts';
import type { Palette } from '../terminal/palette.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { escapeLoneSurrogates, visible } from '../terminal/text.ts';

/**
 * Prints a JSON text in the format that was asked for. In every format a number leaves as the digits that came:
 * nothing is parsed and written again.
 */
export async function printJson(json: string, { settings, screen }: Invocation): Promise<void> {
  const text =
    settings.get.length > 0
      ? selectedText(json, settings, screen.out)
      : documentText(json, settings.output, screen.out);
  await screen.print(`${text}\n`);
}

/** Prints a whole body, byte for byte; only a terminal gets its control characters escaped and a line end. */
export async function printRaw(body: string | Uint8Array, { screen }: Invocation): Promise<void> {
  if (!screen.out.isTTY) return screen.print(body);
  const text = visible(typeof body === 'string' ? body : Buffer.from(body).toString());
  return screen.print(text.endsWith('\n') || text === '' ? text : `${text}\n`);
}

function documentText(json: string, format: OutputFormat, out: StreamStyle): string {
  return FORMATS[format](json, out);
}

const asReceived = (json: string, out: StreamStyle) =>
  out.isTTY || out.hasColor ? prettyText(json, out.palette) : json;

/** How a JSON text is printed in each format; `raw` reaches this only for what is no body of a response. */
const FORMATS = {
  auto: asReceived,
  json: asReceived,
  compact: (json, out) => shown(compactJson(json), out),
  tsv: (json, out) => tsvText(json, out.isTTY),
  raw: asReceived,
} satisfies Record<OutputFormat, (json: string, out: StreamStyle) => string>;

/** JSON for people: indented, coloured, and safe to show on a terminal. */
export function prettyText(json: string, palette: Palette, paintNumber = (lexeme: string) => lexeme): string {
  return prettyJson(json, {
    name: (lexeme) => palette.name(visible(lexeme)),
    string: (lexeme) => palette.string(visible(lexeme)),
    number: paintNumber,
    literal: palette.faint,
  });
}

function tsvText(json: string, isTTY: boolean): string {
  const rows: string[] = [];
  for (const { path, lexeme } of leaves(json)) {
    const row = `${path.map(tsvCell).join('.')}\t${tsvCell(scalarText(lexeme))}`;
    rows.push(isTTY ? visible(row) : row);
  }
  return rows.join('\n');
}

/** One value as it is, several as one row. With `-o json` they stay JSON. */
function selectedText(json: string, { get, output }: CliSettings, out: StreamStyle): string {
  const values = get.map((wanted) => requireValue(json, wanted));
  const [only] = values;
  if (values.length > 1 || only === undefined) {
    if (output === 'json') return shown(`[${values.join(',')}]`, out);
    const row = values.map((value) => tsvCell(scalarText(isContainer(value) ? compactJson(value) : value))).join('\t');
    return shown(row, out);
  }
  if (output === 'json' || isContainer(only)) return documentText(only, output, out);
  return shown(scalarText(only), out);
}

/** A file or a pipe gets a text as it is. */
function shown(text: string, { isTTY }: StreamStyle): string {
  return isTTY ? visible(text) : text;
}

function requireValue(json: string, { text, path }: GetPath): string {
  const value = selectValue(json, path);
  if (value !== undefined) return value;
  throw new CliError(`the answer has no '${text}'`, {
    code: 'missing_value',
    exitCode: exitCodes.response,
    hints: hintsFor(json, path),
  });
}

/** The name that was meant, else what there is at the last level that exists. */
function hintsFor(json: string, path: GetPath['path']): string[] {
  const meant = findCaseless(json, path);
  if (meant !== undefined) return [`Did you mean ${writeJsonPath(meant)}?`];
  const depth = path.findLastIndex((_, index) => selectValue(json, path.slice(0, index)) !== undefined);
  const parent = path.slice(0, Math.max(depth, 0));
  const names = memberNames(json, parent, 12);
  if (names.length === 0) return [];
  return [`${parent.length === 0 ? 'There are' : `${parent.join('.')} has`}: ${names.join(', ')}`];
}

function isContainer(json: string): boolean {
  return json.startsWith('{') || json.startsWith('[');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A string without its quotes and escapes; any other JSON value as it stands. */
export function scalarText(lexeme: string): string {
  return lexeme.startsWith('"') ? escapeLoneSurrogates(stringValue(lexeme)) : lexeme;
}

/** `text` as a cell: what would end the cell or the line is escaped with a backslash. */
export function tsvCell(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
