import { setImmediate as yieldToSignals } from 'node:timers/promises';
import { nearestNames } from '../../nearest-name.ts';
import { visible } from '../../text.ts';
import { CliError } from '../errors/cli-error.ts';
import type { CliSettings, GetPath, Invocation } from '../settings/settings.ts';
import type { OutputFormat } from '../settings/values.ts';
import {
  compactJson,
  leaves,
  memberTexts,
  prettyJson,
  scalarText,
  selectValue,
  writeJsonPath,
} from '../terminal/json-text.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { valuesTable } from './values-table.ts';

/**
 * Prints a JSON text in the requested format. In every format, a number keeps the digits of the response:
 * no number is parsed and printed again.
 */
export async function printJson(json: string, { settings, screen, io }: Invocation): Promise<void> {
  let chunk = '';
  for (const line of linesOf(json, settings, screen.out)) {
    chunk += `${screen.out.isTTY && LINE_FORMATS.includes(settings.output) ? visible(line) : line}\n`;
    if (chunk.length < CHUNK) continue;
    await screen.print(chunk);
    chunk = '';
    await yieldToSignals();
    io.interrupts.signal.throwIfAborted();
  }
  await screen.print(chunk);
}

/** Output is written in parts of about this many characters, each of whole lines. */
const CHUNK = 65_536;
/** Formats whose lines are values, which a terminal shows with their control characters escaped. */
const LINE_FORMATS: readonly OutputFormat[] = ['csv', 'tsv'];

/** Prints a whole body unchanged; only a terminal gets its control characters escaped and a line end. */
export async function printRaw(body: string | Uint8Array, { screen }: Invocation): Promise<void> {
  if (!screen.out.isTTY) return screen.print(body);
  const text = visible(typeof body === 'string' ? body : Buffer.from(body).toString());
  return screen.print(text.endsWith('\n') || text === '' ? text : `${text}\n`);
}

/** For people: a table, or indented JSON for nested data. */
export function asTable(json: string, out: StreamStyle): string {
  return isContainer(json) ? (valuesTable(json, out) ?? prettyJson(json, out.palette)) : visible(scalarText(json));
}

/** One selected value unchanged, several as one row. With `-o json` they are JSON; CSV has a header. */
function linesOf(json: string, { get, output }: CliSettings, out: StreamStyle): Iterable<string> {
  if (output === 'csv') return tableDocument('csv', { get })([], json);
  const values = get.map((wanted) => requireValue(json, wanted));
  const [only = json] = values;
  if (values.length > 1)
    return [forStream(output === 'json' ? `[${values.join(',')}]` : tsvLine(values.map(cellText)), out)];
  const isScalar = values.length === 1 && !isContainer(only);
  if (isScalar && output !== 'json') return [forStream(scalarText(only), out)];
  return output === 'tsv' ? tableDocument('tsv')([], only) : [wholeText(only, output, out)];
}

function wholeText(json: string, output: OutputFormat, out: StreamStyle): string {
  if (output === 'table' || (output === 'auto' && out.isTTY)) return asTable(json, out);
  return out.indentsJson ? prettyJson(json, out.palette) : json;
}

const LINES = { csv: csvLine, tsv: tsvLine, table: tableLine };

interface DocumentOptions {
  /** Further columns before those of the response. */
  readonly names?: readonly string[];
  readonly get?: readonly GetPath[];
  /** A path that a response lacks is an empty cell if the response has another one. */
  readonly allowsGaps?: boolean;
}

/** The lines of several responses as one document. CSV and tables have one header, their first line. */
export function tableDocument(
  output: keyof typeof LINES,
  { names = [], get = [], allowsGaps = false }: DocumentOptions = {},
) {
  const lineOf = LINES[output];
  let hasHeader = output === 'tsv';
  return function* linesWith(values: readonly string[], json: string): Generator<string> {
    const { header, rows } = csvTable(json, get, allowsGaps);
    if (!hasHeader) yield lineOf([...names, ...header]);
    hasHeader = true;
    for (const row of rows) yield lineOf([...values, ...row]);
  };
}

type CsvRow = readonly string[];

interface CsvTable {
  readonly header: CsvRow;
  readonly rows: Iterable<CsvRow>;
}

/** The header of a row per value. */
export const VALUE_COLUMNS: CsvRow = ['name', 'value'];

/** A row per value, or what `--get` selects: a column per path, but a row per value of a single object. @throws CliError */
function csvTable(json: string, get: readonly GetPath[], allowsGaps: boolean): CsvTable {
  const isPartial = allowsGaps && get.some(({ path }) => selectValue(json, path) !== undefined);
  const values = get.map((wanted) => (isPartial ? (selectValue(json, wanted.path) ?? '') : requireValue(json, wanted)));
  const [only = json] = values;
  if (values.length === 0 || (values.length === 1 && isContainer(only))) {
    return { header: VALUE_COLUMNS, rows: valueRows(only) };
  }
  return { header: get.map(({ text }) => text), rows: [values.map(cellText)] };
}

/** The dotted path and the text of each value; none for an empty object or list. */
function* valueRows(json: string): Generator<CsvRow> {
  for (const { path, lexeme } of leaves(json)) {
    if (path.length > 0 || !isContainer(lexeme)) yield [path.join('.'), cellText(lexeme)];
  }
}

/** A file or a pipe gets a text as it is. */
function forStream(text: string, { isTTY }: StreamStyle): string {
  return isTTY ? visible(text) : text;
}

/** What a path of `--get` selects. @throws CliError that says where the path ends */
function requireValue(json: string, { text, path }: GetPath): string {
  const value = selectValue(json, path);
  if (value !== undefined) return value;
  const found = path.slice(
    0,
    path.findIndex((_, index) => selectValue(json, path.slice(0, index + 1)) === undefined),
  );
  const names = [...memberTexts(selectValue(json, found) ?? '').keys()];
  const nearest = nearestNames(path[found.length] ?? '', names, MOST_NAMES);
  const place = found.length === 0 ? 'The response' : writeJsonPath(found);
  const more = names.length > nearest.length ? ', …' : '';
  const hints = nearest.length === 0 ? [] : [`${place} has: ${nearest.join(', ')}${more}`];
  throw new CliError(`the response has no '${text}'`, { code: 'missing_value', hints });
}

const MOST_NAMES = 12;

/** A selected value as one cell: a scalar as its text, an object or a list as compact JSON. */
function cellText(json: string): string {
  return scalarText(isContainer(json) ? compactJson(json) : json);
}

function isContainer(json: string): boolean {
  return json.startsWith('{') || json.startsWith('[');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** `text` as a cell. Characters that would end the cell or the line are escaped with a backslash. */
function tsvCell(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

/** For a terminal. The widths of later cells are unknown, because each line is printed as soon as its response arrives. */
function tableLine(row: CsvRow): string {
  return row
    .map((cell) => visible(cell).padEnd(NARROWEST_COLUMN))
    .join('  ')
    .trimEnd();
}

const NARROWEST_COLUMN = 10;

function tsvLine(row: CsvRow): string {
  return row.map(tsvCell).join('\t');
}

/** A row of a CSV document as RFC 4180 has it, but for its end, which is a line feed, as in all other output. */
function csvLine(row: CsvRow): string {
  return row.map(csvCell).join(',');
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of "data", unchanged. */
export function dataOf(rawBody: string): string {
  return selectValue(rawBody, ['data']) ?? rawBody;
}
